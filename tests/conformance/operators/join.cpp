// Concat Split Tile Pad Trilu
#include <vector>

#include "conformance/axes.hpp"
#include "conformance/broadcast.hpp"
#include "conformance/operators/families.hpp"
#include "conformance/operators/moved.hpp"
#include "conformance/shapes.hpp"
#include "heddle/ops/join.hpp"
#include "heddle/ops/pad.hpp"
#include "heddle/ops/rearrange.hpp"

namespace conformance {
namespace {

/// Along the middle one of three axes.
struct Concat {
  template <class Device>
  Outputs operator()(const Call& call, Device device) const {
    const Array& first = call.input(0);
    const int axis = front_axis(call.integer("axis", 1), first.rank());
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

struct Split {
  template <class Device>
  Outputs operator()(const Call& call, Device device) const {
    const Array& array = call.input(0);
    const int axis = front_axis(call.integer("axis", 0), array.rank());
    return with_moved_type(array.type, [&](auto type) -> Outputs {
      using T = type_of<decltype(type)>;
      const auto x = tensor<T, 3>(call, moved_as<T>(array), plan_axis(array.shape, axis).all_three(), device);
      Outputs outputs;
      std::int64_t start = 0;
      for (const std::int64_t size : split_sizes(call, array.shape[static_cast<std::size_t>(axis)])) {
        Extents shape = array.shape;
        shape[static_cast<std::size_t>(axis)] = size;
        outputs.push_back(
            reshaped(result(hd::narrow(x, hd::axis<1>, start, size)), plan_axis(shape, axis).all_three(), shape));
        start += size;
      }
      return typed(std::move(outputs), array.type);
    });
  }
};

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

struct Tile {
  template <class Device>
  Outputs operator()(const Call& call, Device device) const {
    const Array& array = call.input(0);
    std::vector<std::int64_t> times = integers_of(call.input(1));
    Extents shape = array.shape;
    for (std::size_t i = 0; i < shape.size(); ++i) shape[i] *= times.at(i);
    times.insert(times.begin(), 4 - std::min<std::size_t>(4, times.size()), 1);
    return with_moved_type(array.type, [&](auto type) -> Outputs {
      using T = type_of<decltype(type)>;
      return typed(under_rank_four<T>(call, moved_as<T>(array), shape, device,
                                      [&](const auto& x) {
                                        return hd::tile(x, {times[0], times[1], times[2], times[3]});
                                      }),
                   array.type);
    });
  }
};

struct Pad {
  template <class Device>
  Outputs operator()(const Call& call, Device device) const {
    using Padded = Types<float, double, std::int32_t, std::int64_t>;
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
    if (call.text_is("mode", "wrap")) throw NotServed{"no such mode"};
    return with_type(Padded{}, array.type, [&](auto type) -> Outputs {
      using T = type_of<decltype(type)>;
      return under_rank_four<T>(call, array, shape, device, [&](const auto& x) {
        if (call.text_is("mode", "reflect"))
          return hd::eval(hd::pad(x, {of(0), of(1), of(2), of(3)}, hd::pad_mode::reflect));
        if (call.text_is("mode", "edge"))
          return hd::eval(hd::pad(x, {of(0), of(1), of(2), of(3)}, hd::pad_mode::replicate));
        const T value = call.has_input(2) ? scalar<T>(call.input(2)) : static_cast<T>(call.number("value", 0));
        return hd::eval(hd::pad(x, {of(0), of(1), of(2), of(3)}, value));
      });
    });
  }
};

struct Trilu {
  template <class Device>
  Outputs operator()(const Call& call, Device device) const {
    const Array& array = call.input(0);
    const std::int64_t diagonal = call.has_input(1) ? integers_of(call.input(1)).at(0) : 0;
    return with_moved_type(array.type, [&](auto type) -> Outputs {
      using T = type_of<decltype(type)>;
      const auto triangle = [&](const auto& x) {
        return call.integer("upper", 1) != 0 ? hd::triu(x, diagonal) : hd::tril(x, diagonal);
      };
      return typed(under_rank_four<T>(call, moved_as<T>(array), array.shape, device, triangle), array.type);
    });
  }
};

}  // namespace

void add_join(Registry& registry) {
  serve(registry, "Concat", Concat{});
  serve(registry, "Split", Split{});
  serve(registry, "Tile", Tile{});
  serve(registry, "Pad", Pad{});
  serve(registry, "Trilu", Trilu{});
}

}  // namespace conformance
