// And Or Xor Not; BitwiseAnd BitwiseOr BitwiseXor BitwiseNot BitShift
#include "conformance/operators/elementwise.hpp"
#include "conformance/operators/families.hpp"
#include "heddle/ops/compare.hpp"

namespace conformance {

void add_logic(Registry& registry) {
  using Bool = Types<bool>;
  serve(registry, {"And", "logical_and"},
        binary<Types<float, bool>, Types<I64>>([](const auto& a, const auto& b) { return a && b; }));
  serve(registry, {"Or", "logical_or"},
        binary<Types<float, I64, bool>>([](const auto& a, const auto& b) { return a || b; }));
  serve(registry, "Xor", binary<Bool>([](const auto& a, const auto& b) { return a ^ b; }));
  serve(registry, "logical_xor", binary<Types<float, double, U8, bool>, Types<I64>>([](const auto& a, const auto& b) {
          return hd::cast<bool>(a) ^ (b != 0);
        }));
  serve(registry, {"Not", "logical_not"}, unary<Types<float, I64, U8, bool>>([](const auto& x) { return !x; }));
  serve(registry, {"BitwiseAnd", "bitwise_and"},
        binary<Types<I32, I64, U8, bool>, Types<I32, U8, bool>, Types<U8>>(
            [](const auto& a, const auto& b) { return a & b; }));
  serve(registry, {"BitwiseOr", "bitwise_or"},
        binary<Types<I8, U8, bool>, Types<bool>, Types<U8, bool>>([](const auto& a, const auto& b) { return a | b; }));
  serve(registry, {"BitwiseXor", "bitwise_xor"},
        binary<Types<I32, I64, U8>, Types<I32, bool>, Types<bool>>([](const auto& a, const auto& b) { return a ^ b; }));
  serve(registry, {"BitwiseNot", "bitwise_not"}, unary<Types<I32, U8, U16>>([](const auto& x) { return ~x; }));
  const auto left = binary<Types<U8, U16, U32, U64>, Types<I64>>([](const auto& a, const auto& b) { return a << b; });
  const auto right = binary<Types<I32, U8, U16, U32, U64>>([](const auto& a, const auto& b) { return a >> b; });
  serve(registry, "bitwise_left_shift", left);
  serve(registry, "bitwise_right_shift", right);
  serve(registry, "BitShift", choice([](const Call& call) { return call.text_is("direction", "LEFT"); }, right, left));
}

}  // namespace conformance
