// Reductions on the CPU: each result from a chunk of lanes, combined in a fixed order.
#pragma once

#include "heddle/core/shape.hpp"
#include "heddle/kernels/cpu/isa.hpp"
#include "heddle/kernels/cpu/pool.hpp"

namespace heddle {
inline namespace HEDDLE_BUILD {
namespace on_cpu {

/// One result from each of outer_count groups of inner_count elements.
template <class Reduction, class Source, class Sink>
void reduce(const Source& source, const Sink& sink, index_t outer_count, index_t inner_count) {
  using State = typename Reduction::state;
  using Input = typename Reduction::input;
  parallel_for(outer_count, inner_count > 16384 ? 1 : 16384 / (inner_count + 1) + 1, [&](index_t begin, index_t end) {
    for (index_t outer = begin; outer < end; ++outer) {
      const auto position = source.at(outer);
      State lane[chunk];
      for (State& one : lane) one = Reduction::identity();
      typename Source::value_type value[chunk];
      for (index_t inner = 0; inner < inner_count; inner += chunk) {
        const int count = inner_count - inner < chunk ? static_cast<int>(inner_count - inner) : chunk;
        source.load_chunk(position, inner, value, count);
        for (int j = 0; j < count; ++j) Reduction::accumulate(lane[j], static_cast<Input>(value[j]), inner + j);
      }
      for (int width = 1; width < chunk; width *= 2)
        for (int j = 0; j < chunk; j += 2 * width) Reduction::combine(lane[j], lane[j + width]);
      sink.store(sink.at(outer), 0, 0, Reduction::finish(lane[0], inner_count));
    }
  });
}

}  // namespace on_cpu
}  // namespace HEDDLE_BUILD
}  // namespace heddle
