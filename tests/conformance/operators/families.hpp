// One function a file of this folder: each adds its operators.
#pragma once

#include "conformance/registry.hpp"

namespace conformance {

void add_activation(Registry& registry);
void add_argreduce(Registry& registry);
void add_arithmetic(Registry& registry);
void add_channel_norm(Registry& registry);
void add_comparison(Registry& registry);
void add_create(Registry& registry);
void add_exponential(Registry& registry);
void add_extremes(Registry& registry);
void add_join(Registry& registry);
void add_logic(Registry& registry);
void add_math(Registry& registry);
void add_matmul(Registry& registry);
void add_reduce_extremes(Registry& registry);
void add_reduce_norm(Registry& registry);
void add_reduce_sum(Registry& registry);
void add_remainder_power(Registry& registry);
void add_softmax(Registry& registry);
void add_trigonometry(Registry& registry);
void add_gather(Registry& registry);
void add_scatter(Registry& registry);
void add_scan_sort(Registry& registry);
void add_loss(Registry& registry);
void add_label_loss(Registry& registry);
void add_norm(Registry& registry);
void add_numeric(Registry& registry);
void add_view(Registry& registry);
void add_where_cast(Registry& registry);

}  // namespace conformance
