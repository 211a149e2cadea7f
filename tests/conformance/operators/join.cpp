// Concat Split Tile Pad Trilu; cat stack split chunk unbind flip roll repeat repeat_interleave
#include <vector>

#include "conformance/axes.hpp"
#include "conformance/broadcast.hpp"
#include "conformance/operators/elementwise.hpp"
#include "conformance/operators/families.hpp"
#include "conformance/operators/moved.hpp"
#include "conformance/shapes.hpp"
#include "heddle/ops/index.hpp"
#include "heddle/ops/join.hpp"
#include "heddle/ops/pad.hpp"
#include "heddle/ops/rearrange.hpp"
#include "heddle/ops/shape.hpp"

namespace conformance {
namespace {

/// Along the middle one of three axes.
struct Concat {
  template <class Device>
  Outputs operator()(const Call& call, Device device) const {
    if (call.input_count() == 0) return {result(hd::concat<0>(std::vector<hd::Tensor<float, 1, Device>>{}))};
    const Array& first = call.input(0);
    const int axis =
        call.is_pytorch() ? axis_of(call, "dim", 0, first.rank()) : front_axis(call.integer("axis", 1), first.rank());
    return with_moved_type(first.type, [&](auto type) -> Outputs {
      using T = type_of<decltype(type)>;
      std::vector<hd::Tensor<T, 3, Device>> parts;
      Extents shape = first.shape;
      shape[static_cast<std::size_t>(axis)] = 0;
      for (int i = 0; i < call.input_count(); ++i) {
        const Array& part = call.input(i);
        parts.push_back(tensor<T, 3>(call, moved_as<T>(part), plan_axis(part.shape, axis).all_three(), device));
        shape[static_cast<std::size_t>(axis)] += part.shape[static_cast<std::size_t>(axis)];
      }
      return typed({reshaped(result(hd::concat<1>(parts)), plan_axis(shape, axis).all_three(), shape)}, first.type);
    });
  }
};

/// Tensors of one shape, seen as (before, after), side by side along an axis between.
struct Stack {
  template <class Device>
  Outputs operator()(const Call& call, Device device) const {
    const Array& first = call.input(0);
    const int axis = front_axis(call.integer("dim", 0), first.rank() + 1);
    const Extents before(first.shape.begin(), first.shape.begin() + axis);
    const Extents after(first.shape.begin() + axis, first.shape.end());
    Extents shape = before;
    shape.push_back(call.input_count());
    shape.insert(shape.end(), after.begin(), after.end());
    const Extents seen{size_of(before), size_of(after)};
    return with_moved_type(first.type, [&](auto type) -> Outputs {
      using T = type_of<decltype(type)>;
      std::vector<hd::Tensor<T, 2, Device>> parts;
      for (int i = 0; i < call.input_count(); ++i)
        parts.push_back(tensor<T, 2>(call, moved_as<T>(call.input(i)), seen, device));
      return typed({reshaped(result(hd::stack<1>(parts)), {seen[0], call.input_count(), seen[1]}, shape)}, first.type);
    });
  }
};

/// The parts that f(x, axis) gives in a vector, of an operand seen as (before, axis, after); `drop`: without the axis.
template <class F, bool Drop>
struct Parts {
  template <class Device>
  Outputs operator()(const Call& call, Device device) const {
    const Array& array = call.input(0);
    const char* const attribute = call.is_pytorch() ? "dim" : "axis";
    if (array.rank() == 0) throw NotServed{"not for this rank"};
    const int axis = front_axis(call.integer(attribute, 0), array.rank());
    return with_moved_type(array.type, [&](auto type) -> Outputs {
      using T = type_of<decltype(type)>;
      const Extents three = plan_axis(array.shape, axis).all_three();
      const auto x = tensor<T, 3>(call, moved_as<T>(array), three, device);
      Outputs outputs;
      for (const auto& part : F{}(x, hd::axis<1>, call)) {
        Extents shape = array.shape;
        shape[static_cast<std::size_t>(axis)] = part.extent(1);
        if (Drop) shape.erase(shape.begin() + axis);
        outputs.push_back(reshaped(result(part), {three[0], part.extent(1), three[2]}, shape));
      }
      return typed(std::move(outputs), array.type);
    });
  }
};
template <bool Drop = false, class F>
Parts<F, Drop> parts(F) {
  return {};
}

template <class X, class Axis>
std::vector<X> narrowed(const X& x, Axis axis, const std::vector<std::int64_t>& sizes) {
  std::vector<X> made;
  std::int64_t start = 0;
  for (const std::int64_t size : sizes) {
    made.push_back(hd::narrow(x, axis, start, size));
    start += size;
  }
  return made;
}

/// f(x) under rank 4, with axes of extent 1 in front; `shape` is the result's.
template <class T, class Device, class F>
Outputs under_rank_four(const Call& call, const Array& array, const Extents& shape, Device device, F f) {
  if (array.rank() > 4) throw NotServed{"not for this rank"};
  const auto four = [](Extents extents) {
    extents.insert(extents.begin(), 4 - extents.size(), 1);
    return extents;
  };
  return {reshaped(result(f(tensor<T, 4>(call, array, four(array.shape), device))), four(shape), shape)};
}

template <bool Repeat>
struct Tile {
  template <class Device>
  Outputs operator()(const Call& call, Device device) const {
    const Array& array = call.input(0);
    std::vector<std::int64_t> times =
        call.is_pytorch() ? call.integers(Repeat ? "repeats" : "dims") : integers_of(call.input(1));
    Extents shape = array.shape;
    if (times.size() > 4) throw NotServed{"not for this rank"};
    if (shape.size() < times.size()) shape.insert(shape.begin(), times.size() - shape.size(), 1);
    if (times.size() < shape.size()) times.insert(times.begin(), shape.size() - times.size(), 1);
    for (std::size_t i = 0; i < shape.size(); ++i) shape[i] *= times[i];
    times.insert(times.begin(), 4 - times.size(), 1);
    return with_moved_type(array.type, [&](auto type) -> Outputs {
      using T = type_of<decltype(type)>;
      const auto tiled = [&](const auto& x) {
        if constexpr (Repeat)
          return hd::repeat(x, {times[0], times[1], times[2], times[3]});
        else
          return hd::tile(x, {times[0], times[1], times[2], times[3]});
      };
      return typed(under_rank_four<T>(call, moved_as<T>(array), shape, device, tiled), array.type);
    });
  }
};

struct RepeatInterleave {
  template <class Device>
  Outputs operator()(const Call& call, Device device) const {
    if (call.has_input(1)) throw NotServed{"each element as often"};
    Array array = call.input(0);
    const std::int64_t times = call.integer("repeats", 1);
    if (!call.has("dim")) {
      array.shape = {array.size()};
      array.strides.clear();
    }
    const int axis = front_axis(call.integer("dim", 0), array.rank());
    const Extents three = plan_axis(array.shape, axis).all_three();
    Extents shape = array.shape;
    shape[static_cast<std::size_t>(axis)] *= times;
    return with_moved_type(array.type, [&](auto type) -> Outputs {
      using T = type_of<decltype(type)>;
      const auto x = tensor<T, 3>(call, moved_as<T>(array), three, device);
      return typed({reshaped(result(hd::repeat_interleave(x, times, hd::axis<1>)),
                             {three[0], three[1] * times, three[2]}, shape)},
                   array.type);
    });
  }
};

/// How far each axis is moved, or whether it runs backwards, as numbers of three axes.
template <class Device, class F>
Outputs under_rank_three(const Call& call, const std::vector<std::int64_t>& axes,
                         const std::vector<std::int64_t>& numbers, Device device, F f) {
  const Array& array = call.input(0);
  if (array.rank() > 3) throw NotServed{"not for this rank"};
  if (axes.size() != numbers.size()) throw NotServed{"not a number for each axis"};
  Extents three = array.shape;
  three.insert(three.begin(), 3 - three.size(), 1);
  std::int64_t each[3] = {};
  for (std::size_t i = 0; i < axes.size(); ++i) each[front_axis(axes[i], array.rank()) + 3 - array.rank()] = numbers[i];
  return with_moved_type(array.type, [&](auto type) -> Outputs {
    using T = type_of<decltype(type)>;
    const auto x = tensor<T, 3>(call, moved_as<T>(array), three, device);
    return typed({reshaped(f(x, each), three, array.shape)}, array.type);
  });
}

struct Flip {
  template <class Device>
  Outputs operator()(const Call& call, Device device) const {
    const std::vector<std::int64_t> axes = call.integers("dims");
    return under_rank_three(call, axes, std::vector<std::int64_t>(axes.size(), 1), device,
                            [](auto x, const std::int64_t(&flips)[3]) {
                              if (flips[0] != 0 && flips[1] != 0 && flips[2] != 0) return result(hd::flip(x));
                              if (flips[0] != 0) x = hd::flip(x, hd::axis<0>);
                              if (flips[1] != 0) x = hd::flip(x, hd::axis<1>);
                              if (flips[2] != 0) x = hd::flip(x, hd::axis<2>);
                              return result(x);
                            });
  }
};

struct Roll {
  template <class Device>
  Outputs operator()(const Call& call, Device device) const {
    if (!call.has("dims")) throw NotServed{"not without axes"};
    return under_rank_three(call, call.integers("dims"), call.integers("shifts"), device,
                            [](const auto& x, const std::int64_t(&shifts)[3]) {
                              return result(hd::roll(x, {shifts[0], shifts[1], shifts[2]}, hd::axes<0, 1, 2>));
                            });
  }
};

struct Pad {
  template <class Device>
  Outputs operator()(const Call& call, Device device) const {
    using Padded = Types<float, double, I32, I64>;
    const Array& array = call.input(0);
    const std::vector<AxisWidth> widths = pad_widths(call);
    Extents shape = array.shape;
    for (std::size_t i = 0; i < shape.size(); ++i) shape[i] += widths[i].begin + widths[i].end;
    const auto of = [&](std::size_t axis) {
      return axis + widths.size() < 4
                 ? hd::PadWidth(0, 0)
                 : hd::PadWidth(widths[axis + widths.size() - 4].begin, widths[axis + widths.size() - 4].end);
    };
    if (widths.size() > 4) throw NotServed{"not for this rank"};
    return with_type(Padded{}, array.type, [&](auto type) -> Outputs {
      using T = type_of<decltype(type)>;
      return under_rank_four<T>(call, array, shape, device, [&](const auto& x) {
        if (call.text_is("mode", "reflect"))
          return hd::eval(hd::pad(x, {of(0), of(1), of(2), of(3)}, hd::pad_mode::reflect));
        if (call.text_is("mode", "wrap") || call.text_is("mode", "circular"))
          return hd::eval(hd::pad(x, {of(0), of(1), of(2), of(3)}, hd::pad_mode::circular));
        if (call.text_is("mode", "edge") || call.text_is("mode", "replicate"))
          return hd::eval(hd::pad(x, {of(0), of(1), of(2), of(3)}, hd::pad_mode::replicate));
        const T value = call.has_input(2) ? scalar<T>(call.input(2)) : static_cast<T>(call.number("value", 0));
        return hd::eval(hd::pad(x, {of(0), of(1), of(2), of(3)}, value));
      });
    });
  }
};

/// ONNX's says which triangle; PyTorch's are two.
enum class Triangle { named, upper, lower };
template <Triangle Which>
struct Trilu {
  template <class Device>
  Outputs operator()(const Call& call, Device device) const {
    const Array& array = call.input(0);
    const std::int64_t diagonal = call.has_input(1) ? integers_of(call.input(1)).at(0) : call.integer("diagonal", 0);
    const bool upper = Which == Triangle::named ? call.flag("upper", true) : Which == Triangle::upper;
    return with_moved_type(array.type, [&](auto type) -> Outputs {
      using T = type_of<decltype(type)>;
      const auto triangle = [&](const auto& x) { return upper ? hd::triu(x, diagonal) : hd::tril(x, diagonal); };
      return typed(under_rank_four<T>(call, moved_as<T>(array), array.shape, device, triangle), array.type);
    });
  }
};

}  // namespace

void add_join(Registry& registry) {
  serve(registry, {"Concat", "cat"}, Concat{});
  serve(registry, "stack", Stack{});
  const auto by_sizes = parts(
      [](const auto& x, auto axis, const Call& call) { return narrowed(x, axis, split_sizes(call, x.extent(1))); });
  serve(registry, {"Split", "split_with_sizes"}, by_sizes);
  serve(registry, "split",
        choice([](const Call& call) { return call.integers("split_size").size() == 1; }, by_sizes,
               parts([](const auto& x, auto axis, const Call& call) {
                 return hd::split(x, call.integer("split_size", 1), axis);
               })));
  serve(registry, "chunk", parts([](const auto& x, auto axis, const Call& call) {
          return hd::chunk(x, call.integer("chunks", 1), axis);
        }));
  serve(registry, "unbind", parts<true>([](const auto& x, auto axis, const Call&) { return hd::split(x, 1, axis); }));
  serve(registry, {"Tile", "tile"}, Tile<false>{});
  serve(registry, "repeat", Tile<true>{});
  serve(registry, "repeat_interleave", RepeatInterleave{});
  serve(registry, "flip", Flip{});
  serve(registry, "roll", Roll{});
  serve(registry, {"Pad", "nn.functional.pad"}, Pad{});
  serve(registry, "Trilu", Trilu<Triangle::named>{});
  serve(registry, "triu", Trilu<Triangle::upper>{});
  serve(registry, "tril", Trilu<Triangle::lower>{});
}

}  // namespace conformance
