// And Or Xor Not; BitwiseAnd BitwiseOr BitwiseXor BitwiseNot BitShift
#include "conformance/operators/elementwise.hpp"
#include "conformance/operators/families.hpp"

namespace conformance {
namespace {

template <class Left, class Right>
struct BitShift {
  template <class Device>
  Outputs operator()(const Call& call, Device device) const {
    return call.text_is("direction", "LEFT") ? Left{}(call, device) : Right{}(call, device);
  }
};
template <class Left, class Right>
BitShift<Left, Right> bit_shift(Left, Right) {
  return {};
}

}  // namespace

void add_logic(Registry& registry) {
  using Bool = Types<bool>;
  serve(registry, "And", binary<Bool>([](const auto& a, const auto& b) { return a && b; }));
  serve(registry, "Or", binary<Bool>([](const auto& a, const auto& b) { return a || b; }));
  serve(registry, "Xor", binary<Bool>([](const auto& a, const auto& b) { return a ^ b; }));
  serve(registry, "Not", unary<Bool>([](const auto& x) { return !x; }));
  serve(registry, "BitwiseAnd", binary<Integers>([](const auto& a, const auto& b) { return a & b; }));
  serve(registry, "BitwiseOr", binary<Integers>([](const auto& a, const auto& b) { return a | b; }));
  serve(registry, "BitwiseXor", binary<Integers>([](const auto& a, const auto& b) { return a ^ b; }));
  serve(registry, "BitwiseNot", unary<Integers>([](const auto& x) { return ~x; }));
  serve(registry, "BitShift",
        bit_shift(binary<Unsigned>([](const auto& a, const auto& b) { return a << b; }),
                  binary<Unsigned>([](const auto& a, const auto& b) { return a >> b; })));
}

}  // namespace conformance
