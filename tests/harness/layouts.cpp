#include "harness/layouts.hpp"

#include <algorithm>
#include <numeric>

namespace heddle_test {
namespace {

/// Strides of a box of those extents, filled without gaps, with the axes of `order` from the outermost to the
/// innermost.
Extents dense(const Extents& box, const std::vector<std::size_t>& order) {
  Extents strides(box.size());
  std::int64_t step = 1;
  for (std::size_t i = order.size(); i-- > 0;) {
    strides[order[i]] = step;
    step *= std::max<std::int64_t>(box[order[i]], 1);
  }
  return strides;
}

}  // namespace

const char* name_of(Layout layout) {
  switch (layout) {
    case Layout::contiguous:
      return "contiguous";
    case Layout::transposed:
      return "transposed";
    case Layout::channels_last:
      return "channels-last";
    case Layout::sliced:
      return "sliced";
    case Layout::pitched:
      return "pitched";
    case Layout::reversed:
      return "reversed";
    case Layout::offset:
      return "offset";
    case Layout::broadcast:
      return "broadcast";
  }
  return "";
}

const std::vector<Layout>& output_layouts() {
  static const std::vector<Layout> layouts{Layout::contiguous, Layout::transposed, Layout::channels_last,
                                           Layout::sliced,     Layout::pitched,    Layout::reversed,
                                           Layout::offset};
  return layouts;
}

const std::vector<Layout>& input_layouts() {
  static const std::vector<Layout> layouts = [] {
    std::vector<Layout> all = output_layouts();
    all.push_back(Layout::broadcast);
    return all;
  }();
  return layouts;
}

std::int64_t Placement::place(const Extents& index) const {
  return std::inner_product(index.begin(), index.end(), strides.begin(), first);
}

Placement place(const Extents& shape, Layout layout) {
  const std::size_t rank = shape.size();
  Extents box = shape;
  std::vector<std::size_t> order(rank);
  std::iota(order.begin(), order.end(), std::size_t{0});
  if (layout == Layout::transposed) std::reverse(order.begin(), order.end());
  if (layout == Layout::channels_last && rank > 2) std::rotate(order.begin() + 1, order.begin() + 2, order.end());
  if (layout == Layout::sliced)
    for (std::int64_t& extent : box) extent = 2 * extent + 1;
  if (layout == Layout::pitched && rank > 1) box[rank - 1] += 3;

  Placement result;
  result.strides = dense(box, order);
  for (std::size_t i = 0; i < rank; ++i) {
    if (layout == Layout::sliced) result.strides[i] *= 2;
    if (layout == Layout::reversed) result.strides[i] *= -1;
    if (layout == Layout::broadcast && (rank - 1 - i) % 2 == 0) result.strides[i] = 0;
  }
  std::int64_t lowest = 0, highest = 0;
  for (std::size_t i = 0; i < rank; ++i) {
    const std::int64_t reach = std::max<std::int64_t>(shape[i] - 1, 0) * result.strides[i];
    (reach < 0 ? lowest : highest) += reach;
  }
  // 32 elements keep a first element aligned as the memory is.
  const std::int64_t guard = layout == Layout::offset ? 33 : 32;
  result.first = guard - lowest;
  result.count = result.first + highest + 1 + 32;
  return result;
}

}  // namespace heddle_test
