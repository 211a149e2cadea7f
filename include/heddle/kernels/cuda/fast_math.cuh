// The special function unit's exponential and reciprocal, as single instructions: what activations are made of, so that
// no flag that changes all of a program's mathematics is needed.
#pragma once

#include "heddle/config.hpp"

namespace heddle {
inline namespace HEDDLE_BUILD {
namespace on_cuda {

/// 2^x, within 2 units in the last place; results below 2^-126 are 0.
__device__ __forceinline__ float exp2_unit(float x) {
  float result;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(x));
  return result;
}
/// 2^x, within 2 units in the last place, through the subnormals.
__device__ __forceinline__ float exp2_subnormal(float x) {
  float result;
  asm("ex2.approx.f32 %0, %1;" : "=f"(result) : "f"(x));
  return result;
}
/// 1 / x within a unit in the last place; 0 of numbers beyond 2^126.
__device__ __forceinline__ float reciprocal_unit(float x) {
  float result;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(x));
  return result;
}
/// 1 / x within a unit or two in the last place, by Newton's steps; x is neither tiny nor huge.
__device__ __forceinline__ double reciprocal_unit(double x) {
  double result;
  asm("rcp.approx.ftz.f64 %0, %1;" : "=d"(result) : "d"(x));
  result = fma(result, fma(-x, result, 1.0), result);
  return fma(result, fma(-x, result, 1.0), result);
}

}  // namespace on_cuda
}  // namespace HEDDLE_BUILD
}  // namespace heddle
