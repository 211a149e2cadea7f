// What this build has. Everything that depends on it lives behind a template parameter or in the inline namespace
// HEDDLE_BUILD, so that translation units of different configurations can meet in one program.
#pragma once

#if defined(_MSVC_LANG)
#if _MSVC_LANG < 202002L
#error "Heddle needs C++20: compile with /std:c++20 (and -std=c++20 for nvcc)"
#endif
#elif __cplusplus < 202002L
#error "Heddle needs C++20: compile with -std=c++20 (CMake: target_compile_features(... cxx_std_20 cuda_std_20))"
#endif

#if !defined(__cpp_exceptions) && !defined(__EXCEPTIONS) && !defined(_CPPUNWIND)
#error "Heddle reports errors by exceptions: compile without -fno-exceptions"
#endif

#define HEDDLE_VERSION_MAJOR 0
#define HEDDLE_VERSION_MINOR 1
#define HEDDLE_VERSION_PATCH 0

/// 1 where the CUDA runtime may be used (set by the CMake target where the project has CUDA), else 0.
#if !defined(HEDDLE_HAS_CUDA)
#define HEDDLE_HAS_CUDA 0
#endif

/// 1 where this translation unit is compiled as CUDA, else 0.
#if defined(__CUDACC__)
#define HEDDLE_CUDA_COMPILER 1
#define HEDDLE_HOST_DEVICE __host__ __device__
#undef HEDDLE_HAS_CUDA
#define HEDDLE_HAS_CUDA 1
#else
#define HEDDLE_CUDA_COMPILER 0
/// Marks a functor's operator() as callable on the host and, under a CUDA compiler, on the device.
#define HEDDLE_HOST_DEVICE
#endif

#if defined(_MSC_VER)
#define HEDDLE_SHARED
#define HEDDLE_ALWAYS_INLINE __forceinline
#else
/// Default visibility: two shared libraries in one program then share one state and one exception type.
#define HEDDLE_SHARED __attribute__((visibility("default")))
#define HEDDLE_ALWAYS_INLINE inline __attribute__((always_inline))
#endif

#if !defined(HEDDLE_HAS_CUBLAS)
#define HEDDLE_HAS_CUBLAS 0
#endif
#if !defined(HEDDLE_HAS_CUDNN)
#define HEDDLE_HAS_CUDNN 0
#endif
#if !defined(HEDDLE_HAS_CBLAS)
#define HEDDLE_HAS_CBLAS 0
#endif

// The vendor libraries' policies: OFF, FALLBACK (where no kernel of ours serves or ours is slower) or PREFER.
#define HEDDLE_POLICY_OFF 0
#define HEDDLE_POLICY_FALLBACK 1
#define HEDDLE_POLICY_PREFER 2
#define HEDDLE_JOIN_TOKENS(a, b) a##b
#define HEDDLE_POLICY_NUMBER(word) HEDDLE_JOIN_TOKENS(HEDDLE_POLICY_, word)

#if !defined(HEDDLE_CUBLAS)
#if HEDDLE_HAS_CUBLAS
#define HEDDLE_CUBLAS FALLBACK
#else
#define HEDDLE_CUBLAS OFF
#endif
#endif
#if !defined(HEDDLE_CUDNN)
#if HEDDLE_HAS_CUDNN
#define HEDDLE_CUDNN FALLBACK
#else
#define HEDDLE_CUDNN OFF
#endif
#endif
#if !defined(HEDDLE_CBLAS)
#if HEDDLE_HAS_CBLAS
#define HEDDLE_CBLAS FALLBACK
#else
#define HEDDLE_CBLAS OFF
#endif
#endif

