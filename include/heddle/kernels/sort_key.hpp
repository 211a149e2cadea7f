// Numbers as unsigned keys in the same order, so that one sort serves all types.
#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "heddle/core/dtype.hpp"

namespace heddle {
inline namespace HEDDLE_BUILD {

/// Keys of values of a type that formulas compute in. A NaN is greater than everything else, whatever its bits.
template <class Value>
struct sort_key {
  using type = std::conditional_t<sizeof(Value) == 8, std::uint64_t, std::uint32_t>;
  static constexpr type top = type{1} << (8 * sizeof(type) - 1);
  /// The greatest key, which stands behind all elements where a power of two is filled up.
  static constexpr type last = ~type{0};

  /// Keys of 0 and -0 differ by one unless `equal_zeros` is set: then such keys tell which elements are equal.
  static HEDDLE_HOST_DEVICE type of(Value value, bool descending, bool equal_zeros) {
    type key;
    if constexpr (std::is_floating_point_v<Value>) {
      if (equal_zeros && value == Value{0}) value = Value{0};
      std::memcpy(&key, &value, sizeof(key));
      key = (key & top) != 0 ? ~key : key | top;
      if (value != value) key = last;
    } else if constexpr (std::is_signed_v<Value>) {
      using Wide = std::make_signed_t<type>;
      key = static_cast<type>(static_cast<Wide>(value)) ^ top;
    } else {
      key = static_cast<type>(value);
    }
    return descending ? ~key : key;
  }
  /// The value again.
  static HEDDLE_HOST_DEVICE Value value_of(type key, bool descending) {
    if (descending) key = ~key;
    if constexpr (std::is_floating_point_v<Value>) {
      key = (key & top) != 0 ? key & ~top : ~key;
      Value value;
      std::memcpy(&value, &key, sizeof(value));
      return value;
    } else if constexpr (std::is_signed_v<Value>) {
      return static_cast<Value>(static_cast<std::make_signed_t<type>>(key ^ top));
    } else {
      return static_cast<Value>(key);
    }
  }
};

/// A key and the place it comes from; of equal keys the one that comes first goes first.
template <class Key>
struct sort_pair {
  Key key;
  Key index;  ///< below 2^32; as wide as the key, so that no bytes of an item are left unwritten
  friend HEDDLE_HOST_DEVICE bool operator<(const sort_pair& a, const sort_pair& b) {
    return a.key < b.key || (a.key == b.key && a.index < b.index);
  }
};

/// A key where only values are sorted.
template <class Key>
struct sort_single {
  Key key;
  static constexpr std::uint32_t index = 0;
  friend HEDDLE_HOST_DEVICE bool operator<(const sort_single& a, const sort_single& b) { return a.key < b.key; }
};

template <bool Pairs, class Key>
using sort_item = std::conditional_t<Pairs, sort_pair<Key>, sort_single<Key>>;

template <bool Pairs, class Key>
HEDDLE_HOST_DEVICE sort_item<Pairs, Key> make_sort_item(Key key, std::uint32_t index) {
  if constexpr (Pairs)
    return {key, index};
  else
    return {key};
}

}  // namespace HEDDLE_BUILD
}  // namespace heddle
