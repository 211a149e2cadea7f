// Sorting and selecting along lines on the CPU.
#pragma once

#include "heddle/kernels/cpu/elements.hpp"
#include "heddle/kernels/cpu/pool.hpp"
#include "heddle/kernels/cpu/workspace.hpp"
#include "heddle/kernels/lines.hpp"
#include "heddle/kernels/sort_key.hpp"

namespace heddle {
inline namespace HEDDLE_BUILD {
namespace on_cpu {

/// Sorts `count` items by merging, which keeps the order of equal ones; `scratch` has room for as many. Gives the one
/// of the two places where they are then.
template <class Item>
Item* merge_sort(Item* items, Item* scratch, index_t count) {
  constexpr index_t run = 16;
  for (index_t begin = 0; begin < count; begin += run) {
    const index_t end = begin + run < count ? begin + run : count;
    for (index_t i = begin + 1; i < end; ++i) {
      const Item moved = items[i];
      index_t j = i;
      for (; j > begin && moved < items[j - 1]; --j) items[j] = items[j - 1];
      items[j] = moved;
    }
  }
  for (index_t width = run; width < count; width *= 2) {
    for (index_t begin = 0; begin < count; begin += 2 * width) {
      const index_t middle = begin + width < count ? begin + width : count;
      const index_t end = middle + width < count ? middle + width : count;
      index_t left = begin, right = middle;
      for (index_t to = begin; to < end; ++to) {
        const bool take_right = left == middle || (right < end && items[right] < items[left]);
        scratch[to] = take_right ? items[right++] : items[left++];
      }
    }
    Item* const sorted = scratch;
    scratch = items;
    items = sorted;
  }
  return items;
}

/// The first `kept` of the items in order, at the front of them: a heap whose root is the last of those kept so far.
template <class Item>
void select_first(Item* items, Item* scratch, index_t count, index_t kept) {
  const auto sink = [&](index_t at, index_t size) {
    const Item moved = items[at];
    while (2 * at + 1 < size) {
      index_t child = 2 * at + 1;
      if (child + 1 < size && items[child] < items[child + 1]) ++child;
      if (!(moved < items[child])) break;
      items[at] = items[child];
      at = child;
    }
    items[at] = moved;
  };
  for (index_t i = kept / 2; i-- > 0;) sink(i, kept);
  for (index_t i = kept; i < count; ++i) {
    if (!(items[i] < items[0])) continue;
    items[0] = items[i];
    sink(0, kept);
  }
  const Item* const sorted = merge_sort(items, scratch, kept);
  if (sorted != items)
    for (index_t i = 0; i < kept; ++i) items[i] = sorted[i];
}

/// Calls emit(line, items) with the first `kept` items of each line in order. Rows of `lines`: some of the output's,
/// then the elements'.
template <bool Pairs, class Lines, class Elements, class Emit>
void sort_lines(const Lines& lines, const Elements& elements, index_t length, index_t kept, bool descending,
                const Emit& emit) {
  using Value = typename Elements::value_type;
  using Keys = sort_key<Value>;
  using Item = sort_item<Pairs, typename Keys::type>;
  constexpr int first_row = Lines::held - (Elements::rows > 0 ? Elements::rows : 0);
  const index_t grain = 4096 / (length > 0 && length < 4096 ? length : 4096) + 1;
  parallel_for(lines.count(), grain, [&](index_t begin, index_t end) {
    Item* const items = Workspace::get<Item>(Workspace::within_range, static_cast<std::size_t>(2 * length));
    for (index_t line = begin; line < end; ++line) {
      index_t offset[static_cast<std::size_t>(Lines::held)];
      lines.at(line, offset);
      for (index_t done = 0; done < length; done += chunk) {
        const int now = length - done < chunk ? static_cast<int>(length - done) : chunk;
        Value value[chunk];
        elements.load_chunk(offset + first_row, lines.along + first_row, 0, now, value);
        for (int j = 0; j < now; ++j)
          items[done + j] =
              make_sort_item<Pairs>(Keys::of(value[j], descending, Pairs), static_cast<std::uint32_t>(done + j));
        for (int r = 0; r < Lines::held; ++r) offset[r] += now * lines.along[r];
      }
      if (kept < length / 8) {
        select_first(items, items + length, length, kept);
        emit(line, static_cast<const Item*>(items));
      } else {
        emit(line, static_cast<const Item*>(merge_sort(items, items + length, length)));
      }
    }
  });
}

/// Writes what `result(item)` makes of a line's items; the writer's rows of `lines` begin with `first_row`.
template <class Lines, class Writer, class Item, class Result>
void store_line(const Lines& lines, const Writer& writer, int first_row, index_t line, const Item* items, index_t count,
                const Result& result) {
  index_t offset[static_cast<std::size_t>(Lines::held)];
  lines.at(line, offset);
  for (index_t done = 0; done < count; done += chunk) {
    const int now = count - done < chunk ? static_cast<int>(count - done) : chunk;
    decltype(result(items[0])) value[chunk];
    for (int j = 0; j < now; ++j) value[j] = result(items[done + j]);
    writer.store_chunk(offset + first_row, lines.along + first_row, now, value);
    for (int r = 0; r < Lines::held; ++r) offset[r] += now * lines.along[r];
  }
}

}  // namespace on_cpu
}  // namespace HEDDLE_BUILD
}  // namespace heddle
