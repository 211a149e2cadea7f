// Whether the calling thread's work is being recorded for replays rather than done.
#pragma once

#include "heddle/config.hpp"

namespace heddle {

/// How many captures of a CUDA graph the calling thread is in. Known without CUDA too: what would be the same in each
/// replay asks.
HEDDLE_SHARED constinit inline thread_local int captures_under_way = 0;

}  // namespace heddle
