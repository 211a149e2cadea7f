#pragma once

#include <heddle/heddle.hpp>

heddle::Tensor<float, 2, heddle::Cuda> layer(const heddle::Tensor<float, 2, heddle::Cuda>& x,
                                             const heddle::Tensor<float, 2, heddle::Cuda>& w,
                                             const heddle::Tensor<float, 1, heddle::Cuda>& b);
