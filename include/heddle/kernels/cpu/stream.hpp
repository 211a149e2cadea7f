// Stores that go around the caches. An ordinary store reads its cache line first, a third more traffic for a map of two
// operands, and puts out of the caches what may be needed again: for large outputs that is memory's time for nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "heddle/config.hpp"
#include "heddle/core/shape.hpp"
#include "heddle/kernels/cpu/isa.hpp"

namespace heddle {
inline namespace HEDDLE_BUILD {
namespace on_cpu {

/// Bytes of an output from which on it is written around the caches.
inline constexpr index_t stream_least_bytes = index_t{32} << 20;
/// What the memory that is written so is aligned to.
inline constexpr std::size_t stream_alignment = 64;

/// Asks for what will be read a page after `from`, as much as a block of lanes: the hardware stops at the end of a
/// page, and a formula of many operations leaves it no room to look further ahead.
template <int Count, class T>
HEDDLE_ALWAYS_INLINE void prefetch_ahead(const T* from) {
  constexpr std::size_t bytes = Count * sizeof(T);
  const char* const ahead = reinterpret_cast<const char*>(from) + 4096;
  __builtin_prefetch(ahead);
  if (bytes > stream_alignment) __builtin_prefetch(ahead + stream_alignment);
}

/// Copies cache lines around the caches; `to` is aligned to them. In assembler: the compilers' intrinsics take vector
/// types, and nvcc none.
[[gnu::noinline]] inline void stream_lines(char* to, const char* from, std::size_t lines) {
#if HEDDLE_X86
  const Isa isa = cpu_isa();
  const char* const end = from + lines * stream_alignment;
  if (isa == Isa::avx512) {
    for (; from != end; from += stream_alignment, to += stream_alignment)
      asm volatile("vmovups (%1), %%zmm0\n\tvmovntps %%zmm0, (%0)" : : "r"(to), "r"(from) : "xmm0", "memory");
    asm volatile("vzeroupper" : : : "memory");
  } else {
    for (; from != end; from += stream_alignment, to += stream_alignment)
      asm volatile(
          "movups (%1), %%xmm0\n\tmovups 16(%1), %%xmm1\n\tmovups 32(%1), %%xmm2\n\tmovups 48(%1), %%xmm3\n\t"
          "movntps %%xmm0, (%0)\n\tmovntps %%xmm1, 16(%0)\n\tmovntps %%xmm2, 32(%0)\n\tmovntps %%xmm3, 48(%0)"
          :
          : "r"(to), "r"(from)
          : "xmm0", "xmm1", "xmm2", "xmm3", "memory");
  }
#else
  std::memcpy(to, from, lines * stream_alignment);
#endif
}

/// Copies bytes around the caches; what doesn't fill a line at the end goes through them.
inline void stream_bytes(void* to, const void* from, std::size_t bytes) {
  const std::size_t lines = bytes / stream_alignment;
  stream_lines(static_cast<char*>(to), static_cast<const char*>(from), lines);
  const std::size_t whole = lines * stream_alignment;
  if (whole != bytes)
    std::memcpy(static_cast<char*>(to) + whole, static_cast<const char*>(from) + whole, bytes - whole);
}

/// Makes what was written around the caches visible before anything that is written later.
inline void stream_end() {
#if HEDDLE_X86
  asm volatile("sfence" : : : "memory");
#endif
}

}  // namespace on_cpu
}  // namespace HEDDLE_BUILD
}  // namespace heddle
