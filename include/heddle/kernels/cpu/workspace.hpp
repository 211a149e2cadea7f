// Scratch memory of the kernels: kept by each thread between calls, since fresh pages cost as much as packing a matrix.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <initializer_list>

#include "heddle/config.hpp"
#include "heddle/core/error.hpp"

namespace heddle {

/// A thread's two blocks of scratch memory: one for the kernel that calls parallel_for, one for the ranges inside it.
class Workspace {
 public:
  enum Use { shared_by_loop, within_range };

  /// At least `count` elements, uninitialised, aligned to a cache line, valid until the thread next asks for the same
  /// use. Throws OutOfMemory.
  template <class T>
  static T* get(Use use, std::size_t count) {
    return static_cast<T*>(block(use, count * sizeof(T)));
  }

 private:
  struct Block {
    void* data;
    std::size_t bytes;
  };
  // Frees the blocks when the thread ends. They are trivial variables of their own: a kernel that runs later than this
  // destructor, in another one, finds them empty and may fill them again.
  struct Release {
    ~Release() {
      for (int use : {0, 1}) {
        std::free(blocks_[use].data);
        blocks_[use] = Block{nullptr, 0};
      }
    }
  };

  static void* block(Use use, std::size_t bytes) {
    Block& kept = blocks_[use];
    if (bytes > kept.bytes) {
      static thread_local Release release;
      static_cast<void>(release);
      std::free(kept.data);
      kept = Block{nullptr, 0};
      const std::size_t rounded = (bytes + 4095) / 4096 * 4096;
      void* const data = std::aligned_alloc(4096, rounded);
      if (data == nullptr)
        throw OutOfMemory(Message{} << "no memory for a kernel's scratch of " << rounded << " bytes", rounded, 0);
      kept = Block{data, rounded};
    }
    return kept.data;
  }

  static inline thread_local Block blocks_[2] = {};
};

}  // namespace heddle
