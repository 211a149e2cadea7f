// Identity Shape Size Reshape Flatten Squeeze Unsqueeze Expand Slice Transpose DepthToSpace SpaceToDepth and PyTorch's
#include <utility>
#include <vector>

#include "conformance/axes.hpp"
#include "conformance/operators/families.hpp"
#include "conformance/operators/moved.hpp"
#include "conformance/shapes.hpp"
#include "heddle/ops/diagonal.hpp"
#include "heddle/ops/join.hpp"
#include "heddle/ops/shape.hpp"

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

/// shape(call) says the result's shape. Float operands keep ranks below 5, all others have axes of extent 1 in front.
/// Strict: by the member, which gives a view or throws.
template <class ShapeFunction, bool Strict>
struct Reshape {
  template <class Device>
  Outputs operator()(const Call& call, Device device) const {
    const Array& array = call.input(0);
    const Extents shape = ShapeFunction{}(call);
    const auto rank = static_cast<int>(shape.size());
    if (!Strict && array.type == ElementType::float32 && array.rank() < 5 && rank < 5)
      return with_int(Below<5>{}, array.rank(), [&](auto from) -> Outputs {
        return with_int(Below<5>{}, rank, [&](auto to) -> Outputs {
          const auto x = tensor<float, decltype(from)::value>(call, array, device);
          return {result(hd::reshape(x, static_shape<decltype(to)::value>(shape)))};
        });
      });
    if (array.rank() > greatest_rank || rank > greatest_rank) throw NotServed{"not for this rank"};
    const auto six = [](Extents extents) {
      extents.insert(extents.begin(), static_cast<std::size_t>(greatest_rank) - extents.size(), 1);
      return extents;
    };
    return with_moved_type(array.type, [&](auto type) -> Outputs {
      using T = type_of<decltype(type)>;
      const auto x = tensor<T, greatest_rank>(call, moved_as<T>(array), six(array.shape), device);
      const auto wanted = static_shape<greatest_rank>(six(shape));
      Array got;
      if constexpr (Strict)
        got = result(x.reshape(wanted));
      else
        got = result(hd::reshape(x, wanted));
      got.shape.erase(got.shape.begin(), got.shape.end() - rank);
      return typed({std::move(got)}, array.type);
    });
  }
};
template <bool Strict = false, class ShapeFunction>
Reshape<ShapeFunction, Strict> reshape(ShapeFunction) {
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
    const Extents shape = expanded_target(call);
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

/// The part of one axis that `select` or `narrow` names.
struct Narrow {
  template <class Device>
  Outputs operator()(const Call& call, Device device) const {
    return view_of(call, call.input(0), device, [&](const auto& x) -> Outputs {
      return with_int(Below<rank_of<decltype(x)>>{}, axis_of(call, "dim", 0, rank_of<decltype(x)>),
                      [&](auto axis) -> Outputs {
                        constexpr auto along = hd::axis<decltype(axis)::value>;
                        return {result(hd::narrow(x, along, call.integer("start", 0), call.integer("length", 0)))};
                      });
    });
  }
};
struct Select {
  template <class Device>
  Outputs operator()(const Call& call, Device device) const {
    return view_of(call, call.input(0), device, [&](const auto& x) -> Outputs {
      return with_int(Below<rank_of<decltype(x)>>{}, axis_of(call, "dim", 0, rank_of<decltype(x)>),
                      [&](auto axis) -> Outputs {
                        constexpr auto along = hd::axis<decltype(axis)::value>;
                        const std::int64_t index = call.integer("index", 0);
                        const std::int64_t place = index < 0 ? index + x.extent(decltype(axis)::value) : index;
                        return {result(hd::narrow(x, along, place, 1).squeeze(along))};
                      });
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
    const std::vector<int> wanted = permutation_of(call);
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

/// f(offset, axes) for two neighbouring axes of Rank.
template <int Rank, class F>
Outputs with_diagonal(const Call& call, const char* offset, F f) {
  const int row = front_axis(call.integer("dim1", Rank - 2), Rank),
            column = front_axis(call.integer("dim2", Rank - 1), Rank);
  return with_int(Below<Rank * Rank>{}, row * Rank + column, [&](auto pair) -> Outputs {
    constexpr int r = decltype(pair)::value / Rank, c = decltype(pair)::value % Rank;
    if constexpr (r + 1 == c)
      return f(call.integer(offset, 0), hd::axes<r, c>);
    else
      throw NotServed{"not for these axes"};
  });
}

struct Diagonal {
  template <class Device>
  Outputs operator()(const Call& call, Device device) const {
    const Array& array = call.input(0);
    return with_moved_type(array.type, [&](auto type) {
      using T = type_of<decltype(type)>;
      return typed(with_int(Ints<2, 3>{}, array.rank(),
                            [&](auto rank) {
                              const auto x = tensor<T, decltype(rank)::value>(call, moved_as<T>(array), device);
                              return with_diagonal<decltype(rank)::value>(call, "offset",
                                                                          [&](auto offset, auto axes) -> Outputs {
                                                                            return {result(x.diagonal(offset, axes))};
                                                                          });
                            }),
                   array.type);
    });
  }
};

/// Written through a view of a copy.
struct DiagonalScatter {
  template <class T, int Rank, class Device>
  static Outputs of(const Call& call, Device device) {
    const auto y = tensor<T, Rank>(call, call.input(0), device).clone();
    const auto source = tensor<T, Rank - 1>(call, call.input(1), device);
    y.diagonal(call.integer("offset", 0), hd::axes<0, 1>).assign(source);
    return {result(y)};
  }
  template <class Device>
  Outputs operator()(const Call& call, Device device) const {
    const Array& array = call.input(0);
    if (call.integer("dim1", 0) != 0 || call.integer("dim2", 1) != 1) throw NotServed{"not for these axes"};
    if (array.type == ElementType::uint8) return of<U8, 3>(call, device);
    return array.rank() == 2 ? of<float, 2>(call, device) : of<float, 3>(call, device);
  }
};

struct DiagonalEmbedded {
  template <class Device>
  Outputs operator()(const Call& call, Device device) const {
    const Array& array = call.input(0);
    const int rank = array.rank() + 1;
    const int row = front_axis(call.integer("dim1", -2), rank), column = front_axis(call.integer("dim2", -1), rank);
    const std::int64_t offset = call.integer("offset", 0);
    if (rank == 4 && row == 0 && column == 1)
      return {result(hd::diag_embed(tensor<float, 3>(call, array, device), offset, hd::axes<0, 1>))};
    return with_moved_type(array.type, [&](auto type) -> Outputs {
      using T = type_of<decltype(type)>;
      const auto x = tensor<T, 2>(call, moved_as<T>(array), device);
      if (row == 1 && column == 2) return typed({result(hd::diag_embed(x, offset))}, array.type);
      if (row == 1 && column == 0) return typed({result(hd::diag_embed(x, offset, hd::axes<1, 0>))}, array.type);
      throw NotServed{"not for these axes"};
    });
  }
};

/// Of a vector, or of a matrix; `flat`: of all elements.
template <bool Flat>
struct Diag {
  template <class Device>
  Outputs operator()(const Call& call, Device device) const {
    Array array = call.input(0);
    if (Flat) array.shape = {array.size()}, array.strides.clear();
    const std::int64_t offset = call.integer(Flat ? "offset" : "diagonal", 0);
    return with_moved_type(array.type, [&](auto type) {
      using T = type_of<decltype(type)>;
      return typed(with_int(Ints<1, 2>{}, array.rank(),
                            [&](auto rank) -> Outputs {
                              return {result(hd::diag(
                                  tensor<T, decltype(rank)::value>(call, moved_as<T>(array), device), offset))};
                            }),
                   array.type);
    });
  }
};

struct Trace {
  template <class Device>
  Outputs operator()(const Call& call, Device device) const {
    if (call.input(0).rank() != 2) throw NotServed{"not for this rank"};
    return with_type(Types<double>{}, call.input(0).type, [&](auto type) -> Outputs {
      return {result(hd::trace(tensor<type_of<decltype(type)>, 2>(call, call.input(0), device)))};
    });
  }
};

/// Channels to blocks of pixels: depth first (DCR) or, PyTorch's, column first (CRD).
struct DepthToSpace {
  template <class Device>
  Outputs operator()(const Call& call, Device device) const {
    const bool column_first = call.is_pytorch() || call.text_is("mode", "CRD");
    const std::int64_t block = call.integer(call.is_pytorch() ? "upscale_factor" : "blocksize", 1);
    return with_image(call, device, [&](const auto& x) -> Outputs {
      const std::int64_t depth = x.extent(1) / (block * block);
      const hd::Shape<4> shape{x.extent(0), depth, x.extent(2) * block, x.extent(3) * block};
      if (column_first) {
        const hd::Tensor apart = hd::reshape(x, {x.extent(0), depth, block, block, x.extent(2), x.extent(3)});
        return {result(hd::reshape(apart.permute(hd::axes<0, 1, 4, 2, 5, 3>), shape))};
      }
      const hd::Tensor apart = hd::reshape(x, {x.extent(0), block, block, depth, x.extent(2), x.extent(3)});
      return {result(hd::reshape(apart.permute(hd::axes<0, 3, 4, 1, 5, 2>), shape))};
    });
  }
  template <class Device, class F>
  static Outputs with_image(const Call& call, Device device, F f) {
    const Array& array = call.input(0);
    return with_moved_type(array.type, [&](auto type) {
      using T = type_of<decltype(type)>;
      return typed(f(tensor<T, 4>(call, moved_as<T>(array), device)), array.type);
    });
  }
};

struct SpaceToDepth {
  template <class Device>
  Outputs operator()(const Call& call, Device device) const {
    const std::int64_t block = call.integer(call.is_pytorch() ? "downscale_factor" : "blocksize", 1);
    return DepthToSpace::with_image(call, device, [&](const auto& x) -> Outputs {
      const hd::Tensor apart =
          hd::reshape(x, {x.extent(0), x.extent(1), x.extent(2) / block, block, x.extent(3) / block, block});
      const hd::Shape<4> shape{x.extent(0), x.extent(1) * block * block, x.extent(2) / block, x.extent(3) / block};
      if (call.is_pytorch()) return {result(hd::reshape(apart.permute(hd::axes<0, 1, 3, 5, 2, 4>), shape))};
      return {result(hd::reshape(apart.permute(hd::axes<0, 3, 5, 1, 2, 4>), shape))};
    });
  }
};

}  // namespace

void add_view(Registry& registry) {
  serve(registry, {"Identity", "positive"}, Identity{});
  serve(registry, "Shape", ShapeOf{});
  serve(registry, "Size", SizeOf{});
  const auto target = [](const Call& call) { return reshape_target(call); };
  serve(registry, {"Reshape", "reshape", "ravel", "unflatten"}, reshape(target));
  serve(registry, {"view", "view_as"}, reshape<true>(target));
  serve(registry, {"Flatten", "flatten"}, reshape([](const Call& call) { return flatten_target(call); }));
  serve(registry, {"Squeeze", "squeeze"}, Squeeze{});
  serve(registry, {"Unsqueeze", "unsqueeze"}, Unsqueeze{});
  serve(registry, {"Expand", "expand", "expand_as", "broadcast_to"}, Expand{});
  serve(registry, "Slice", Slice{});
  serve(registry, "select", Select{});
  serve(registry, "narrow", Narrow{});
  serve(registry, {"Transpose", "permute", "transpose", "movedim", "T", "t", "mT"}, Transpose{});
  serve(registry, "diagonal", Diagonal{});
  serve(registry, "diagonal_scatter", DiagonalScatter{});
  serve(registry, "diag_embed", DiagonalEmbedded{});
  serve(registry, "diag", Diag<false>{});
  serve(registry, "diagflat", Diag<true>{});
  serve(registry, "trace", Trace{});
  serve(registry, {"DepthToSpace", "nn.functional.pixel_shuffle"}, DepthToSpace{});
  serve(registry, {"SpaceToDepth", "nn.functional.pixel_unshuffle"}, SpaceToDepth{});
}

}  // namespace conformance
