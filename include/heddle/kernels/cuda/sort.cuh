// Sorting along lines on CUDA. A block sorts 2048 items in shared memory, of one line or of several short ones; longer
// lines are merged from such tiles, twice as long in each pass. The first k of a line are found by keeping the first k
// of each tile until one tile is left. Items are ordered by key and, where their places count, by place: there are no
// equal ones, so that the result is the stable one whatever the network does.
#pragma once

#include "heddle/cuda/memory.hpp"
#include "heddle/kernels/cuda/elements.cuh"
#include "heddle/kernels/cuda/lanes.cuh"
#include "heddle/kernels/lines.hpp"
#include "heddle/kernels/sort_key.hpp"

namespace heddle {
inline namespace HEDDLE_BUILD {
namespace on_cuda {

inline constexpr int sort_block = 256;
inline constexpr int sort_tile = 2048;
inline constexpr int sort_items = sort_tile / sort_block;  ///< of a thread

/// Items of all lines, one line behind the other.
template <bool Pairs, class Key>
struct sort_buffer {
  Key* key = nullptr;
  std::uint32_t* index = nullptr;

  __device__ __forceinline__ sort_item<Pairs, Key> load(index_t at) const {
    std::uint32_t place = 0;
    if constexpr (Pairs) place = index[at];
    return make_sort_item<Pairs>(key[at], place);
  }
  __device__ __forceinline__ void store(index_t at, const sort_item<Pairs, Key>& item) const {
    key[at] = item.key;
    if constexpr (Pairs) index[at] = static_cast<std::uint32_t>(item.index);
  }
};

/// Items made of a formula's elements.
template <bool Pairs, class Lines, class Elements>
struct formula_items {
  using keys = sort_key<typename Elements::value_type>;
  Lines lines;
  Elements elements;
  bool descending;
  static constexpr int first_row = Lines::held - Elements::rows;

  __device__ __forceinline__ sort_item<Pairs, typename keys::type> load(index_t line, index_t place, index_t) const {
    index_t offset[Lines::held];
    lines.at(line, offset);
#pragma unroll
    for (int r = 0; r < Lines::held; ++r) offset[r] += place * lines.along[r];
    return make_sort_item<Pairs>(keys::of(elements.load(offset + first_row, 0), descending, Pairs),
                                 static_cast<std::uint32_t>(place));
  }
};
/// Items that a pass has left.
template <bool Pairs, class Key>
struct buffered_items {
  sort_buffer<Pairs, Key> buffer;
  __device__ __forceinline__ sort_item<Pairs, Key> load(index_t line, index_t place, index_t length) const {
    return buffer.load(line * length + place);
  }
};

/// What is done with sorted items.
template <class Lines, class Writer, class Value>
struct emit_values {
  Lines lines;
  Writer writer;
  bool descending;
  template <class Item>
  __device__ __forceinline__ void store(index_t line, index_t place, const Item& item) const {
    index_t offset[Lines::held];
    lines.at(line, offset);
#pragma unroll
    for (int r = 0; r < Lines::held; ++r) offset[r] += place * lines.along[r];
    writer.store(offset, sort_key<Value>::value_of(item.key, descending));
  }
};
template <class Lines, class Writer>
struct emit_indices {
  Lines lines;
  Writer writer;
  template <class Item>
  __device__ __forceinline__ void store(index_t line, index_t place, const Item& item) const {
    index_t offset[Lines::held];
    lines.at(line, offset);
#pragma unroll
    for (int r = 0; r < Lines::held; ++r) offset[r] += place * lines.along[r];
    writer.store(offset, static_cast<std::int64_t>(item.index));
  }
};
/// The element at the item's place, and the place; rows of `lines`: the two outputs', then the elements'.
template <class Lines, class Elements, class T>
struct emit_both {
  Lines lines;
  Elements elements;
  T* values;
  std::int64_t* indices;
  template <class Item>
  __device__ __forceinline__ void store(index_t line, index_t place, const Item& item) const {
    index_t offset[Lines::held];
    lines.at(line, offset);
#pragma unroll
    for (int r = 2; r < Lines::held; ++r) offset[r] += static_cast<index_t>(item.index) * lines.along[r];
    values[offset[0] + place * lines.along[0]] = static_cast<T>(elements.load(offset + 2, 0));
    indices[offset[1] + place * lines.along[1]] = static_cast<std::int64_t>(item.index);
  }
};
/// Keys and places, a line behind the other.
template <class Key>
struct emit_buffer {
  sort_buffer<true, Key> buffer;
  index_t length;
  template <class Item>
  __device__ __forceinline__ void store(index_t line, index_t place, const Item& item) const {
    buffer.store(line * length + place, item);
  }
};

/// How tiles are laid over lines.
struct sort_plan {
  index_t lines = 0;
  index_t length = 0;      ///< items of a line
  index_t kept = 0;        ///< of which the first so many are wanted
  index_t tiles = 1;       ///< of a line
  index_t left = 0;        ///< items of a line after this pass
  int log2_group = 0;      ///< a tile holds groups of so many items, each of a line of its own
  bool crosswise = false;  ///< lines lie side by side in memory
};

template <bool Pairs, class Source, class Emit, class Key>
struct sort_tile_arguments {
  sort_plan plan;
  Source source;
  Emit emit;
  sort_buffer<Pairs, Key> buffer;
};

template <class Item>
__device__ __forceinline__ void order(Item& low, Item& high) {
  if (high < low) {
    const Item item = low;
    low = high;
    high = item;
  }
}

/// Sorts each group of 2^log2_group items of a tile. The first step of a merge compares with the mirrored place, so
/// that all groups are ascending and no direction is needed.
template <class Item>
__device__ inline void sort_groups(Item* items, int log2_group) {
  for (int size = 1; size <= log2_group; ++size) {
    for (int step = size - 1; step >= 0; --step) {
#pragma unroll
      for (int u = 0; u < sort_items / 2; ++u) {
        const int pair = u * sort_block + static_cast<int>(threadIdx.x);
        const int low = (pair >> step) << (step + 1) | (pair & ((1 << step) - 1));
        const int high = step == size - 1 ? low ^ ((2 << step) - 1) : low + (1 << step);
        order(items[low], items[high]);
      }
      __syncthreads();
    }
  }
}

template <bool Pairs, class Source, class Emit, class Key>
__global__ void __launch_bounds__(sort_block)
    sort_tile_kernel(const __grid_constant__ sort_tile_arguments<Pairs, Source, Emit, Key> arguments) {
  using Item = sort_item<Pairs, Key>;
  __shared__ Item items[sort_tile];
  const sort_plan& plan = arguments.plan;
  const int group = 1 << plan.log2_group, groups = sort_tile >> plan.log2_group;
  const index_t first_line = static_cast<index_t>(blockIdx.x) / plan.tiles * groups;
  const index_t tile = static_cast<index_t>(blockIdx.x) % plan.tiles;
  const index_t begin = tile * sort_tile;
  const int count = static_cast<int>(::min(plan.length - begin, static_cast<index_t>(group)));

  // Where a thread's items are: neighbours in memory for neighbouring threads.
  const auto line_in_tile = [&](int i) { return plan.crosswise ? i & (groups - 1) : i >> plan.log2_group; };
  const auto place_in_group = [&](int i) { return plan.crosswise ? i >> (11 - plan.log2_group) : i & (group - 1); };
  static_assert(sort_tile == 1 << 11);
#pragma unroll
  for (int u = 0; u < sort_items; ++u) {
    const int i = u * sort_block + static_cast<int>(threadIdx.x);
    const index_t line = first_line + line_in_tile(i);
    const int place = place_in_group(i);
    Item item = make_sort_item<Pairs>(~Key{0}, ~std::uint32_t{0});
    if (line < plan.lines && place < count) item = arguments.source.load(line, begin + place, plan.length);
    items[line_in_tile(i) * group + place] = item;
  }
  __syncthreads();
  sort_groups(items, plan.log2_group);
#pragma unroll
  for (int u = 0; u < sort_items; ++u) {
    const int i = u * sort_block + static_cast<int>(threadIdx.x);
    const index_t line = first_line + line_in_tile(i);
    const int place = place_in_group(i);
    const Item item = items[line_in_tile(i) * group + place];
    if (line >= plan.lines) continue;
    if (plan.tiles == 1) {
      if (place < ::min(static_cast<index_t>(count), plan.kept)) arguments.emit.store(line, place, item);
    } else if (place < ::min(static_cast<index_t>(count), plan.kept)) {
      arguments.buffer.store(line * plan.left + tile * ::min(plan.kept, static_cast<index_t>(sort_tile)) + place, item);
    }
  }
}

template <bool Pairs, class Emit, class Key>
struct merge_arguments {
  sort_plan plan;
  sort_buffer<Pairs, Key> from;
  sort_buffer<Pairs, Key> to;
  Emit emit;
  index_t width;  ///< of the sorted runs that are merged by twos
  bool last;
};

/// How many of the first `diagonal` items of two sorted runs come from the left one.
template <class Load>
__device__ inline index_t merge_path(index_t left, index_t right, index_t diagonal, const Load& load) {
  index_t low = diagonal > right ? diagonal - right : 0;
  index_t high = diagonal < left ? diagonal : left;
  while (low < high) {
    const index_t middle = (low + high) / 2;
    // Of equal keys the left run's go first.
    if (load.right(diagonal - 1 - middle) < load.left(middle))
      high = middle;
    else
      low = middle + 1;
  }
  return low;
}
template <class Buffer>
struct runs_in_buffer {
  const Buffer& buffer;
  index_t left_begin, right_begin;
  __device__ __forceinline__ auto left(index_t i) const { return buffer.load(left_begin + i); }
  __device__ __forceinline__ auto right(index_t i) const { return buffer.load(right_begin + i); }
};
template <class Item>
struct runs_in_tile {
  const Item* items;
  index_t left_count;
  __device__ __forceinline__ const Item& left(index_t i) const { return items[i]; }
  __device__ __forceinline__ const Item& right(index_t i) const { return items[left_count + i]; }
};

/// A block makes one tile of the merged line.
template <bool Pairs, class Emit, class Key>
__global__ void __launch_bounds__(sort_block)
    merge_kernel(const __grid_constant__ merge_arguments<Pairs, Emit, Key> arguments) {
  using Item = sort_item<Pairs, Key>;
  __shared__ Item items[sort_tile];
  __shared__ index_t path[2];
  const sort_plan& plan = arguments.plan;
  const index_t line = static_cast<index_t>(blockIdx.x) / plan.tiles;
  const index_t begin = static_cast<index_t>(blockIdx.x) % plan.tiles * sort_tile;
  const index_t end = ::min(begin + sort_tile, plan.length);
  if (arguments.last && begin >= plan.kept) return;
  const index_t pair_begin = begin / (2 * arguments.width) * (2 * arguments.width);
  const index_t left_count = ::min(arguments.width, plan.length - pair_begin);
  const index_t right_count = ::min(arguments.width, plan.length - pair_begin - left_count);
  const index_t base = line * plan.length + pair_begin;
  const int thread = static_cast<int>(threadIdx.x);
  if (thread % warp_size == 0 && thread / warp_size < 2) {
    const runs_in_buffer<sort_buffer<Pairs, Key>> runs{arguments.from, base, base + left_count};
    path[thread / warp_size] = merge_path(left_count, right_count, (thread == 0 ? begin : end) - pair_begin, runs);
  }
  __syncthreads();
  const index_t left_begin = path[0], left_end = path[1];
  const index_t right_begin = begin - pair_begin - left_begin;
  const int own_left = static_cast<int>(left_end - left_begin);
  const int count = static_cast<int>(end - begin);
#pragma unroll
  for (int u = 0; u < sort_items; ++u) {
    const int i = u * sort_block + thread;
    if (i >= count) continue;
    items[i] =
        arguments.from.load(i < own_left ? base + left_begin + i : base + left_count + right_begin + (i - own_left));
  }
  __syncthreads();
  const int first = ::min(thread * sort_items, count);
  int left = static_cast<int>(merge_path(own_left, count - own_left, first, runs_in_tile<Item>{items, own_left}));
  int right = first - left;
  Item merged[sort_items];
#pragma unroll
  for (int u = 0; u < sort_items; ++u) {
    if (first + u >= count) continue;
    const bool take_right = left == own_left || (own_left + right < count && items[own_left + right] < items[left]);
    merged[u] = items[take_right ? own_left + right : left];
    if (take_right)
      ++right;
    else
      ++left;
  }
  __syncthreads();
#pragma unroll
  for (int u = 0; u < sort_items; ++u)
    if (first + u < count) items[first + u] = merged[u];
  __syncthreads();
#pragma unroll
  for (int u = 0; u < sort_items; ++u) {
    const int i = u * sort_block + thread;
    if (i >= count) continue;
    if (!arguments.last)
      arguments.to.store(line * plan.length + begin + i, items[i]);
    else if (begin + i < plan.kept)
      arguments.emit.store(line, begin + i, items[i]);
  }
}

/// Memory for items of all lines.
template <bool Pairs, class Key>
struct sort_memory {
  StorageHandle keys, indices;
  sort_buffer<Pairs, Key> buffer;

  sort_memory(index_t count, const launch_context& context) {
    const auto items = static_cast<std::size_t>(count);
    keys = StorageHandle(cuda::allocate(items * sizeof(Key), Cuda{context.device}));
    buffer.key = static_cast<Key*>(keys->data);
    if constexpr (Pairs) {
      indices = StorageHandle(cuda::allocate(items * sizeof(std::uint32_t), Cuda{context.device}));
      buffer.index = static_cast<std::uint32_t*>(indices->data);
    }
  }
};

inline sort_plan plan_sort(index_t lines, index_t length, index_t kept, bool crosswise) {
  sort_plan plan{lines, length, kept, ceil_div(length, sort_tile), 0, 11, crosswise};
  if (plan.tiles == 1) plan.log2_group = log2_ceil(length, 11);
  if (plan.log2_group == 11) plan.crosswise = false;
  return plan;
}

template <bool Pairs, class Key, class Source, class Emit>
void sort_tiles(const sort_plan& plan, const Source& source, const Emit& emit, const sort_buffer<Pairs, Key>& buffer,
                const launch_context& context) {
  const sort_tile_arguments<Pairs, Source, Emit, Key> arguments{plan, source, emit, buffer};
  static_assert(sizeof(arguments) <= max_parameter_bytes, "this formula is too large for one kernel");
  const index_t blocks = ceil_div(plan.lines, sort_tile >> plan.log2_group) * plan.tiles;
  launch(sort_tile_kernel<Pairs, Source, Emit, Key>, grid_for(blocks, 1), sort_block, 0, context, arguments);
}

/// Hands the first `kept` items of each line to `emit`, in order.
template <bool Pairs, class Key, class Source, class Emit>
void sort_lines(const Source& source, const Emit& emit, index_t lines, index_t length, index_t kept, bool crosswise,
                const launch_context& context) {
  if (lines == 0 || length == 0 || kept == 0) return;
  sort_plan plan = plan_sort(lines, length, kept, crosswise);
  if (plan.tiles == 1) return sort_tiles<Pairs, Key>(plan, source, emit, {}, context);
  if constexpr (Pairs) {
    if (kept <= sort_tile / 2) {
      // Each pass keeps the first items of each tile.
      const auto left_after = [&](const sort_plan& now) {
        return (now.tiles - 1) * kept +
               (now.length - (now.tiles - 1) * sort_tile < kept ? now.length - (now.tiles - 1) * sort_tile : kept);
      };
      plan.left = left_after(plan);
      sort_memory<true, Key> now(lines * plan.left, context);
      sort_tiles<true, Key>(plan, source, emit, now.buffer, context);
      while (true) {
        sort_plan next = plan_sort(lines, plan.left, kept, false);
        if (next.tiles == 1)
          return sort_tiles<true, Key>(next, buffered_items<true, Key>{now.buffer}, emit, {}, context);
        next.left = left_after(next);
        sort_memory<true, Key> then(lines * next.left, context);
        sort_tiles<true, Key>(next, buffered_items<true, Key>{now.buffer}, emit, then.buffer, context);
        now = static_cast<sort_memory<true, Key>&&>(then);
        plan = next;
      }
    }
  }
  plan.left = length;
  plan.kept = length;
  sort_memory<Pairs, Key> now(lines * length, context), then(lines * length, context);
  sort_tiles<Pairs, Key>(plan, source, emit, now.buffer, context);
  plan.kept = kept;
  for (index_t width = sort_tile; width < length; width *= 2) {
    const bool last = 2 * width >= length;
    const merge_arguments<Pairs, Emit, Key> arguments{plan, now.buffer, then.buffer, emit, width, last};
    launch(merge_kernel<Pairs, Emit, Key>, grid_for(lines * plan.tiles, 1), sort_block, 0, context, arguments);
    const sort_buffer<Pairs, Key> sorted = then.buffer;
    then.buffer = now.buffer;
    now.buffer = sorted;
  }
}

}  // namespace on_cuda
}  // namespace HEDDLE_BUILD
}  // namespace heddle
