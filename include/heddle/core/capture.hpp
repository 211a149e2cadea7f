// Whether the calling thread's work is being recorded for replays rather than done.
#pragma once

#include "heddle/config.hpp"
#include "heddle/core/error.hpp"

namespace heddle {

/// How many captures of a CUDA graph the calling thread is in. Known without CUDA too: what would be the same in each
/// replay asks.
HEDDLE_SHARED constinit inline thread_local int captures_under_way = 0;

/// Throws UnsupportedError in a capture: for what needs the host, and so has no place in a graph.
inline void require_no_capture(const char* what) {
  if (captures_under_way > 0) [[unlikely]] {
    throw UnsupportedError(
        Message{} << what
                  << " can't be captured: a graph's replays go on without the host. Move it before or "
                     "behind the capture (item, to_vector, printing, copies to and from the host)");
  }
}

}  // namespace heddle
