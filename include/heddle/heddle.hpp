// Heddle: tensors, expressions and operations. <heddle/nn.hpp> adds training, <heddle/io.hpp> files and neighbours.
#pragma once

#include "heddle/core/tensor.hpp"
#include "heddle/cuda/best_device.hpp"
#include "heddle/io/print.hpp"
#include "heddle/ops/activation.hpp"
#include "heddle/ops/arithmetic.hpp"
#include "heddle/ops/compare.hpp"
#include "heddle/ops/create.hpp"
#include "heddle/ops/equal.hpp"
#include "heddle/ops/map.hpp"
#include "heddle/ops/math.hpp"
#include "heddle/ops/matmul.hpp"
#include "heddle/ops/random.hpp"
#include "heddle/ops/reduce.hpp"
#include "heddle/ops/select.hpp"
#include "heddle/ops/shape.hpp"
#include "heddle/ops/softmax.hpp"
