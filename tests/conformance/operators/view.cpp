// Identity Shape Size Reshape Flatten Squeeze Unsqueeze Expand Slice Transpose DepthToSpace SpaceToDepth
#include <utility>
#include <vector>

#include "conformance/operators/families.hpp"
#include "conformance/operators/moved.hpp"
#include "conformance/shapes.hpp"

namespace conformance {
namespace {

constexpr int greatest_rank = 6;

template <class X>
inline constexpr int rank_of = std::remove_cvref_t<X>::rank;

/// float has every rank, the types that stand for others those to 4.
template <class T>
using ranks_of = std::conditional_t<std::is_same_v<T, float>, Below<greatest_rank + 1>, Below<5>>;

/// f(x) of an operand under its own rank.
template <class Device, class F>
Outputs with_operand(const Call& call, const Array& array, Device device, F f) {
  return with_moved_type(array.type, [&](auto type) -> Outputs {
    using T = type_of<decltype(type)>;
    return with_int(ranks_of<T>{}, array.rank(), [&](auto rank) -> Outputs {
      return f(tensor<T, decltype(rank)::value>(call, moved_as<T>(array), device));
    });
  });
}

/// The view that f makes of the operand, as an array of the operand's own type.
template <class Device, class F>
Outputs view_of(const Call& call, const Array& array, Device device, F f) {
  return typed(with_operand(call, array, device, f), array.type);
}

Array int64_array(const std::vector<std::int64_t>& values, const Extents& shape) {
  Array array{ElementType::int64, shape, std::vector<std::byte>(values.size() * sizeof(std::int64_t))};
  if (!values.empty()) std::memcpy(array.bytes.data(), values.data(), array.bytes.size());
  return array;
}

struct Identity {
  template <class Device>
  Outputs operator()(const Call& call, Device device) const {
    return view_of(call, call.input(0), device, [](const auto& x) -> Outputs { return {result(x)}; });
  }
};

/// The extents, or those from `start` to `end`.
struct ShapeOf {
  template <class Device>
  Outputs operator()(const Call& call, Device device) const {
    return with_operand(call, call.input(0), device, [&](const auto& x) -> Outputs {
      std::vector<std::int64_t> extents;
      for (int i = 0; i < rank_of<decltype(x)>; ++i) extents.push_back(x.extent(i));
      const std::vector<std::int64_t> part = part_of(extents, call.integer("start", 0), call.integer("end", 1 << 20));
      return {int64_array(part, {static_cast<std::int64_t>(part.size())})};
    });
  }
};

struct SizeOf {
  template <class Device>
  Outputs operator()(const Call& call, Device device) const {
    return with_operand(call, call.input(0), device,
                        [](const auto& x) -> Outputs { return {int64_array({x.size()}, {})}; });
  }
};

/// shape(call) says the result's shape.
template <class ShapeFunction>
struct Reshape {
  template <class Device>
  Outputs operator()(const Call& call, Device device) const {
    const Extents shape = ShapeFunction{}(call);
    return view_of(call, call.input(0), device, [&](const auto& x) -> Outputs {
      return with_int(
          ranks_of<typename std::remove_cvref_t<decltype(x)>::value_type>{}, static_cast<int>(shape.size()),
          [&](auto rank) -> Outputs { return {result(hd::reshape(x, static_shape<decltype(rank)::value>(shape)))}; });
    });
  }
};
template <class ShapeFunction>
Reshape<ShapeFunction> reshape(ShapeFunction) {
  return {};
}

/// Axis by axis, from the last, each time a tensor of one rank less.
struct Squeeze {
  template <class Device>
  Outputs operator()(const Call& call, Device device) const {
    Array array = call.input(0);
    for (const int squeezed : squeezed_axes(call))
      array = std::move(view_of(call, array, device, [&](const auto& x) -> Outputs {
        return with_int(Below<rank_of<decltype(x)>>{}, squeezed,
                        [&](auto axis) -> Outputs { return {result(x.squeeze(hd::axis<decltype(axis)::value>))}; });
      })[0]);
    return {array};
  }
};

/// Axis by axis, from the first, each time a tensor of one rank more.
struct Unsqueeze {
  template <class Device>
  Outputs operator()(const Call& call, Device device) const {
    Array array = call.input(0);
    for (const int added : unsqueezed_axes(call))
      array = std::move(view_of(call, array, device, [&](const auto& x) -> Outputs {
        return with_int(Below<rank_of<decltype(x)> + 1>{}, added,
                        [&](auto axis) -> Outputs { return {result(x.unsqueeze(hd::axis<decltype(axis)::value>))}; });
      })[0]);
    return {array};
  }
};

struct Expand {
  template <class Device>
  Outputs operator()(const Call& call, Device device) const {
    const Extents shape = expanded_shape(call.input(0).shape, integers_of(call.input(1)));
    return view_of(call, call.input(0), device, [&](const auto& x) -> Outputs {
      using X = std::remove_cvref_t<decltype(x)>;
      return with_int(ranks_of<typename X::value_type>{}, static_cast<int>(shape.size()), [&](auto rank) -> Outputs {
        constexpr int wanted = decltype(rank)::value;
        if constexpr (wanted >= X::rank)
          return {result(x.expand(static_shape<wanted>(shape)))};
        else
          throw NotServed{"not to a smaller rank"};
      });
    });
  }
};

struct Slice {
  template <class Device>
  Outputs operator()(const Call& call, Device device) const {
    const std::vector<AxisSlice> slices = slices_of(call);
    return view_of(call, call.input(0), device, [&](auto x) -> Outputs {
      const auto cut = [&]<int... A>(std::integer_sequence<int, A...>, const AxisSlice& slice) {
        ((slice.axis == A ? void(x = x.slice(hd::axis<A>, hd::range(slice.start, slice.end, slice.step))) : void()),
         ...);
      };
      for (const AxisSlice& slice : slices) cut(Below<rank_of<decltype(x)>>{}, slice);
      return {result(x)};
    });
  }
};

/// The axes in an order known at run time, as a row of exchanges of two axes known at compile time.
struct Transpose {
  template <int A, int B, class X>
  static X exchanged(const X& x) {
    return [&]<int... I>(std::integer_sequence<int, I...>) {
      return x.permute(hd::axes<(I == A ? B : I == B ? A : I)...>);
    }
    (Below<rank_of<X>>{});
  }
  template <int Pair, class X>
  static void exchange(X& x, int a, int b) {
    constexpr int rank = rank_of<X>;
    if constexpr (Pair / rank < Pair % rank) {
      if (Pair / rank == a && Pair % rank == b) x = exchanged<Pair / rank, Pair % rank>(x);
    }
  }
  template <class Device>
  Outputs operator()(const Call& call, Device device) const {
    std::vector<int> wanted = permutation_of(call);
    return view_of(call, call.input(0), device, [&](auto x) -> Outputs {
      constexpr int rank = rank_of<decltype(x)>;
      std::vector<int> order;
      for (int i = 0; i < rank; ++i) order.push_back(i);
      for (int to = 0; to < rank; ++to) {
        int from = to;
        while (order[static_cast<std::size_t>(from)] != wanted[static_cast<std::size_t>(to)]) ++from;
        std::swap(order[static_cast<std::size_t>(from)], order[static_cast<std::size_t>(to)]);
        [&]<int... Pair>(std::integer_sequence<int, Pair...>) { (exchange<Pair>(x, to, from), ...); }
        (Below<rank * rank>{});
      }
      return {result(x)};
    });
  }
};

/// Channels to blocks of pixels: depth first (DCR) or column first (CRD).
struct DepthToSpace {
  template <class Device>
  Outputs operator()(const Call& call, Device device) const {
    const auto x = tensor<float, 4>(call, call.input(0), device);
    const std::int64_t block = call.integer("blocksize", 1);
    const std::int64_t depth = x.extent(1) / (block * block);
    const hd::Shape<4> shape{x.extent(0), depth, x.extent(2) * block, x.extent(3) * block};
    if (call.text_is("mode", "CRD")) {
      const hd::Tensor apart = hd::reshape(x, {x.extent(0), depth, block, block, x.extent(2), x.extent(3)});
      return {result(hd::reshape(apart.permute(hd::axes<0, 1, 4, 2, 5, 3>), shape))};
    }
    const hd::Tensor apart = hd::reshape(x, {x.extent(0), block, block, depth, x.extent(2), x.extent(3)});
    return {result(hd::reshape(apart.permute(hd::axes<0, 3, 4, 1, 5, 2>), shape))};
  }
};

struct SpaceToDepth {
  template <class Device>
  Outputs operator()(const Call& call, Device device) const {
    const auto x = tensor<float, 4>(call, call.input(0), device);
    const std::int64_t block = call.integer("blocksize", 1);
    const hd::Tensor apart =
        hd::reshape(x, {x.extent(0), x.extent(1), x.extent(2) / block, block, x.extent(3) / block, block});
    const hd::Shape<4> shape{x.extent(0), x.extent(1) * block * block, x.extent(2) / block, x.extent(3) / block};
    return {result(hd::reshape(apart.permute(hd::axes<0, 3, 5, 1, 2, 4>), shape))};
  }
};

}  // namespace

void add_view(Registry& registry) {
  serve(registry, "Identity", Identity{});
  serve(registry, "Shape", ShapeOf{});
  serve(registry, "Size", SizeOf{});
  serve(registry, "Reshape", reshape([](const Call& call) { return reshape_target(call); }));
  serve(registry, "Flatten", reshape([](const Call& call) { return flatten_target(call); }));
  serve(registry, "Squeeze", Squeeze{});
  serve(registry, "Unsqueeze", Unsqueeze{});
  serve(registry, "Expand", Expand{});
  serve(registry, "Slice", Slice{});
  serve(registry, "Transpose", Transpose{});
  serve(registry, "DepthToSpace", DepthToSpace{});
  serve(registry, "SpaceToDepth", SpaceToDepth{});
}

}  // namespace conformance
