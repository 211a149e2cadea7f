// Elementwise on CUDA: one launch and one pass over memory, whatever the formula. Axes are ordered by the output's
// strides and adjacent ones collapsed on the host, which then chooses one of four kernels:
//   map_flat   everything lies as the output does, without gaps: 16 bytes a thread and access
//   map_rows   the innermost axis of every leaf is contiguous (or one element repeated): the same, row by row
//   map_tiles  a leaf is contiguous along another axis than the output: it goes through shared memory
//   map_rows with one element a thread: everything else
// Bytes moved: each leaf once, the output once; the floor is those bytes over the DRAM's rate.
#pragma once

#include "heddle/kernels/cuda/map_rows.cuh"
#include "heddle/kernels/cuda/map_tiles.cuh"

namespace heddle {
inline namespace HEDDLE_BUILD {
namespace on_cuda {

/// The index space of a map: axes ordered by the output's strides, collapsed. Row 0 of the strides is the output's.
template <int Leaves, int Rank>
struct map_space {
  static constexpr int capacity = Rank > 0 ? Rank : 1;
  index_t size = 1;
  int rank = 0;
  index_t extent[static_cast<std::size_t>(capacity)] = {};
  index_t stride[static_cast<std::size_t>(Leaves + 1)][static_cast<std::size_t>(capacity)] = {};

  index_t inner(int r) const { return rank == 0 ? 0 : stride[r][rank - 1]; }
};

/// Whether a row can be read V elements at a time: one step along the innermost axis (or none), all else a multiple of
/// V.
template <int V, class T>
bool reads_vectors(const void* data, const index_t* stride, int rank) {
  constexpr std::uintptr_t alignment = is_number_v<T> ? sizeof(T) * V : alignof(vector_of<T, V>);
  if (rank == 0) return true;
  if (stride[rank - 1] == 0) return true;
  if (stride[rank - 1] != 1 || reinterpret_cast<std::uintptr_t>(data) % alignment != 0) return false;
  for (int a = 0; a < rank - 1; ++a)
    if (stride[a] * static_cast<index_t>(sizeof(T)) % static_cast<index_t>(alignment) != 0) return false;
  return true;
}

template <class Form, int V, class Space, int... S>
bool all_read_vectors([[maybe_unused]] const Space& space, [[maybe_unused]] const void* const* data,
                      std::integer_sequence<int, S...>) {
  return (reads_vectors<V, typename leaf_type<S, Form>::type>(data[S], space.stride[S + 1], space.rank) && ...);
}

/// Threads side by side along the columns, as a power of 2: few of them idle.
inline unsigned lanes_along(index_t columns) {
  unsigned best = 0;
  double most = 0;
  for (unsigned log2 = 0; (1 << log2) <= map_block; ++log2) {
    const index_t lanes = index_t{1} << log2;
    const index_t taken = (columns + lanes - 1) / lanes * lanes;
    const double used = static_cast<double>(columns) / static_cast<double>(taken);
    if (lanes > 2 * columns && log2 > 0) break;
    // Wide rows of threads first, as long as they are about as well used: neighbours read neighbours.
    if (used >= (log2 <= 5 ? 0.6 : 0.9) * most) best = log2;
    most = used > most ? used : most;
  }
  return best;
}

/// How rows that begin anywhere can be taken in vectors: see map_arguments. Phase 0: they can't.
template <int Leaves>
struct row_phase {
  unsigned phase = 0;
  bool single[static_cast<std::size_t>(Leaves > 0 ? Leaves : 1)] = {};
};
template <class Form, class Out, int V, int Leaves, int Rank, int... S>
row_phase<Leaves> find_phase(const map_space<Leaves, Rank>& space, const Out* out,
                             [[maybe_unused]] const void* const* data, std::integer_sequence<int, S...>) {
  constexpr index_t worthwhile = 16 * V;
  row_phase<Leaves> found;
  if (space.rank != 2 || space.inner(0) != 1 || space.extent[1] < worthwhile) return found;
  const auto phase_of = [&](int r) { return static_cast<unsigned>(space.stride[r][0]) & unsigned{V - 1}; };
  const auto is_aligned = [](const void* place, std::size_t bytes) {
    return reinterpret_cast<std::uintptr_t>(place) % bytes == 0;
  };
  const auto fits = [&](bool is_number, std::size_t bytes, int s) {
    if (is_number) return false;
    if (space.inner(s + 1) == 0) return true;
    if (space.inner(s + 1) != 1) return false;
    const bool alike = phase_of(s + 1) == phase_of(0) && is_aligned(data[s], bytes);
    found.single[s] = !alike;
    return alike || space.stride[s + 1][0] == 0;
  };
  const bool all_fit = (fits(is_number_v<typename leaf_type<S, Form>::type>,
                             alignof(vector_of<typename leaf_type<S, Form>::type, V>), S) &&
                        ...);
  if (all_fit && is_aligned(out, alignof(vector_of<Out, V>))) found.phase = phase_of(0);
  return found;
}

template <class Form, class Out, int Leaves, int Rank, int V>
void launch_rows(const bound_formula<Form, Out, Leaves, Rank>& bound, const map_space<Leaves, Rank>& space,
                 const launch_context& context, const row_phase<Leaves>& rows = {}) {
  map_arguments<Form, Out, Leaves, Rank> arguments{.form = bound.form, .out = bound.out, .data = {}, .outer = {}};
  static_assert(sizeof(arguments) <= max_parameter_bytes, "this formula is too large for one kernel");
  for (int r = 0; r < Leaves; ++r) arguments.data[r] = bound.table.data[r];
  const int outer_rank = space.rank > 1 ? space.rank - 1 : 0;
  if (space.rank > 0) arguments.columns = space.extent[space.rank - 1];
  arguments.rows = space.size / arguments.columns;
  arguments.outer.rank = outer_rank;
  arguments.outer.small = arguments.rows <= fast_division_limit;
  for (int r = 0; r <= Leaves; ++r) {
    const int place = r == 0 ? Leaves : r - 1;
    arguments.step[place] = space.inner(r);
    for (int a = 0; a < outer_rank; ++a) arguments.outer.stride[a][place] = space.stride[r][a];
  }
  for (int a = 0; a < outer_rank; ++a) {
    arguments.outer.extent[a] = space.extent[a];
    if (arguments.outer.small) arguments.outer.divisor[a] = fast_divisor(static_cast<std::uint32_t>(space.extent[a]));
  }
  constexpr int unroll = row_unroll<Form, Leaves, V>;
  // A thread's vectors lie below each other, or side by side where each row has to be found by division.
  const index_t vectors = (arguments.columns + V - 1) / V + (rows.phase == 0 ? 0 : 1);
  arguments.phase = rows.phase;
  for (int r = 0; r < Leaves; ++r) arguments.single[r] = rows.single[r];
  const bool downwards = outer_rank == 1 || (outer_rank > 1 && vectors < 2 * unroll);
  const index_t runs = downwards ? vectors : (vectors + unroll - 1) / unroll;
  arguments.log2_lanes = lanes_along(runs);
  // A thread's rows begin alike.
  while ((static_cast<unsigned>(map_block) >> arguments.log2_lanes) * rows.phase % V != 0) --arguments.log2_lanes;
  const unsigned lanes = 1U << arguments.log2_lanes;
  const unsigned height = static_cast<unsigned>(map_block) >> arguments.log2_lanes;
  arguments.lane_mask = lanes - 1;
  arguments.next_row = downwards ? height : 0;
  arguments.next_column = downwards ? 0 : lanes * V;
  arguments.block_rows = downwards ? height * unroll : height;
  arguments.block_columns = downwards ? lanes * V : lanes * V * unroll;
  const index_t whole_columns = arguments.columns - V + 1 - (unroll - 1) * static_cast<index_t>(arguments.next_column);
  arguments.whole_columns = static_cast<std::uint64_t>(whole_columns > 0 ? whole_columns : 0);
  // Below each other is a step that is always the same only along a single axis.
  if (!downwards || outer_rank == 1)
    arguments.whole_rows = arguments.rows - (unroll - 1) * static_cast<index_t>(arguments.next_row);
  for (int r = 0; r <= Leaves; ++r)
    arguments.jump[r] = downwards ? static_cast<index_t>(height) * arguments.outer.stride[0][r]
                                  : static_cast<index_t>(lanes * V) * arguments.step[r];
  const index_t across = (runs + lanes - 1) / lanes;
  const dim3 grid(grid_for(arguments.rows, arguments.block_rows), grid_for(across, 1, grid_edge),
                  grid_for(across, grid_edge));
  launch(map_rows<Form, Out, Leaves, Rank, V>, grid, map_block, 0, context, arguments);
}

/// The axis that goes through shared memory, or -1: some leaf is contiguous along it and not along the columns.
template <class Form, int Leaves, int Rank, int... S>
int tiled_axis([[maybe_unused]] const map_space<Leaves, Rank>& space, std::integer_sequence<int, S...>) {
  constexpr index_t least = 8;  // of both extents
  if (space.rank < 2 || space.inner(0) != 1 || space.extent[space.rank - 1] < least) return -1;
  int chosen = -1;
  const auto look_at = [&](bool is_number, int r) {
    const index_t step = space.inner(r);
    if (is_number || chosen >= 0 || step == 0 || step == 1) return;
    for (int a = 0; a < space.rank - 1; ++a)
      if (space.stride[r][a] == 1 && space.extent[a] >= least) chosen = a;
  };
  (look_at(is_number_v<typename leaf_type<S, Form>::type>, S + 1), ...);
  return chosen;
}

template <class Form, class Out, int Leaves, int Rank, int... S>
bool launch_tiles(const bound_formula<Form, Out, Leaves, Rank>& bound, const map_space<Leaves, Rank>& space,
                  const launch_context& context, std::integer_sequence<int, S...> slots) {
  const int axis = tiled_axis<Form>(space, slots);
  if (axis < 0) return false;
  tile_arguments<Form, Out, Leaves, Rank> arguments{.form = bound.form, .out = bound.out, .data = {}, .batch = {}};
  static_assert(sizeof(arguments) <= max_parameter_bytes, "this formula is too large for one kernel");
  std::size_t shared = 0;
  const auto stage = [&](bool is_number, std::size_t bytes, int s) {
    arguments.data[s] = bound.table.data[s];
    arguments.staged[s] = -1;
    if (is_number || space.stride[s + 1][axis] != 1 || space.inner(s + 1) == 0 || space.inner(s + 1) == 1) return;
    arguments.staged[s] = static_cast<int>(shared);
    shared += (tile_edge * tile_pitch * bytes + 15) / 16 * 16;
  };
  (stage(is_number_v<typename leaf_type<S, Form>::type>, sizeof(typename leaf_type<S, Form>::type), S), ...);
  if (shared > shared_memory_by_default) return false;
  arguments.rows = space.extent[axis];
  arguments.columns = space.extent[space.rank - 1];
  const index_t row_tiles = (arguments.rows + tile_edge - 1) / tile_edge;
  const index_t column_tiles = (arguments.columns + tile_edge - 1) / tile_edge;
  const index_t batches = space.size / (arguments.rows * arguments.columns);
  arguments.batch.small = batches <= fast_division_limit;
  for (int a = 0; a < space.rank - 1; ++a) {
    if (a == axis) continue;
    const int to = arguments.batch.rank++;
    arguments.batch.extent[to] = space.extent[a];
    if (arguments.batch.small) arguments.batch.divisor[to] = fast_divisor(static_cast<std::uint32_t>(space.extent[a]));
    for (int r = 0; r <= Leaves; ++r) arguments.batch.stride[to][r == 0 ? Leaves : r - 1] = space.stride[r][a];
  }
  for (int r = 0; r <= Leaves; ++r) {
    arguments.row_step[r == 0 ? Leaves : r - 1] = space.stride[r][axis];
    arguments.column_step[r == 0 ? Leaves : r - 1] = space.inner(r);
  }
  const index_t blocks = batches * row_tiles * column_tiles;
  if (blocks > max_grid_x) return false;
  arguments.row_tiles = fast_divisor(static_cast<std::uint32_t>(row_tiles));
  arguments.column_tiles = fast_divisor(static_cast<std::uint32_t>(column_tiles));
  launch(map_tiles<Form, Out, Leaves, Rank>, dim3(static_cast<unsigned>(blocks)), map_block, shared, context,
         arguments);
  return true;
}

template <class Form, class Out, int Leaves, int V>
void launch_flat(const Form& form, Out* out, const void* const* data, index_t size, const launch_context& context) {
  flat_arguments<Form, Out, Leaves> arguments{.form = form, .out = out, .data = {}, .size = size, .tiles = 0};
  for (int r = 0; r < Leaves; ++r) arguments.data[r] = data[r];
  constexpr index_t tile = index_t{flat_block} * flat_unroll<Form, Leaves, V> * V;
  arguments.tiles = static_cast<std::uint32_t>(size / tile);
  const index_t tiles = size / tile + (size % tile != 0);
  // Many tiles are taken by the blocks that are resident, a few by a block each.
  unsigned grid = resident_grid<map_flat<Form, Out, Leaves, V>>(tiles, flat_block, 0, context);
  if (tiles < 8 * static_cast<index_t>(grid)) grid = grid_for(tiles, 1);
  launch(map_flat<Form, Out, Leaves, V>, grid, flat_block, 0, context, arguments);
}

/// Computes a bound formula of maps into its output: one launch.
template <class Form, class Out, int Leaves, int Rank>
void map(const bound_formula<Form, Out, Leaves, Rank>& bound, const launch_context& context) {
  static_assert(std::is_trivially_copyable_v<Form>, "a functor in a formula must be trivially copyable");
  constexpr int V = vector_lanes<Form, Out, Leaves>();
  constexpr auto slots = std::make_integer_sequence<int, Leaves>{};
  map_space<Leaves, Rank> space;
  if constexpr (Rank > 0) {
    for (int i = 0; i < Rank; ++i) {
      space.extent[i] = bound.shape[i];
      space.size *= bound.shape[i];
      space.stride[0][i] = bound.out_stride[i];
      for (int r = 0; r < Leaves; ++r) space.stride[r + 1][i] = bound.table.stride[r][i];
    }
    space.rank = collapse_axes(Rank, space.extent, &space.stride[0][0], Leaves + 1, space.capacity, true);
  }
  if (space.size == 0) return;
  const bool by_vectors = (space.rank == 0 || space.inner(0) == 1) &&
                          reads_vectors<V, Out>(bound.out, space.stride[0], space.rank) &&
                          all_read_vectors<Form, V>(space, bound.table.data, slots);
  if (by_vectors) {
    bool flat = space.rank == 1 && space.size / V < INT64_C(0x40000000000);  // tiles are counted in 32 bits
    for (int r = 0; r <= Leaves; ++r) flat = flat && space.inner(r) == 1;
    if (flat) return launch_flat<Form, Out, Leaves, V>(bound.form, bound.out, bound.table.data, space.size, context);
    // No kernel of its own for one operand of one axis, which is hardly ever broadcast, and for double, whose single
    // elements are wide enough.
    if constexpr ((Leaves != 1 || Rank > 1) && !has_double<Form, Leaves>)
      return launch_rows<Form, Out, Leaves, Rank, V>(bound, space, context);
  }
  if constexpr (Leaves > 1 && Rank > 1 && V > 1 && !has_double<Form, Leaves>) {
    const auto rows = find_phase<Form, Out, V>(space, bound.out, bound.table.data, slots);
    if (rows.phase != 0) return launch_rows<Form, Out, Leaves, Rank, V>(bound, space, context, rows);
  }
  if constexpr (Leaves > 0 && Rank > 1) {
    if (launch_tiles(bound, space, context, slots)) return;
  }
  launch_rows<Form, Out, Leaves, Rank, 1>(bound, space, context);
}

/// The bytes that the largest of the kernels' parameters take.
template <class Form, class Out, int Leaves, int Rank>
constexpr std::size_t map_parameter_bytes() {
  constexpr std::size_t rows = sizeof(map_arguments<Form, Out, Leaves, Rank>);
  constexpr std::size_t tiles = sizeof(tile_arguments<Form, Out, Leaves, Rank>);
  return rows > tiles ? rows : tiles;
}

}  // namespace on_cuda
}  // namespace HEDDLE_BUILD
}  // namespace heddle
