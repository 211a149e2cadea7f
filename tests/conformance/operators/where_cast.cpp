// Where Cast CastLike; masked_fill
#include "conformance/operators/elementwise.hpp"
#include "conformance/operators/families.hpp"
#include "conformance/operators/moved.hpp"
#include "heddle/ops/index.hpp"
#include "heddle/ops/select.hpp"

namespace conformance {
namespace {

struct Where {
  template <class Device>
  Outputs operator()(const Call& call, Device device) const {
    if (!call.has_input(2)) {
      return with_type(Types<double>{}, call.input(1).type, [&](auto type) {
        using T = type_of<decltype(type)>;
        const auto other = [&](const auto& c, const auto& x) { return hd::where(c, x, number_for<T>(call, "other")); };
        return mapped<broadcast_rank, bool, T>(call, device, other, {&call.input(0), &call.input(1)});
      });
    }
    const auto chosen = [](const auto& c, const auto& x, const auto& y) { return hd::where(c, x, y); };
    if (call.input(1).type == ElementType::int64 && call.input(2).type == ElementType::uint8)
      return mapped<broadcast_rank, bool, I64, U8>(call, device, chosen,
                                                   {&call.input(0), &call.input(1), &call.input(2)});
    if (call.input(1).type != call.input(2).type) throw NotServed{"not for these element types together"};
    return with_moved_type(call.input(1).type, [&](auto type) {
      using T = type_of<decltype(type)>;
      const Array x = moved_as<T>(call.input(1)), y = moved_as<T>(call.input(2));
      return typed(mapped<broadcast_rank, bool, T, T>(call, device, chosen, {&call.input(0), &x, &y}),
                   call.input(1).type);
    });
  }
};

struct MaskedFill {
  template <class Device>
  Outputs operator()(const Call& call, Device device) const {
    return with_type(Reals{}, call.input(0).type, [&](auto type) {
      using T = type_of<decltype(type)>;
      const auto filled = [&](const auto& x, const auto& mask) {
        return hd::masked_fill(x, mask, number_for<T>(call, "value"));
      };
      return mapped<broadcast_rank, T, bool>(call, device, filled, {&call.input(0), &call.input(1)});
    });
  }
};

template <class Device, class From, class To>
Outputs cast(const Call& call, ElementType to, Device device, From from_types, To to_types) {
  return with_type(from_types, call.input(0).type, [&](auto from) -> Outputs {
    return with_type(to_types, to, [&](auto type) {
      return mapped<1, type_of<decltype(from)>>(
          call, device, [](const auto& x) { return hd::cast<type_of<decltype(type)>>(x); }, {&call.input(0)});
    });
  });
}

struct Cast {
  template <class Device>
  Outputs operator()(const Call& call, Device device) const {
    return cast(call, call.element_type("to"), device, Floats{}, Floats{});
  }
};

struct CastLike {
  template <class Device>
  Outputs operator()(const Call& call, Device device) const {
    return cast(call, call.input(1).type, device, Floats{}, Floats{});
  }
};

template <class To, class... From>
auto cast_from() {
  return unary<Types<From...>>([](const auto& x) { return hd::cast<To>(x); });
}

}  // namespace

void add_where_cast(Registry& registry) {
  serve(registry, {"Where", "where"}, Where{});
  serve(registry, "masked_fill", MaskedFill{});
  serve(registry, "Cast", Cast{});
  serve(registry, "CastLike", CastLike{});
  serve(registry, "bool", cast_from<bool, float>());
  serve(registry, "byte", cast_from<U8, double>());
  serve(registry, "char", cast_from<I8, float>());
  serve(registry, "short", cast_from<I16, double>());
  serve(registry, "int", cast_from<I32, float>());
  serve(registry, "long", cast_from<I64, float>());
  serve(registry, "half", cast_from<hd::half, double>());
  serve(registry, "float", cast_from<float, float, U8, I32, I64, bool>());
  serve(registry, "double", cast_from<double, float, double>());
}

}  // namespace conformance