// An unknown word makes HEDDLE_POLICY_<word> an undefined name, which counts as 0 in #if: OFF must be told from it.
#define HEDDLE_POLICY_KNOWN_OFF 1
#define HEDDLE_POLICY_KNOWN_FALLBACK 1
#define HEDDLE_POLICY_KNOWN_PREFER 1
#define HEDDLE_POLICY_IS_KNOWN(word) HEDDLE_JOIN_TOKENS(HEDDLE_POLICY_KNOWN_, word)
#if !HEDDLE_POLICY_IS_KNOWN(HEDDLE_CUBLAS)
#error "HEDDLE_CUBLAS must be OFF, FALLBACK or PREFER"
#endif
#if !HEDDLE_POLICY_IS_KNOWN(HEDDLE_CUDNN)
#error "HEDDLE_CUDNN must be OFF, FALLBACK or PREFER"
#endif
#if !HEDDLE_POLICY_IS_KNOWN(HEDDLE_CBLAS)
#error "HEDDLE_CBLAS must be OFF, FALLBACK or PREFER"
#endif

// A policy counts only where its library is linked.
#if HEDDLE_HAS_CUBLAS
#define HEDDLE_CUBLAS_POLICY HEDDLE_POLICY_NUMBER(HEDDLE_CUBLAS)
#else
#define HEDDLE_CUBLAS_POLICY 0
#endif
#if HEDDLE_HAS_CUDNN
#define HEDDLE_CUDNN_POLICY HEDDLE_POLICY_NUMBER(HEDDLE_CUDNN)
#else
#define HEDDLE_CUDNN_POLICY 0
#endif
#if HEDDLE_HAS_CBLAS
#define HEDDLE_CBLAS_POLICY HEDDLE_POLICY_NUMBER(HEDDLE_CBLAS)
#else
#define HEDDLE_CBLAS_POLICY 0
#endif

/// The inline namespace of expression nodes, operations and kernels: one a configuration. Its digits: CUDA compiler,
/// CUDA runtime, cuBLAS, cuDNN, CBLAS, a compiler that may assume that there is no NaN (-ffast-math).
#define HEDDLE_BUILD_NAME_(a, b, c, d, e, f) build_##a##b##c##d##e##f
#define HEDDLE_BUILD_NAME(a, b, c, d, e, f) HEDDLE_BUILD_NAME_(a, b, c, d, e, f)
#if defined(__FINITE_MATH_ONLY__) && __FINITE_MATH_ONLY__
#define HEDDLE_FINITE_DIGIT 1
#else
#define HEDDLE_FINITE_DIGIT 0
#endif
#if HEDDLE_CUBLAS_POLICY == 0
#define HEDDLE_CUBLAS_DIGIT 0
#elif HEDDLE_CUBLAS_POLICY == 1
#define HEDDLE_CUBLAS_DIGIT 1
#else
#define HEDDLE_CUBLAS_DIGIT 2
#endif
#if HEDDLE_CUDNN_POLICY == 0
#define HEDDLE_CUDNN_DIGIT 0
#elif HEDDLE_CUDNN_POLICY == 1
#define HEDDLE_CUDNN_DIGIT 1
#else
#define HEDDLE_CUDNN_DIGIT 2
#endif
#if HEDDLE_CBLAS_POLICY == 0
#define HEDDLE_CBLAS_DIGIT 0
#elif HEDDLE_CBLAS_POLICY == 1
#define HEDDLE_CBLAS_DIGIT 1
#else
#define HEDDLE_CBLAS_DIGIT 2
#endif
#define HEDDLE_BUILD                                                                                \
  HEDDLE_BUILD_NAME(HEDDLE_CUDA_COMPILER, HEDDLE_HAS_CUDA, HEDDLE_CUBLAS_DIGIT, HEDDLE_CUDNN_DIGIT, \
                    HEDDLE_CBLAS_DIGIT, HEDDLE_FINITE_DIGIT)

/// The device that functions take when none is named: Cpu, or what the project defines for all of its files.
#if !defined(HEDDLE_DEFAULT_DEVICE)
#define HEDDLE_DEFAULT_DEVICE ::heddle::Cpu
#endif

namespace heddle {
inline namespace HEDDLE_BUILD {

/// Tells templates what the translation unit that instantiates them can do.
struct this_build {
  static constexpr bool has_cuda = HEDDLE_HAS_CUDA != 0;            ///< the CUDA runtime is linked
  static constexpr bool cuda_compiler = HEDDLE_CUDA_COMPILER != 0;  ///< kernels can be compiled and launched
};

}  // namespace HEDDLE_BUILD
}  // namespace heddle
