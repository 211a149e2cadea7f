#pragma once

#include <cuda_runtime.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <vector>

// Applies one functor to many inputs, on the host or by a kernel, so that the two results can be compared.

template <class Function, class Input, class Output>
__global__ void apply_kernel(const Input* inputs, Output* outputs, int count) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < count) outputs[i] = Function{}(inputs[i]);
}

template <class Function, class Input>
auto apply_on_device(const std::vector<Input>& inputs) {
  using Output = decltype(Function{}(inputs[0]));
  std::vector<Output> outputs(inputs.size());
  Input* device_inputs = nullptr;
  Output* device_outputs = nullptr;
  EXPECT_EQ(cudaMalloc(&device_inputs, inputs.size() * sizeof(Input)), cudaSuccess);
  EXPECT_EQ(cudaMalloc(&device_outputs, inputs.size() * sizeof(Output)), cudaSuccess);
  EXPECT_EQ(cudaMemset(device_outputs, 0xa5, inputs.size() * sizeof(Output)), cudaSuccess);
  EXPECT_EQ(cudaMemcpy(device_inputs, inputs.data(), inputs.size() * sizeof(Input), cudaMemcpyDefault), cudaSuccess);
  const int count = static_cast<int>(inputs.size());
  apply_kernel<Function><<<(count + 255) / 256, 256>>>(device_inputs, device_outputs, count);
  EXPECT_EQ(cudaMemcpy(outputs.data(), device_outputs, inputs.size() * sizeof(Output), cudaMemcpyDefault), cudaSuccess);
  EXPECT_EQ(cudaFree(device_inputs), cudaSuccess);
  EXPECT_EQ(cudaFree(device_outputs), cudaSuccess);
  return outputs;
}

template <class Function, class Input>
auto apply_on_host(const std::vector<Input>& inputs) {
  std::vector<decltype(Function{}(inputs[0]))> outputs;
  for (const Input& input : inputs) outputs.push_back(Function{}(input));
  return outputs;
}
