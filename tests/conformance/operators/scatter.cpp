// ScatterElements Scatter Compress; scatter scatter_add index_add masked_select nonzero argwhere
#include "heddle/ops/scatter.hpp"
#include "conformance/operators/along_axis.hpp"
#include "conformance/operators/families.hpp"
#include "conformance/operators/moved.hpp"
#include "heddle/ops/arithmetic.hpp"
#include "heddle/ops/nonzero.hpp"

namespace conformance {
namespace {

Extents matrix(const Extents& shape) {
  if (shape.size() > 2) throw NotServed{"not for this rank"};
  Extents two = shape;
  two.insert(two.begin(), 2 - shape.size(), 1);
  return two;
}

/// Under rank 2, with axes of extent 1 in front.
template <bool Add, class TypeList>
struct Scatter {
  template <class Device>
  Outputs operator()(const Call& call, Device device) const {
    const Array& array = call.input(0);
    const int at = call.is_pytorch() ? 2 : 1;
    const Array& index = call.input(at);
    const int rank = array.rank();
    const int axis = axis_of(call, call.is_pytorch() ? "dim" : "axis", 0, rank) + 2 - std::max(rank, 1);
    return with_type(TypeList{}, array.type, [&](auto type) -> Outputs {
      using T = type_of<decltype(type)>;
      const auto x = tensor<T, 2>(call, array, matrix(array.shape), device);
      const auto i = tensor<I64, 2>(call, index, matrix(index.shape), device);
      return with_int(Ints<0, 1>{}, axis, [&](auto a) -> Outputs {
        constexpr auto along = hd::axis<decltype(a)::value>;
        const auto put = [&](const auto& source) {
          if constexpr (Add)
            return result(hd::scatter_add(x, along, i, source));
          else
            return result(hd::scatter(x, along, i, source));
        };
        if constexpr (std::is_same_v<T, double> && !Add) {
          if (!call.has_input(at + 1)) return {reshaped(put(call.number("src", 0)), matrix(array.shape), array.shape)};
        }
        const Array& source = call.input(at + 1);
        return {
            reshaped(put(tensor<T, 2>(call, source, matrix(source.shape), device)), matrix(array.shape), array.shape)};
      });
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
    if (call.has("reduction") && !call.text_is("reduction", "none")) throw NotServed{"no such reduction"};
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
  serve(registry, "scatter_add", Scatter<true, Types<U8>>{});
  serve(registry, "index_add", IndexAdd{});
  serve(registry, "masked_select", MaskedSelect{});
  serve(registry, {"nonzero", "argwhere"}, NonZero{});
}

}  // namespace conformance
