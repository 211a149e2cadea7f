// Range ConstantOfShape EyeLike; arange linspace eye equal allclose
#include "conformance/broadcast.hpp"
#include "conformance/operators/elementwise.hpp"
#include "conformance/operators/families.hpp"
#include "heddle/ops/arithmetic.hpp"
#include "heddle/ops/compare.hpp"
#include "heddle/ops/equal.hpp"

namespace conformance {
namespace {

struct Range {
  template <class Device>
  Outputs operator()(const Call& call, Device device) const {
    using Counted = Types<hd::half, I32>;
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

/// Ones on the diagonal `k`; the main one is hd::eye.
struct EyeLike {
  template <class Device>
  Outputs operator()(const Call& call, Device device) const {
    const Array& like = call.input(0);
    if (like.rank() != 2) throw NotServed{"not for this rank"};
    const std::int64_t k = call.integer("k", 0);
    const std::int64_t rows = like.shape[0];
    const std::int64_t columns = like.shape[1];
    const ElementType to = call.has("dtype") ? call.element_type("dtype") : like.type;
    return with_type(Types<float, I32>{}, to, [&](auto type) -> Outputs {
      using T = type_of<decltype(type)>;
      if (k == 0) return {result(hd::eye<T>(rows, columns, device))};
      const auto row = hd::arange<std::int64_t>(rows, device).unsqueeze(hd::axis<1>);
      const auto column = hd::arange<std::int64_t>(columns, device);
      return {result(hd::cast<T>(column == row + k))};
    });
  }
};

/// PyTorch's arange of integers (or bools, which are none in Heddle), to an element type.
struct Arange {
  template <class Device>
  Outputs operator()(const Call& call, Device device) const {
    const ElementType to = call.has("dtype") ? call.element_type("dtype") : ElementType::int64;
    return with_type(Types<double, I64>{}, to, [&](auto type) -> Outputs {
      return {result(hd::arange<type_of<decltype(type)>>(call.integer("start", 0), call.integer("end", 0),
                                                         call.integer("step", 1), device))};
    });
  }
};

struct Linspace {
  template <class Device>
  Outputs operator()(const Call& call, Device device) const {
    if (!call.has("dtype")) throw NotServed{"the count is an integer"};
    return with_type(Reals{}, call.element_type("dtype"), [&](auto type) -> Outputs {
      return {result(hd::linspace<type_of<decltype(type)>>(call.number("start", 0), call.number("end", 0),
                                                           call.integer("steps", 0), device))};
    });
  }
};

struct Eye {
  template <class Device>
  Outputs operator()(const Call& call, Device device) const {
    const std::int64_t n = call.integer("n", 0);
    return with_type(Reals{}, call.element_type("dtype"), [&](auto type) -> Outputs {
      using T = type_of<decltype(type)>;
      return {call.has("m") ? result(hd::eye<T>(n, call.integer("m", n), device)) : result(hd::eye<T>(n, device))};
    });
  }
};

Array answer(bool value) { return {ElementType::boolean, {}, {static_cast<std::byte>(value ? 1 : 0)}}; }

/// The shapes need not fit.
struct Equal {
  template <class Device>
  Outputs operator()(const Call& call, Device device) const {
    const Array& a = call.input(0);
    const Array& b = call.input(1);
    if (a.rank() != 2) throw NotServed{"not for this rank"};
    return with_type(Types<double, U8>{}, a.type, [&](auto type) -> Outputs {
      using T = type_of<decltype(type)>;
      const auto x = tensor<T, 2>(call, a, device);
      return with_int(Below<2>{}, b.rank(), [&](auto rank) -> Outputs {
        return {answer(hd::array_equal(x, tensor<T, decltype(rank)::value>(call, b, device)))};
      });
    });
  }
};

/// Broadcast; the answer is one bool an element.
struct IsClose {
  template <class Device>
  Outputs operator()(const Call& call, Device device) const {
    return with_type(Types<float, double, U8>{}, call.input(0).type, [&](auto type) -> Outputs {
      using T = type_of<decltype(type)>;
      const auto close = [&](const auto& a, const auto& b) {
        return hd::isclose(a, b, call.number("rtol", 1e-5), call.number("atol", 1e-8), call.flag("equal_nan", false));
      };
      return mapped<3, T, T>(call, device, close, {&call.input(0), &call.input(1)});
    });
  }
};

struct AllClose {
  template <class Device>
  Outputs operator()(const Call& call, Device device) const {
    return with_type(Reals{}, call.input(0).type, [&](auto type) -> Outputs {
      using T = type_of<decltype(type)>;
      const Aligned to = map_aligned({call.input(0).shape, call.input(1).shape}, 3);
      return {answer(hd::allclose(tensor<T, 3>(call, call.input(0), to.shapes[0], device),
                                  tensor<T, 3>(call, call.input(1), to.shapes[1], device), call.number("rtol", 1e-5),
                                  call.number("atol", 1e-8)))};
    });
  }
};

}  // namespace

void add_create(Registry& registry) {
  serve(registry, "Range", Range{});
  serve(registry, "ConstantOfShape", ConstantOfShape{});
  serve(registry, "EyeLike", EyeLike{});
  serve(registry, "arange", Arange{});
  serve(registry, "linspace", Linspace{});
  serve(registry, "eye", Eye{});
  serve(registry, "equal", Equal{});
  serve(registry, "allclose", AllClose{});
  serve(registry, "isclose", IsClose{});
}

}  // namespace conformance
