// Where Cast CastLike
#include "conformance/operators/elementwise.hpp"
#include "conformance/operators/families.hpp"

namespace conformance {
namespace {

struct Where {
  template <class Device>
  Outputs operator()(const Call& call, Device device) const {
    const Aligned aligned = align({call.input(0).shape, call.input(1).shape, call.input(2).shape});
    return with_type(Types<float, double, std::int32_t, std::int64_t, std::uint8_t, bool>{}, call.input(1).type,
                     [&](auto type) -> Outputs {
                       using T = type_of<decltype(type)>;
                       return with_int(
                           BroadcastRanks<T>{}, least_rank(BroadcastRanks<T>{}, aligned.rank()),
                           [&](auto rank) -> Outputs {
                             constexpr int r = decltype(rank)::value;
                             const Aligned to = padded(aligned, r);
                             const auto condition = tensor<bool, r>(call, call.input(0), to.shapes[0], device);
                             const auto x = tensor<T, r>(call, call.input(1), to.shapes[1], device);
                             const auto y = tensor<T, r>(call, call.input(2), to.shapes[2], device);
                             return {reshaped(result(hd::where(condition, x, y)), to.collapsed, aligned.shape)};
                           });
                     });
  }
};

template <class Device>
Outputs cast(const Call& call, ElementType to, Device device) {
  const Array& array = call.input(0);
  const Extents flat{array.size()};
  const auto from = [&](auto from_types, auto to_types) {
    return with_type(from_types, array.type, [&](auto from_type) -> Outputs {
      const auto x = tensor<type_of<decltype(from_type)>, 1>(call, array, flat, device);
      return with_type(to_types, to, [&](auto to_type) -> Outputs {
        return {reshaped(result(hd::cast<type_of<decltype(to_type)>>(x)), flat, array.shape)};
      });
    });
  };
  if (is_floating(array.type))
    return from(Floats{}, Types<float, double, hd::half, std::int32_t, std::int64_t, std::uint8_t, bool>{});
  return from(Types<std::int8_t, std::int16_t, std::int32_t, std::int64_t, std::uint8_t, std::uint16_t, std::uint32_t,
                    std::uint64_t, bool>{},
              Types<float>{});
}

struct Cast {
  template <class Device>
  Outputs operator()(const Call& call, Device device) const {
    return cast(call, call.element_type("to"), device);
  }
};

struct CastLike {
  template <class Device>
  Outputs operator()(const Call& call, Device device) const {
    return cast(call, call.input(1).type, device);
  }
};

}  // namespace

void add_where_cast(Registry& registry) {
  serve(registry, "Where", Where{});
  serve(registry, "Cast", Cast{});
  serve(registry, "CastLike", CastLike{});
}

}  // namespace conformance
