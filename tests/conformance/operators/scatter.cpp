// ScatterElements Scatter Compress; scatter scatter_add index_add masked_select nonzero argwhere
#include "heddle/ops/scatter.hpp"
#include <utility>

#include "conformance/operators/along_axis.hpp"
#include "conformance/operators/families.hpp"
#include "conformance/operators/moved.hpp"
#include "heddle/ops/arithmetic.hpp"
#include "heddle/ops/nonzero.hpp"

namespace conformance {
namespace {

/// Under rank 2, with axes of extent 1 in front, and the axis brought to the end, so that one instantiation is enough.
struct Matrix {
  Matrix(const Array& given, bool exchanged) : array(given) {
    if (given.rank() > 2) throw NotServed{"not for this rank"};
    array.shape.insert(array.shape.begin(), static_cast<std::size_t>(2 - given.rank()), 1);
    array.strides.clear();
    if (!exchanged) return;
    array.bytes = reversed_axes(array, array.shape);
    std::swap(array.shape[0], array.shape[1]);
  }
  Array array;
};
/// The result under the operand's shape again.
Array restored(Array got, const Array& like, bool exchanged) {
  if (exchanged) got = Matrix(got, true).array;
  return reshaped(std::move(got), Matrix(like, false).array.shape, like.shape);
}

/// f(x, axis, index, …) of operands brought to that form, the further ones as tensors too.
template <class T, class Device, class F, class... More>
Outputs along_last(const Call& call, const Array& array, const Array& index, int axis, Device device, F f,
                   const More&... more) {
  const bool exchanged = axis + 2 - std::max(array.rank(), 1) == 0;
  const auto matrix = [&]<class E>(Type<E>, const Array& one) {
    return tensor<E, 2>(call, Matrix(one, exchanged).array, device);
  };
  // Heddle takes other index and source types too, where theirs refuses them.
  if constexpr (std::is_same_v<T, float> && sizeof...(More) == 1) {
    if (index.type == ElementType::int32)
      return {restored(
          result(f(matrix(Type<T>{}, array), hd::axis<1>, matrix(Type<I32>{}, index), matrix(Type<T>{}, more)...)),
          array, exchanged)};
  }
  if constexpr (std::is_same_v<T, double> && sizeof...(More) == 1) {
    if (((more.type == ElementType::float32) && ...))
      return {restored(
          result(f(matrix(Type<T>{}, array), hd::axis<1>, matrix(Type<I64>{}, index), matrix(Type<float>{}, more)...)),
          array, exchanged)};
  }
  return {
      restored(result(f(matrix(Type<T>{}, array), hd::axis<1>, matrix(Type<I64>{}, index), matrix(Type<T>{}, more)...)),
               array, exchanged)};
}

template <bool Add, class TypeList>
struct Scatter {
  template <class Device>
  Outputs operator()(const Call& call, Device device) const {
    const Array& array = call.input(0);
    const int at = call.is_pytorch() ? 2 : 1;
    const Array& index = call.input(at);
    const int axis = axis_of(call, call.is_pytorch() ? "dim" : "axis", 0, array.rank());
    return with_type(TypeList{}, array.type, [&](auto type) -> Outputs {
      using T = type_of<decltype(type)>;
      const auto put = [](const auto& x, auto along, const auto& i, const auto& source) {
        if constexpr (Add)
          return hd::scatter_add(x, along, i, source);
        else
          return hd::scatter(x, along, i, source);
      };
      if constexpr (std::is_same_v<T, double> && !Add) {
        const double number = call.number("src", 0);
        if (!call.has_input(at + 1))
          return along_last<T>(call, array, index, axis, device, [&](const auto& x, auto along, const auto& i) {
            return hd::scatter(x, along, i, number);
          });
      }
      return along_last<T>(call, array, index, axis, device, put, call.input(at + 1));
    });
  }
};

/// PyTorch's, and ONNX's greatest and least.
struct ScatterReduce {
  template <class Device>
  Outputs operator()(const Call& call, Device device) const {
    using How = hd::scatter_reduction;
    const int at = call.is_pytorch() ? 2 : 1;
    const char* const attribute = call.is_pytorch() ? "reduce" : "reduction";
    const auto named = [&](const char* name, const char* short_name) {
      return call.text_is(attribute, name) || call.text_is(attribute, short_name);
    };
    const How how = named("prod", "mul")   ? How::prod
                    : named("mean", "")    ? How::mean
                    : named("amin", "min") ? How::amin
                    : named("amax", "max") ? How::amax
                                           : How::sum;
    const Array& array = call.input(0);
    const int axis = axis_of(call, call.is_pytorch() ? "dim" : "axis", 0, array.rank());
    return with_type(Types<float, double, U8>{}, array.type, [&](auto type) {
      return along_last<type_of<decltype(type)>>(
          call, array, call.input(at), axis, device,
          [&](const auto& x, auto along, const auto& i, const auto& source) {
            return hd::scatter_reduce(x, along, i, source, how, call.flag("include_self", true));
          },
          call.input(at + 1));
    });
  }
};

/// ONNX's, which may add.
struct ScatterElements {
  template <class Device>
  Outputs operator()(const Call& call, Device device) const {
    for (const std::int64_t index : integers_of(call.input(1)))
      if (index < 0) throw NotServed{"indices count from the front"};
    if (call.text_is("reduction", "add")) return Scatter<true, Types<float>>{}(call, device);
    if (call.has("reduction") && !call.text_is("reduction", "none")) return ScatterReduce{}(call, device);
    return Scatter<false, Types<float>>{}(call, device);
  }
};

struct IndexAdd {
  template <class Device>
  Outputs operator()(const Call& call, Device device) const {
    const Array& array = call.input(0);
    const int axis = axis_of(call, "dim", 0, array.rank());
    const Extents three = plan_axis(array.shape, axis).all_three();
    const Extents added = plan_axis(call.input(3).shape, axis).all_three();
    return with_type(Types<float, double, I32, bool>{}, array.type, [&](auto type) -> Outputs {
      using T = type_of<decltype(type)>;
      const auto x = tensor<T, 3>(call, array, three, device);
      const auto i = tensor<I64, 1>(call, call.input(2), Extents{call.input(2).size()}, device);
      const auto source = tensor<T, 3>(call, call.input(3), added, device);
      if constexpr (std::is_same_v<T, bool>)
        return {reshaped(result(hd::index_add(x, hd::axis<1>, i, source)), three, array.shape)};
      else if constexpr (std::is_integral_v<T>)
        return {
            reshaped(result(hd::index_add(x, hd::axis<1>, i, source * call.integer("alpha", 1))), three, array.shape)};
      else
        return {
            reshaped(result(hd::index_add(x, hd::axis<1>, i, source * call.number("alpha", 1))), three, array.shape)};
    });
  }
};

/// Of elements that are moved, and a tensor or one value.
template <bool Fill>
struct IndexPut {
  template <class Device>
  Outputs operator()(const Call& call, Device device) const {
    const Array& array = call.input(0);
    const int axis = axis_of(call, "dim", 0, array.rank());
    const Extents three = plan_axis(array.shape, axis).all_three();
    return with_moved_type(array.type, [&](auto type) -> Outputs {
      using T = type_of<decltype(type)>;
      const auto x = tensor<T, 3>(call, moved_as<T>(array), three, device);
      const auto i = tensor<I64, 1>(call, call.input(2), Extents{call.input(2).size()}, device);
      if constexpr (Fill) {
        const T value = moved_value<T>(call, array.type);
        return typed({reshaped(result(hd::index_fill(x, hd::axis<1>, i, value)), three, array.shape)}, array.type);
      } else {
        const Array& source = call.input(3);
        const auto s = tensor<T, 3>(call, moved_as<T>(source), plan_axis(source.shape, axis).all_three(), device);
        return typed({reshaped(result(hd::index_copy(x, hd::axis<1>, i, s)), three, array.shape)}, array.type);
      }
    });
  }
  /// The attribute as the array's type, and its bits as T.
  template <class T>
  static T moved_value(const Call& call, ElementType type) {
    const double number = call.number("value", 0);
    if (type == ElementType::int32) return __builtin_bit_cast(T, to_width<T, std::int32_t>(number));
    if (type == ElementType::float64) return __builtin_bit_cast(T, to_width<T, double>(number));
    return static_cast<T>(number);
  }
  template <class T, class U>
  static auto to_width(double number) {
    if constexpr (sizeof(T) == sizeof(U))
      return static_cast<U>(number);
    else
      return T{};
  }
};

struct MaskedSelect {
  template <class Device>
  Outputs operator()(const Call& call, Device device) const {
    const Array& array = call.input(0);
    const Aligned to = map_aligned({array.shape, call.input(1).shape}, 2);
    return with_moved_type(array.type, [&](auto type) {
      using T = type_of<decltype(type)>;
      const auto x = tensor<T, 2>(call, moved_as<T>(array), to.shapes[0], device);
      const auto mask = tensor<bool, 2>(call, call.input(1), to.shapes[1], device);
      return typed({result(hd::masked_select(x.expand(static_shape<2>(to.collapsed)), mask))}, array.type);
    });
  }
};

struct NonZero {
  template <class T, class Device, class Ranks>
  static Outputs of(const Call& call, Device device, Ranks ranks) {
    return with_int(ranks, call.input(0).rank(), [&](auto rank) -> Outputs {
      return {result(hd::nonzero(tensor<T, decltype(rank)::value>(call, call.input(0), device)))};
    });
  }
  template <class Device>
  Outputs operator()(const Call& call, Device device) const {
    switch (call.input(0).type) {
      case ElementType::float32:
        return of<float>(call, device, Ints<0, 3>{});
      case ElementType::float64:
        return of<double>(call, device, Ints<0, 1, 3>{});
      case ElementType::int64:
        return of<I64>(call, device, Ints<2>{});
      default:
        throw NotServed{"not for this element type"};
    }
  }
};

}  // namespace

void add_scatter(Registry& registry) {
  serve(registry, {"ScatterElements", "Scatter"}, ScatterElements{});
  serve(registry, "scatter", Scatter<false, Types<double, I32>>{});
  serve(registry, "scatter_add", Scatter<true, Types<U8, float, double>>{});
  serve(registry, "scatter_reduce", ScatterReduce{});
  serve(registry, "index_add", IndexAdd{});
  serve(registry, "index_copy", IndexPut<false>{});
  serve(registry, "index_fill", IndexPut<true>{});
  serve(registry, "masked_select", MaskedSelect{});
  serve(registry, {"nonzero", "argwhere"}, NonZero{});
}

}  // namespace conformance
