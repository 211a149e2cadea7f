// Chooses the vector instructions at run time, so that a consumer needs no compiler flag.
//
// A kernel writes its loop once, as an object whose operator() is always inlined, and `vectorised` compiles that loop
// for AVX-512, for AVX2 and for the plain target. g++ vectorises at -O2 where the trip count is a constant multiple of
// the vector: inner loops run over `chunk` elements in local arrays.
#pragma once

#include <cstdlib>
#include <cstring>

#include "heddle/config.hpp"

#if defined(__x86_64__) && (defined(__GNUC__) || defined(__clang__))
#define HEDDLE_X86 1
#define HEDDLE_TARGET_AVX512 __attribute__((target("avx512f,avx512vl,avx512bw,avx512dq,avx2,fma"), flatten))
#define HEDDLE_TARGET_AVX2 __attribute__((target("avx2,fma"), flatten))
#else
#define HEDDLE_X86 0
#endif

namespace heddle {

/// The vector instructions that kernels are compiled for.
enum class Isa { plain, avx2, avx512 };

/// The best that this machine has; the environment variable HEDDLE_CPU_ISA (plain, avx2 or avx512) lowers it, read
/// once.
HEDDLE_SHARED inline Isa cpu_isa() noexcept {
#if HEDDLE_X86
  static const Isa chosen = [] {
    __builtin_cpu_init();
    Isa best = Isa::plain;
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) best = Isa::avx2;
    if (best == Isa::avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
        __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq"))
      best = Isa::avx512;
    const char* const asked = std::getenv("HEDDLE_CPU_ISA");
    if (asked != nullptr && std::strcmp(asked, "plain") == 0) best = Isa::plain;
    if (asked != nullptr && std::strcmp(asked, "avx2") == 0 && best == Isa::avx512) best = Isa::avx2;
    return best;
  }();
  return chosen;
#else
  return Isa::plain;
#endif
}

inline namespace HEDDLE_BUILD {
namespace on_cpu {

/// Elements that an inner loop handles at once: a multiple of every vector's length, small enough for registers and the
/// first-level cache.
inline constexpr int chunk = 64;

#if HEDDLE_X86
template <class Body>
HEDDLE_TARGET_AVX512 void run_avx512(Body& body) {
  body();
}
template <class Body>
HEDDLE_TARGET_AVX2 void run_avx2(Body& body) {
  body();
}
/// For machines without AVX2, older than 2013: compiled for size, since every kernel is compiled for them too.
template <class Body>
[[gnu::cold, gnu::noinline]] void run_plain(Body& body) {
  body();
}
#endif

/// Calls body(), an object with an always-inlined operator(), compiled for the best instructions this machine has.
/// Everything that is inlined into it is compiled for them too. Example: `vectorised(fill_body{data, count, 1.0F});`
template <class Body>
inline void vectorised(Body&& body) {
#if HEDDLE_X86
  const Isa isa = cpu_isa();
  if (isa == Isa::avx512) return run_avx512(body);
  if (isa == Isa::avx2) return run_avx2(body);
  run_plain(body);
#else
  body();
#endif
}

}  // namespace on_cpu
}  // namespace HEDDLE_BUILD
}  // namespace heddle
