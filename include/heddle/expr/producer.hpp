// What producers share. A producer is a formula node that computes each element from many: it offers `run(bound)`,
// where `bound` is the output with the epilogue in it, and hands kernels a source for each operand and a sink for the
// output.
#pragma once

#include "heddle/expr/evaluate.hpp"

namespace heddle {
inline namespace HEDDLE_BUILD {

/// The base of producers: move-only, so that a formula which would compute one again at every use can't be copied.
template <class Derived>
class producer : public formula<Derived>, private copy_rule<true> {
 public:
  static constexpr bool has_producer = true;
};

/// Calls run(bound_formula) with an operand formula in its own axes and without an output: a kernel's source is made of
/// it. An operand that contains a producer is computed into a tensor first.
template <class Node, class Run>
void with_source(const Node& node, Run&& run) {
  if constexpr (Node::has_producer) {
    const auto computed = evaluation_for<Node>::make(node);
    with_source(as_formula(computed), run);
  } else {
    using Binding = binding_t<Node, 0, spine::none>;
    const Binding bindings(node);
    leaf_table<Binding::leaves, Node::rank> table;
    const Shape<Node::rank> shape = node.shape();
    const auto form = bindings.enter(node, table, shape);
    run(bound_formula<typename Binding::form, typename Node::value_type, Binding::leaves, Node::rank>{
        form, nullptr, shape, Strides<Node::rank>{}, table});
  }
}

/// An operand as a tensor with elements of type T: itself where it is one, else computed.
template <class T, class Node>
auto as_tensor(const Node& node) {
  return Tensor<const T, Node::rank, typename Node::device_type>(
      evaluation_for<Node>::make(map_formula(conversion<T>{}, node)));
}
template <class T, int Rank, class Device>
Tensor<const T, Rank, Device> as_tensor(const operand<T, Rank, Device>& node) {
  return node.tensor();
}
template <class T, class Node>
requires(Node::has_producer ||
         (std::is_same_v<typename Node::value_type, T> && is_map_v<Node>)) auto as_tensor(const Node& node) {
  auto computed = evaluation_for<Node>::make(node);
  return as_tensor<T>(as_formula(computed));
}

/// The kernels' word for a device that a formula lives on, under a compiler that can make them.
template <class Device>
constexpr bool runs_here() {
  static_assert(std::is_same_v<Device, Cpu> || this_build::cuda_compiler,
                "operations on Cuda tensors need a CUDA compiler: compile this file as CUDA (.cu)");
  return true;
}

}  // namespace HEDDLE_BUILD
}  // namespace heddle
