// Reductions on the CPU.
//
// Each result is put together in a fixed order that depends on the extents alone: 64 lanes over a block of a few
// thousand elements, the lanes folded in halves, the blocks combined in pairs. So sums of any length keep their
// accuracy, the loop over the lanes vectorises, and the number of threads changes no bit. Where neighbouring results
// lie next to each other in memory (a sum over columns), they are accumulated side by side and memory is read in order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "heddle/config.hpp"
#include "heddle/core/shape.hpp"
#include "heddle/kernels/cpu/isa.hpp"
#include "heddle/kernels/cpu/pool.hpp"
#include "heddle/kernels/cpu/workspace.hpp"

namespace heddle {
inline namespace HEDDLE_BUILD {
namespace on_cpu {

inline constexpr index_t reduce_block = 64 * chunk;        // elements that are accumulated lane by lane
inline constexpr index_t reduce_run = 8 * chunk;           // elements that are loaded at once
inline constexpr index_t reduce_part = 16 * reduce_block;  // elements that threads share large reductions by
inline constexpr index_t reduce_many = 64;                 // results enough to share instead
inline constexpr int reduce_prefetch_bytes = 4096;         // how far ahead large reductions ask for memory
inline constexpr int reduce_columns = 8 * chunk;           // results that are accumulated side by side
inline constexpr index_t reduce_rows = 256;                // rows of them that make a block
inline constexpr index_t reduce_serial = 1 << 15;          // elements that are not worth a second thread

/// Combines a sequence of states in pairs, pairs of pairs and so on, whatever its length; several sequences side by
/// side.
template <class Reduction>
class pairwise {
  using State = typename Reduction::state;

 public:
  static constexpr int most_levels = 48;

  /// `levels`: memory for `width` states for each level; log2(length) + 1 levels are used.
  HEDDLE_ALWAYS_INLINE pairwise(const Reduction& reduction, State* levels, int width = 1)
      : reduction_(reduction), levels_(levels), width_(width) {}

  /// Adds each sequence's next state; they are overwritten.
  HEDDLE_ALWAYS_INLINE void push(State* states) {
    int level = 0;
    for (; (pushed_ >> level & 1) != 0; ++level) merge(levels_ + level * width_, states, states);
    copy(states, levels_ + level * width_);
    ++pushed_;
  }
  /// The combination of all, for at least one push.
  HEDDLE_ALWAYS_INLINE void finish(State* result) const {
    bool first = true;
    for (int level = 0; pushed_ >> level != 0; ++level) {
      if ((pushed_ >> level & 1) == 0) continue;
      if (first) {
        copy(levels_ + level * width_, result);
      } else {
        merge(levels_ + level * width_, result, result);
      }
      first = false;
    }
  }

 private:
  /// The earlier states stand on the left.
  HEDDLE_ALWAYS_INLINE void merge(const State* left, const State* right, State* to) const {
    for (int i = 0; i < width_; ++i) {
      State both = left[i];
      reduction_.combine(both, right[i]);
      to[i] = both;
    }
  }
  HEDDLE_ALWAYS_INLINE void copy(const State* from, State* to) const {
    for (int i = 0; i < width_; ++i) to[i] = from[i];
  }

  [[no_unique_address]] Reduction reduction_;
  State* const levels_;
  const int width_;
  std::uint64_t pushed_ = 0;
};

template <class Source, class Value>
HEDDLE_ALWAYS_INLINE void load_inner(const Source& source, const typename Source::Position& position, index_t inner,
                                     Value (&values)[chunk], int count) {
  if constexpr (requires { source.load_chunk(position, inner, values, count); }) {
    source.load_chunk(position, inner, values, count);
  } else {
    for (int j = 0; j < count; ++j) values[j] = source.load(position, inner + j);
  }
}

/// Any number of values: by one call where the source can, else a chunk at a time.
template <class Source, class Value>
HEDDLE_ALWAYS_INLINE void load_inner_run(const Source& source, const typename Source::Position& position, index_t inner,
                                         Value* values, index_t count) {
  if constexpr (requires { source.load_run(position, inner, values, count); }) {
    source.load_run(position, inner, values, count);
  } else {
    for (; count >= chunk; inner += chunk, values += chunk, count -= chunk)
      load_inner(source, position, inner, *reinterpret_cast<Value(*)[chunk]>(values), chunk);
    Value rest[chunk];
    if (count > 0) load_inner(source, position, inner, rest, static_cast<int>(count));
    for (index_t j = 0; j < count; ++j) values[j] = rest[j];
  }
}

/// Values of neighbouring groups at one inner index, where source.outer_is_contiguous().
template <class Source, class Value>
HEDDLE_ALWAYS_INLINE void load_outer_run(const Source& source, index_t outer, index_t inner, Value* values,
                                         index_t count) {
  if constexpr (requires { source.load_outer_run(source.at(outer), inner, values, count); }) {
    source.load_outer_run(source.at(outer), inner, values, count);
  } else {
    for (; count >= chunk; outer += chunk, values += chunk, count -= chunk)
      source.load_outer_chunk(source.at(outer), inner, *reinterpret_cast<Value(*)[chunk]>(values), chunk);
    Value rest[chunk];
    if (count > 0) source.load_outer_chunk(source.at(outer), inner, rest, static_cast<int>(count));
    for (index_t j = 0; j < count; ++j) values[j] = rest[j];
  }
}

/// Reduces elements begin to end of `count` groups to `results`.
template <class Reduction, class Source>
struct reduce_range {
  Reduction reduction;
  const Source& source;
  index_t outer, count, begin, end;
  typename Reduction::state* results;

  HEDDLE_ALWAYS_INLINE void operator()() const {
    for (index_t i = 0; i < count; ++i) {
      if (end - begin <= chunk) {
        results[i] = few(source.at(outer + i));
      } else {
        results[i] = many(source.at(outer + i));
      }
    }
  }

 private:
  using Input = typename Reduction::input;
  HEDDLE_ALWAYS_INLINE void accumulate(typename Reduction::state& state, typename Source::value_type value,
                                       index_t position) const {
    reduction.accumulate(state, static_cast<Input>(value), position);
  }

  HEDDLE_ALWAYS_INLINE typename Reduction::state few(const typename Source::Position& position) const {
    typename Source::value_type values[chunk];
    const int number = static_cast<int>(end - begin);
    typename Reduction::state state = reduction.identity();
    if (number > 0) load_inner(source, position, begin, values, number);
    for (int j = 0; j < number; ++j) accumulate(state, values[j], begin + j);
    return state;
  }

  HEDDLE_ALWAYS_INLINE typename Reduction::state many(const typename Source::Position& position) const {
    // Lanes of one number each are folded once, at the end; others would take too much memory.
    constexpr int width = std::is_arithmetic_v<typename Reduction::state> ? chunk : 1;
    typename Reduction::state levels[pairwise<Reduction>::most_levels * width];
    pairwise<Reduction> blocks(reduction, levels, width);
    typename Reduction::state lanes[chunk];
    for (index_t i = begin; i < end; i += reduce_block) {
      block(position, i, end - i < reduce_block ? end : i + reduce_block, lanes);
      if constexpr (width == 1) fold(lanes);
      blocks.push(lanes);
    }
    blocks.finish(lanes);
    if constexpr (width != 1) fold(lanes);
    return lanes[0];
  }

  HEDDLE_ALWAYS_INLINE void fold(typename Reduction::state (&lanes)[chunk]) const {
    for (int half = chunk / 2; half > 0; half /= 2)
      for (int j = 0; j < half; ++j) reduction.combine(lanes[j], lanes[j + half]);
  }

  HEDDLE_ALWAYS_INLINE const typename Source::value_type* address_of(const typename Source::Position& position) const {
    if constexpr (requires { source.in_place(position); })
      return source.in_place(position);
    else
      return nullptr;
  }

  /// Whole chunks; returns how many values they are. Accumulators ought to stay in registers: the less a core has to do
  /// for a line of memory, the more lines it asks for at once.
  template <bool Large>
  HEDDLE_ALWAYS_INLINE index_t add_chunks(typename Reduction::state (&lanes)[chunk],
                                          const typename Source::value_type* values, index_t number,
                                          index_t position) const {
    index_t k = 0;
#if defined(__clang__)
    // Keeps them in memory in any case, where several chunks at a time wait for it once.
    for (; k + 4 * chunk <= number; k += 4 * chunk) {
      for (int j = 0; j < chunk; ++j) {
        typename Reduction::state lane = lanes[j];
        accumulate(lane, values[k + j], position + k + j);
        accumulate(lane, values[k + chunk + j], position + k + chunk + j);
        accumulate(lane, values[k + 2 * chunk + j], position + k + 2 * chunk + j);
        accumulate(lane, values[k + 3 * chunk + j], position + k + 3 * chunk + j);
        lanes[j] = lane;
      }
    }
#else
    constexpr int lines = chunk * static_cast<int>(sizeof(typename Source::value_type)) / line_bytes;
    for (; k + chunk <= number; k += chunk)
      add_lines<Large>(lanes, values + k, position + k, std::make_integer_sequence<int, lines>{});
#endif
    return k;
  }
  static constexpr int line_bytes = 64;
  template <bool Large, int... L>
  HEDDLE_ALWAYS_INLINE void add_lines(typename Reduction::state (&lanes)[chunk],
                                      const typename Source::value_type* values, index_t position,
                                      std::integer_sequence<int, L...>) const {
    (add_line<Large, L>(lanes, values, position), ...);
  }
  template <bool Large, int Line>
  HEDDLE_ALWAYS_INLINE void add_line(typename Reduction::state (&lanes)[chunk],
                                     const typename Source::value_type* values, index_t position) const {
    constexpr int width = line_bytes / static_cast<int>(sizeof(typename Source::value_type));
    constexpr int first = Line * width;
    // The hardware reads ahead to the end of a page only.
    if (Large) __builtin_prefetch(reinterpret_cast<const char*>(values + first) + reduce_prefetch_bytes);
    for (int j = 0; j < width; ++j) accumulate(lanes[first + j], values[first + j], position + first + j);
  }

  /// Less than a chunk: all lanes are computed and those that count are kept, which vectorises.
  HEDDLE_ALWAYS_INLINE void add_rest(typename Reduction::state (&lanes)[chunk],
                                     const typename Source::value_type* values, int number, index_t position) const {
    if constexpr (std::is_arithmetic_v<typename Reduction::state>) {
      typename Source::value_type padded[chunk] = {};
      for (int j = 0; j < number; ++j) padded[j] = values[j];
      for (int j = 0; j < chunk; ++j) {
        typename Reduction::state next = lanes[j];
        accumulate(next, padded[j], position + j);
        lanes[j] = j < number ? next : lanes[j];
      }
    } else {
      for (int j = 0; j < number; ++j) accumulate(lanes[j], values[j], position + j);
    }
  }

  HEDDLE_ALWAYS_INLINE void block(const typename Source::Position& position, index_t i, index_t last,
                                  typename Reduction::state (&lanes)[chunk]) const {
    for (int j = 0; j < chunk; ++j) lanes[j] = reduction.identity();
    alignas(64) typename Source::value_type held[reduce_run];
    const typename Source::value_type* const in_place = address_of(position);
    while (i < last) {
      const index_t most = in_place == nullptr ? reduce_run : reduce_block;
      const index_t now = last - i < most ? last - i : most;
      if (in_place == nullptr) load_inner_run(source, position, i, held, now);
      const typename Source::value_type* const values = in_place == nullptr ? held : in_place + i;
      index_t k = 0;
      if constexpr (std::is_arithmetic_v<typename Reduction::state>) {
        if (end - begin >= reduce_part)
          k = add_chunks<true>(lanes, values, now, i);
        else
          k = add_chunks<false>(lanes, values, now, i);
      }
      for (; k + chunk <= now; k += chunk)
        for (int j = 0; j < chunk; ++j) accumulate(lanes[j], values[k + j], i + k + j);
      if (k < now) add_rest(lanes, values + k, static_cast<int>(now - k), i + k);
      i += now;
    }
  }
};

/// Reduces rows begin to end of up to reduce_columns neighbouring groups to `results`, of which `count` count.
template <class Reduction, class Source>
struct reduce_columns_range {
  Reduction reduction;
  const Source& source;
  index_t outer;
  int count;
  index_t begin, end;
  typename Reduction::state* results;  // reduce_columns of them
  typename Reduction::state* levels;   // as pairwise wants them

  HEDDLE_ALWAYS_INLINE void operator()() const {
    // Zeros beyond `count`: lanes that nobody asks for are reduced along with the others.
    alignas(64) typename Source::value_type values[reduce_columns] = {};
    const int width = (count + chunk - 1) / chunk * chunk;
    pairwise<Reduction> blocks(reduction, levels, width);
    for (index_t i = begin; i < end; i += reduce_rows) {
      const index_t last = end - i < reduce_rows ? end : i + reduce_rows;
      for (int c = 0; c < width; ++c) results[c] = reduction.identity();
      for (index_t row = i; row < last; ++row) add_row(row, values);
      blocks.push(results);
    }
    blocks.finish(results);
  }

 private:
  HEDDLE_ALWAYS_INLINE void add_row(index_t row, typename Source::value_type (&values)[reduce_columns]) const {
    using Input = typename Reduction::input;
    load_outer_run(source, outer, row, values, count);
    for (int c = 0; c < count; c += chunk) {
      // In an array of their own, which nothing else can point to, the states' loop vectorises.
      typename Reduction::state states[chunk];
      for (int j = 0; j < chunk; ++j) states[j] = results[c + j];
      for (int j = 0; j < chunk; ++j) reduction.accumulate(states[j], static_cast<Input>(values[c + j]), row);
      for (int j = 0; j < chunk; ++j) results[c + j] = states[j];
    }
  }
};

/// Stores results of neighbouring groups.
template <class Reduction, class Sink>
struct store_results {
  Reduction reduction;
  const Sink& sink;
  index_t outer, count;
  const typename Reduction::state* states;
  index_t inner_count;

  HEDDLE_ALWAYS_INLINE void operator()() const {
    using Result = typename Reduction::result;
    if constexpr (requires(const Result* values) { sink.store_outer_run(sink.at(outer), values, count); }) {
      Result values[chunk];
      for (index_t i = 0; i < count; i += chunk) {
        const index_t now = count - i < chunk ? count - i : chunk;
        for (index_t j = 0; j < now; ++j) values[j] = reduction.finish(states[i + j], inner_count);
        sink.store_outer_run(sink.at(outer + i), values, now);
      }
    } else {
      for (index_t i = 0; i < count; ++i)
        sink.store(sink.at(outer + i), 0, 0, reduction.finish(states[i], inner_count));
    }
  }
};

/// Group by group: the elements of a group are read in order.
template <class Reduction, class Source, class Sink>
void reduce_by_groups(const Reduction& reduction, const Source& source, const Sink& sink, index_t outer_count,
                      index_t inner_count) {
  using State = typename Reduction::state;
  if (outer_count >= reduce_many || inner_count <= reduce_part) {
    parallel_for(outer_count, reduce_serial / (inner_count + 8) + 1, [&](index_t begin, index_t end) {
      State states[chunk];
      for (index_t outer = begin; outer < end; outer += chunk) {
        const index_t count = end - outer < chunk ? end - outer : chunk;
        vectorised(reduce_range<Reduction, Source>{reduction, source, outer, count, 0, inner_count, states});
        vectorised(store_results<Reduction, Sink>{reduction, sink, outer, count, states, inner_count});
      }
    });
    return;
  }
  const index_t parts = (inner_count - 1) / reduce_part + 1;
  State* const states = Workspace::get<State>(Workspace::shared_by_loop, static_cast<std::size_t>(outer_count * parts));
  parallel_for(outer_count * parts, 1, [&](index_t begin, index_t end) {
    for (index_t i = begin; i < end; ++i) {
      const index_t first = i % parts * reduce_part;
      const index_t last = inner_count - first < reduce_part ? inner_count : first + reduce_part;
      vectorised(reduce_range<Reduction, Source>{reduction, source, i / parts, 1, first, last, states + i});
    }
  });
  for (index_t outer = 0; outer < outer_count; ++outer) {
    State levels[pairwise<Reduction>::most_levels];
    pairwise<Reduction> all(reduction, levels);
    for (index_t part = 0; part < parts; ++part) all.push(states + outer * parts + part);
    State state = reduction.identity();
    all.finish(&state);
    store_results<Reduction, Sink>{reduction, sink, outer, 1, &state, inner_count}();
  }
}

/// Many neighbouring groups side by side: row after row of them is read in order.
template <class Reduction, class Source, class Sink>
void reduce_by_columns(const Reduction& reduction, const Source& source, const Sink& sink, index_t outer_count,
                       index_t inner_count) {
  using State = typename Reduction::state;
  const index_t tiles = (outer_count - 1) / reduce_columns + 1;
  const index_t width = outer_count < reduce_columns ? outer_count : reduce_columns;
  const index_t part_rows = tiles < reduce_many ? (reduce_part / width / reduce_rows + 1) * reduce_rows : inner_count;
  const index_t parts = (inner_count - 1) / part_rows + 1;
  int level_count = 1;
  while ((reduce_rows << (level_count - 1)) < part_rows) ++level_count;
  State* const part_states =
      parts == 1
          ? nullptr
          : Workspace::get<State>(Workspace::shared_by_loop, static_cast<std::size_t>(parts * tiles * reduce_columns));
  const auto tile_width = [&](index_t tile) {
    const index_t left = outer_count - tile * reduce_columns;
    return left < reduce_columns ? static_cast<int>(left) : reduce_columns;
  };
  parallel_for(tiles * parts, reduce_serial / (width * part_rows) + 1, [&](index_t begin, index_t end) {
    State* const levels =
        Workspace::get<State>(Workspace::within_range, static_cast<std::size_t>((level_count + 2) * reduce_columns));
    State* const own = levels + (level_count + 1) * reduce_columns;
    for (index_t i = begin; i < end; ++i) {
      const index_t tile = i / parts;
      const index_t first = i % parts * part_rows;
      const index_t last = inner_count - first < part_rows ? inner_count : first + part_rows;
      State* const results = parts == 1 ? own : part_states + i * reduce_columns;
      vectorised(reduce_columns_range<Reduction, Source>{reduction, source, tile * reduce_columns, tile_width(tile),
                                                         first, last, results, levels});
      if (parts == 1)
        vectorised(store_results<Reduction, Sink>{reduction, sink, tile * reduce_columns, tile_width(tile), results,
                                                  inner_count});
    }
  });
  if (parts == 1) return;
  for (index_t tile = 0; tile < tiles; ++tile) {
    State* const states = part_states + tile * parts * reduce_columns;
    for (index_t step = 1; step < parts; step *= 2)
      for (index_t part = 0; part + step < parts; part += 2 * step)
        for (int c = 0; c < tile_width(tile); ++c)
          reduction.combine(states[part * reduce_columns + c], states[(part + step) * reduce_columns + c]);
    vectorised(
        store_results<Reduction, Sink>{reduction, sink, tile * reduce_columns, tile_width(tile), states, inner_count});
  }
}

/// One result from each of outer_count groups of inner_count elements: sink.store(sink.at(outer), 0, 0, result) once
/// for each. reduction.combine must not mind the order of its arguments, save by the positions it was given.
///
/// Example: `on_cpu::reduce<sum_reduction<float>>(source, sink, rows, columns);`
template <class Reduction, class Source, class Sink>
void reduce(const Source& source, const Sink& sink, index_t outer_count, index_t inner_count,
            const Reduction& reduction = {}) {
  if (outer_count <= 0) return;
  if constexpr (requires { source.outer_is_contiguous(); }) {
    constexpr index_t few = 8;  // groups that would leave most lanes empty
    if (outer_count >= few && inner_count > 1 && source.outer_is_contiguous())
      return reduce_by_columns(reduction, source, sink, outer_count, inner_count);
  }
  reduce_by_groups(reduction, source, sink, outer_count, inner_count);
}

}  // namespace on_cpu
}  // namespace HEDDLE_BUILD
}  // namespace heddle
