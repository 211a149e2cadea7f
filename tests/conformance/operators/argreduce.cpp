// ArgMax ArgMin Hardmax; argmax argmin
#include "conformance/operators/along_axis.hpp"
#include "conformance/operators/families.hpp"
#include "conformance/operators/reduction.hpp"
#include "heddle/ops/arithmetic.hpp"
#include "heddle/ops/compare.hpp"
#include "heddle/ops/reduce.hpp"

namespace conformance {
namespace {

template <class F>
struct ArgReduce {
  template <class Device>
  Outputs operator()(const Call& call, Device device) const {
    const Array& array = call.input(0);
    const int axis = front_axis(call.integer("axis", 0), array.rank());
    const bool last = call.integer("select_last_index", 0) != 0;
    Extents shape = array.shape;
    if (call.integer("keepdims", 1) != 0)
      shape[static_cast<std::size_t>(axis)] = 1;
    else
      shape.erase(shape.begin() + axis);
    return with_type(Types<float>{}, array.type, [&](auto type) -> Outputs {
      const auto found = [&](const auto& x, auto along) -> Outputs {
        const int front = front_axis_of<std::remove_cvref_t<decltype(x)>>(along);
        Extents expected = extents_of(x);
        expected.erase(expected.begin() + front);
        // The last of equal ones is the first from the other side.
        const auto part = last ? x.slice(along, hd::range(hd::_, hd::_, -1)) : x;
        const hd::Tensor index = F{}(part, along);
        return {reshaped(last ? result(x.extent(front) - 1 - index) : result(index), expected, shape)};
      };
      return along_axis<type_of<decltype(type)>>(call, array, plan_axis(array.shape, axis), device, found);
    });
  }
};
template <class F>
ArgReduce<F> arg_reduce(F) {
  return {};
}

/// 1 at the first of the greatest elements, else 0.
struct Hardmax {
  template <class Device>
  Outputs operator()(const Call& call, Device device) const {
    const Array& array = call.input(0);
    const int axis = front_axis(call.integer("axis", call.opset() < 13 ? 1 : -1), array.rank());
    if (call.opset() < 13 && axis != array.rank() - 1) throw NotServed{"not for several axes at once"};
    const auto marked = [&](const auto& x, auto along) -> Outputs {
      using X = std::remove_cvref_t<decltype(x)>;
      constexpr int front = front_axis_of<X>(along);
      hd::Shape<X::rank> shape;
      for (int i = 0; i < X::rank; ++i) shape[i] = i == front ? x.extent(i) : 1;
      const auto index = hd::arange<std::int64_t>(x.extent(front), device).reshape(shape);
      return {reshaped(result(hd::cast<typename X::value_type>(index == hd::argmax(x, along, hd::keep_dims))),
                       extents_of(x), array.shape)};
    };
    return with_type(Types<float>{}, array.type, [&](auto type) {
      return along_axis<type_of<decltype(type)>>(call, array, plan_axis(array.shape, axis), device, marked);
    });
  }
};

}  // namespace

void add_argreduce(Registry& registry) {
  serve(registry, "ArgMax", arg_reduce([](const auto& x, auto axis) { return hd::argmax(x, axis); }));
  serve(registry, "ArgMin", arg_reduce([](const auto& x, auto axis) { return hd::argmin(x, axis); }));
  serve(registry, "Hardmax", Hardmax{});
  serve(registry, "argmax",
        reduction<Types<float, double, I32, I64>>([](const auto& x, auto... axes) { return hd::argmax(x, axes...); }));
  serve(registry, "argmin",
        reduction<Types<float, double, I32>>([](const auto& x, auto... axes) { return hd::argmin(x, axes...); }));
}

}  // namespace conformance
