// The memory of a captured graph. A replay uses the addresses of the capture, so that what was made or let go of during
// a capture belongs to the graph as long as that can be launched, whatever becomes of the tensors.
#pragma once

#include "heddle/config.hpp"

#if HEDDLE_HAS_CUDA

#include <cstddef>

namespace heddle {
struct Storage;
}

namespace heddle::cuda {

struct Use;

/// What the stream of a captured graph keeps. It goes with the stream's state, which each tensor on the memory holds.
struct GraphMemory {
  /// An allocation made during the capture. One that was released during the capture serves the next that fits.
  struct Block {
    void* data;
    std::size_t bytes;
    bool in_use;
    Block* next;
  };
  Block* blocks = nullptr;
  Use* kept = nullptr;  ///< memory from before the capture that the graph uses and nobody else does any more
  bool open = true;     ///< the graph may still be launched
  bool busy = false;    ///< locked: by a thread that is at it for some instructions or an allocation
};

/// Holds a graph's memory against other threads until the end of the scope.
class GraphMemoryLock {
 public:
  explicit GraphMemoryLock(GraphMemory& memory) noexcept : memory_(memory) {
    while (__atomic_test_and_set(&memory_.busy, __ATOMIC_ACQUIRE)) {
    }
  }
  GraphMemoryLock(const GraphMemoryLock&) = delete;
  GraphMemoryLock& operator=(const GraphMemoryLock&) = delete;
  ~GraphMemoryLock() { __atomic_clear(&memory_.busy, __ATOMIC_RELEASE); }

 private:
  GraphMemory& memory_;
};

}  // namespace heddle::cuda

#endif  // HEDDLE_HAS_CUDA
