// Heddle: tensors, expressions and operations. <heddle/nn.hpp> adds training, <heddle/io.hpp> files and neighbours.
#pragma once

#include "heddle/core/tensor.hpp"
#include "heddle/ops/arithmetic.hpp"
#include "heddle/ops/map.hpp"
