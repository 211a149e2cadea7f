#include "conformance/composed.hpp"
#include "conformance/operators/families.hpp"

namespace conformance {

Registry all_operators() {
  Registry registry;
  add_activation(registry);
  add_argreduce(registry);
  add_arithmetic(registry);
  add_channel_norm(registry);
  add_comparison(registry);
  add_create(registry);
  add_exponential(registry);
  add_extremes(registry);
  add_join(registry);
  add_logic(registry);
  add_math(registry);
  add_matmul(registry);
  add_reduce_extremes(registry);
  add_reduce_norm(registry);
  add_reduce_sum(registry);
  add_remainder_power(registry);
  add_softmax(registry);
  add_trigonometry(registry);
  add_gather(registry);
  add_scatter(registry);
  add_scan_sort(registry);
  add_loss(registry);
  add_label_loss(registry);
  add_norm(registry);
  add_numeric(registry);
  add_view(registry);
  add_where_cast(registry);
  add_composed(registry);
  return registry;
}

}  // namespace conformance
