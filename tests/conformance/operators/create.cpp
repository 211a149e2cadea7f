// Range ConstantOfShape EyeLike
#include "conformance/dispatch.hpp"
#include "conformance/operators/families.hpp"

namespace conformance {
namespace {

struct Range {
  template <class Device>
  Outputs operator()(const Call& call, Device device) const {
    using Counted = Types<float, double, hd::half, std::int16_t, std::int32_t, std::int64_t>;
    return with_type(Counted{}, call.input(0).type, [&](auto type) -> Outputs {
      using T = type_of<decltype(type)>;
      return {
          result(hd::arange<T>(scalar<T>(call.input(0)), scalar<T>(call.input(1)), scalar<T>(call.input(2)), device))};
    });
  }
};

/// The value is an attribute; without it a float 0.
struct ConstantOfShape {
  template <class Device>
  Outputs operator()(const Call& call, Device device) const {
    const Extents shape = integers_of(call.input(0));
    const Array zero{ElementType::float32, {1}, std::vector<std::byte>(sizeof(float))};
    const Array& value = call.has("value") ? call.tensor("value") : zero;
    return with_type(
        Types<float, double, std::int32_t, std::int64_t, std::uint8_t, bool>{}, value.type, [&](auto type) -> Outputs {
          using T = type_of<decltype(type)>;
          return with_int(Below<5>{}, static_cast<int>(shape.size()), [&](auto rank) -> Outputs {
            return {result(hd::full<T>(static_shape<decltype(rank)::value>(shape), scalar<T>(value), device))};
          });
        });
  }
};

/// Ones on the diagonal `k`; the main one of a square is hd::eye.
struct EyeLike {
  template <class Device>
  Outputs operator()(const Call& call, Device device) const {
    const Array& like = call.input(0);
    if (like.rank() != 2) throw NotServed{"not for this rank"};
    const std::int64_t k = call.integer("k", 0);
    const std::int64_t rows = like.shape[0];
    const std::int64_t columns = like.shape[1];
    const ElementType to = call.has("dtype") ? call.element_type("dtype") : like.type;
    return with_type(Types<float, double, std::int32_t, std::int64_t>{}, to, [&](auto type) -> Outputs {
      using T = type_of<decltype(type)>;
      if (k == 0 && rows == columns) return {result(hd::eye<T>(rows, device))};
      const auto row = hd::arange<std::int64_t>(rows, device).unsqueeze(hd::axis<1>);
      const auto column = hd::arange<std::int64_t>(columns, device);
      return {result(hd::cast<T>(column == row + k))};
    });
  }
};

}  // namespace

void add_create(Registry& registry) {
  serve(registry, "Range", Range{});
  serve(registry, "ConstantOfShape", ConstantOfShape{});
  serve(registry, "EyeLike", EyeLike{});
}

}  // namespace conformance
