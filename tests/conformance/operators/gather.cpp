// Gather GatherElements; gather take_along_dim take index_select embedding one_hot
#include "conformance/operators/along_axis.hpp"
#include "conformance/operators/families.hpp"
#include "conformance/operators/moved.hpp"
#include "heddle/ops/index.hpp"
#include "heddle/ops/scatter.hpp"

namespace conformance {
namespace {

/// Under rank 2, with axes of extent 1 in front.
Extents matrix(const Extents& shape) {
  if (shape.size() > 2) throw NotServed{"not for this rank"};
  Extents two = shape;
  two.insert(two.begin(), 2 - shape.size(), 1);
  return two;
}
int matrix_axis(int axis, int rank) { return axis + 2 - std::max(rank, 1); }

/// f(x, axis, index) of a matrix of elements that are moved, and one of indices; `broadcast` along the other axis.
template <class Device, class F>
Outputs gathered(const Call& call, const Array& array, const Array& index, int axis, bool broadcast, Device device,
                 F f) {
  const int along = matrix_axis(axis, array.rank());
  Extents from = matrix(array.shape);
  Extents to = matrix(index.shape);
  const auto other = static_cast<std::size_t>(1 - along);
  if (broadcast && from[other] == 1) from[other] = to[other];
  if (broadcast && to[other] == 1) to[other] = from[other];
  const Extents shape = to == matrix(index.shape) ? index.shape : to;
  return with_type(Types<U8, I32, I64>{}, index.type, [&](auto index_type) {
    return with_moved_type(array.type, [&](auto type) {
      using T = type_of<decltype(type)>;
      const auto x = tensor<T, 2>(call, moved_as<T>(array), matrix(array.shape), device).expand(static_shape<2>(from));
      const auto i = tensor<type_of<decltype(index_type)>, 2>(call, index, matrix(index.shape), device)
                         .expand(static_shape<2>(to));
      return typed(with_int(Below<2>{}, along,
                            [&](auto a) -> Outputs {
                              return {reshaped(result(f(x, hd::axis<decltype(a)::value>, i)), to, shape)};
                            }),
                   array.type);
    });
  });
}

/// Before opset 11 there was Scatter's counterpart of this name; without an axis elements are counted through.
struct Gather {
  template <class Device>
  Outputs operator()(const Call& call, Device device) const {
    const int position = call.is_pytorch() && call.has_input(2) ? 2 : 1;
    Array array = call.input(0);
    Array index = call.input(position);
    const char* const attribute = call.is_pytorch() ? "dim" : "axis";
    int axis = 0;
    if (call.is_pytorch() && !call.has("dim")) {
      array.shape = {array.size()};
      array.strides.clear();
      index.shape = {index.size()};
      index.strides.clear();
    } else {
      axis = axis_of(call, attribute, 0, array.rank());
    }
    if (!call.is_pytorch() && index.type == ElementType::int64) index = from_the_front(index, array, axis);
    return gathered(call, array, index, axis, call.is_pytorch() && position == 1, device,
                    [](const auto& x, auto along, const auto& i) { return hd::gather(x, along, i); });
  }
  /// ONNX counts negative indices from the end, which Heddle's take does, but not gather.
  static Array from_the_front(Array index, const Array& array, int axis) {
    std::vector<std::int64_t> values = integers_of(index);
    for (std::int64_t& value : values)
      if (value < 0) value += array.shape[static_cast<std::size_t>(axis)];
    if (!values.empty()) std::memcpy(index.bytes.data(), values.data(), index.bytes.size());
    return index;
  }
};

/// Slices along the middle one of three axes, one for each index of any rank. f(x, axis, index).
template <class Device, class F>
Outputs sliced(const Call& call, const Array& array, const Array& index, int axis, Device device, F f) {
  Extents shape(array.shape.begin(), array.shape.begin() + (array.rank() > 0 ? axis : 0));
  shape.insert(shape.end(), index.shape.begin(), index.shape.end());
  if (array.rank() > 0) shape.insert(shape.end(), array.shape.begin() + axis + 1, array.shape.end());
  if (array.rank() == 0 && index.rank() == 1) shape = {};
  Extents three = plan_axis(array.shape, axis).all_three();
  return with_moved_type(array.type, [&](auto type) {
    using T = type_of<decltype(type)>;
    const auto x = tensor<T, 3>(call, moved_as<T>(array), three, device);
    const auto i = tensor<I64, 1>(call, index, Extents{index.size()}, device);
    Extents expected = three;
    expected[1] = index.size();
    return typed({reshaped(result(f(x, hd::axis<1>, i)), expected, shape)}, array.type);
  });
}

/// ONNX's Gather.
struct Take {
  template <class Device>
  Outputs operator()(const Call& call, Device device) const {
    const int axis = front_axis(call.integer("axis", 0), call.input(0).rank());
    return sliced(call, call.input(0), call.input(1), axis, device,
                  [](const auto& x, auto along, const auto& i) { return hd::take(x, along, i); });
  }
};

struct TakeFlat {
  template <class Device>
  Outputs operator()(const Call& call, Device device) const {
    Array array = call.input(0);
    array.shape = {array.size()};
    array.strides.clear();
    return sliced(call, array, call.input(1), 0, device,
                  [](const auto& x, auto along, const auto& i) { return hd::take(x, along, i); });
  }
};

struct IndexSelect {
  template <class Device>
  Outputs operator()(const Call& call, Device device) const {
    const int axis = axis_of(call, "dim", 0, call.input(0).rank());
    return sliced(call, call.input(0), call.input(2), axis, device,
                  [](const auto& x, auto along, const auto& i) { return hd::index_select(x, along, i); });
  }
};

struct Embedding {
  template <class Device>
  Outputs operator()(const Call& call, Device device) const {
    const Array& index = call.input(0);
    const Array& weight = call.input(1);
    if (weight.rank() != 2) throw NotServed{"not for this rank"};
    const Extents flat{index.size()};
    Extents shape = index.shape;
    shape.push_back(weight.shape[1]);
    return with_type(Reals{}, weight.type, [&](auto type) -> Outputs {
      const auto w = tensor<type_of<decltype(type)>, 2>(call, weight, device);
      const auto i = tensor<I64, 1>(call, index, flat, device);
      return {reshaped(result(hd::embedding(i, w)), {flat[0], weight.shape[1]}, shape)};
    });
  }
};

struct EmbeddingGradient {
  template <class Device>
  Outputs operator()(const Call& call, Device device) const {
    const Array& index = call.input(0);
    const Array& weight = call.input(1);
    const Extents flat{index.size()};
    return with_type(Reals{}, weight.type, [&](auto type) -> Outputs {
      const auto dy = tensor<type_of<decltype(type)>, 2>(call, call.cotangent(0), {flat[0], weight.shape[1]}, device);
      const auto i = tensor<I64, 1>(call, index, flat, device);
      return {no_gradient(), result(hd::embedding_grad(dy, i, weight.shape[0]))};
    });
  }
};

struct GatherGradient {
  template <class Device>
  Outputs operator()(const Call& call, Device device) const {
    const int position = call.has_input(2) ? 2 : 1;
    const Array& array = call.input(0);
    const Array& index = call.input(position);
    if (!call.has("dim") || position == 1) throw NotServed{"not without an axis, or with broadcast operands"};
    const int along = matrix_axis(axis_of(call, "dim", 0, array.rank()), array.rank());
    return with_type(Types<U8, I32, I64>{}, index.type, [&](auto index_type) {
      return with_type(Reals{}, array.type, [&](auto type) -> Outputs {
        const auto dy = tensor<type_of<decltype(type)>, 2>(call, call.cotangent(0), matrix(index.shape), device);
        const auto i = tensor<type_of<decltype(index_type)>, 2>(call, index, matrix(index.shape), device);
        return with_int(Below<2>{}, along, [&](auto a) -> Outputs {
          const auto shape = static_shape<2>(matrix(array.shape));
          return {reshaped(result(hd::gather_grad(dy, hd::axis<decltype(a)::value>, i, shape)), matrix(array.shape),
                           array.shape)};
        });
      });
    });
  }
};

struct IndexSelectGradient {
  template <class Device>
  Outputs operator()(const Call& call, Device device) const {
    const Array& array = call.input(0);
    const AxisPlan plan = plan_axis(array.shape, axis_of(call, "dim", 0, array.rank()));
    const Extents three = plan.all_three();
    Extents picked = three;
    picked[1] = call.input(2).size();
    return with_type(Types<float>{}, array.type, [&](auto type) -> Outputs {
      const auto dy = tensor<type_of<decltype(type)>, 3>(call, call.cotangent(0), picked, device);
      const auto i = tensor<I64, 1>(call, call.input(2), device);
      return {reshaped(result(hd::index_select_grad(dy, hd::axis<1>, i, static_shape<3>(three))), three, array.shape)};
    });
  }
};

struct OneHot {
  template <class Device>
  Outputs operator()(const Call& call, Device device) const {
    const auto index = tensor<I64, 1>(call, call.input(0), device);
    return {result(hd::one_hot(index, call.integer("num_classes", 1)))};
  }
};

}  // namespace

void add_gather(Registry& registry) {
  serve(registry, {"GatherElements", "gather", "take_along_dim"}, Gather{});
  serve(registry, "Gather", Take{});
  serve(registry, "take", TakeFlat{});
  serve(registry, "index_select", IndexSelect{});
  serve(registry, "nn.functional.embedding", Embedding{});
  serve(registry, "nn.functional.one_hot", OneHot{});
  serve_gradient(registry, "gather", GatherGradient{});
  serve_gradient(registry, "index_select", IndexSelectGradient{});
  serve_gradient(registry, "nn.functional.embedding", EmbeddingGradient{});
}

}  // namespace conformance
