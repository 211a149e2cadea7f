// The elements' own numbers as a leaf of a formula: what random maps compute from. Nothing is read from memory.
#pragma once

#include "heddle/expr/form.hpp"

namespace heddle {
inline namespace HEDDLE_BUILD {

/// The number of an element in C order.
struct element_number {
  index_t value;
};

/// Numbers in the place of a leaf's elements: `data` is not followed, it tells where counting begins.
HEDDLE_HOST_DEVICE inline index_t number_at(const void* data, index_t offset) {
  static_assert(sizeof(element_number) == 8);
  return (static_cast<index_t>(reinterpret_cast<std::intptr_t>(data)) >> 3) + offset;
}

/// Where a leaf's elements begin that lie so many further on.
template <class T>
const void* advanced(const void* data, index_t by) {
  if constexpr (std::is_same_v<T, element_number>)
    return reinterpret_cast<const void*>(static_cast<std::intptr_t>(number_at(data, by)) *
                                         static_cast<std::intptr_t>(sizeof(element_number)));
  else
    return static_cast<const T*>(data) + by;
}

/// A tensor of that shape whose elements are their own numbers, and which takes no memory.
template <int Rank, class Device>
class element_numbers : public formula<element_numbers<Rank, Device>> {
 public:
  using value_type = element_number;
  using device_type = Device;
  static constexpr int rank = Rank;
  static constexpr bool has_producer = false;
  static constexpr producer_work work = producer_work::none;

  element_numbers(const Shape<Rank>& shape, Device device) : shape_(shape), device_(device) {}
  const Shape<Rank>& shape() const { return shape_; }
  Device device() const { return device_; }
  template <class Visit>
  void for_each_tensor(Visit&&, bool = false) const {}

 private:
  Shape<Rank> shape_;
  [[no_unique_address]] Device device_;
};

template <int LeafRank, class Device, int Slot, spine Spine>
struct binding<element_numbers<LeafRank, Device>, Slot, Spine> {
  using form = leaf_form<element_number, Slot>;
  static constexpr int leaves = 1;
  explicit binding(const element_numbers<LeafRank, Device>&) {}
  template <class Table, int Rank>
  form enter(const element_numbers<LeafRank, Device>& node, Table& table, const Shape<Rank>&) const {
    table.data[Slot] = nullptr;
    for (int i = 0; i < Rank - LeafRank; ++i) table.stride[Slot][i] = 0;
    if constexpr (LeafRank > 0) {
      const Strides<LeafRank> strides = row_major(node.shape());
      for (int i = 0; i < LeafRank; ++i)
        table.stride[Slot][i + Rank - LeafRank] = node.shape()[i] == 1 ? 0 : strides[i];
    }
    return {};
  }
};

}  // namespace HEDDLE_BUILD
}  // namespace heddle
