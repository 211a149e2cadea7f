// The device form of a formula: a trivially copyable tree of functors whose leaves are numbered slots. Pointers and
// strides stand beside it in tables, one row a slot, so that host code which prepares them does not depend on the
// formula.
#pragma once

#include "heddle/expr/formula.hpp"

namespace heddle {
inline namespace HEDDLE_BUILD {

/// An element of the tensor whose pointer and strides are in row Slot of the tables.
template <class T, int Slot>
struct leaf_form {};

/// A number, already in the type that the formula computes in.
template <class T>
struct constant_form {
  T value;
};

/// A functor over its children; each child is converted to Argument (void: as it comes), the outcome to Result's
/// compute type.
template <class F, class Argument, class Result, class... Children>
struct map_form {
  F functor;
  pack<Children...> children;
};

/// The value that a producer has finished.
struct hole_form {};

/// How a formula is bound: `none`: a subtree with a producer is computed first; `fused`: the chosen producer is a hole.
enum class spine { none, fused };

/// Pointers and strides of a formula's leaves, in the output's axes (a broadcast axis has stride 0).
template <int Leaves, int Rank>
struct leaf_table {
  const void* data[static_cast<std::size_t>(Leaves > 0 ? Leaves : 1)];
  index_t stride[static_cast<std::size_t>(Leaves > 0 ? Leaves : 1)][static_cast<std::size_t>(Rank > 0 ? Rank : 1)];
};

/// Writes a leaf's pointer and its strides in the axes of `shape` into the row of that slot.
template <int Slot, class Table, class T, int LeafRank, class Device, int Rank>
void enter_leaf(Table& table, const Tensor<T, LeafRank, Device>& tensor, const Shape<Rank>& shape) {
  table.data[Slot] = tensor.data();
  const Shape<LeafRank>& extents = tensor.shape();
  const Strides<LeafRank>& strides = tensor.strides();
  for (int i = 0; i < Rank - LeafRank; ++i) table.stride[Slot][i] = 0;
  if constexpr (LeafRank > 0) {
    for (int i = 0; i < LeafRank; ++i) table.stride[Slot][i + Rank - LeafRank] = extents[i] == 1 ? 0 : strides[i];
  }
  (void)shape;
}

/// How a node becomes part of a form: its type, how many slots it takes from Slot on, and the temporaries that it
/// needs.
template <class Node, int Slot, spine Spine>
struct binding {
  // A producer, or a map with a producer beneath it off the spine: computed into a tensor of its own first.
  static_assert(Node::has_producer);
  using form = leaf_form<typename Node::value_type, Slot>;
  static constexpr int leaves = 1;
  Tensor<typename Node::value_type, Node::rank, typename Node::device_type> result;

  explicit binding(const Node& node) : result(evaluation_for<Node>::make(node)) {}
  template <class Table, int Rank>
  form enter(const Node&, Table& table, const Shape<Rank>& shape) const {
    enter_leaf<Slot>(table, result, shape);
    return {};
  }
};

template <class T, int LeafRank, class Device, int Slot, spine Spine>
struct binding<operand<T, LeafRank, Device>, Slot, Spine> {
  using form = leaf_form<T, Slot>;
  static constexpr int leaves = 1;
  explicit binding(const operand<T, LeafRank, Device>&) {}
  template <class Table, int Rank>
  form enter(const operand<T, LeafRank, Device>& node, Table& table, const Shape<Rank>& shape) const {
    enter_leaf<Slot>(table, node.tensor(), shape);
    return {};
  }
};

template <class T, int Slot, spine Spine>
struct binding<constant<T>, Slot, Spine> {
  using form = constant_form<compute_type<T>>;
  static constexpr int leaves = 0;
  explicit binding(const constant<T>&) {}
  template <class Table, int Rank>
  form enter(const constant<T>& node, Table&, const Shape<Rank>&) const {
    return {node.value()};
  }
};

/// Which operand leads to the producer that keeps its epilogue: the greatest work, the leftmost of equals.
template <class... Operands>
consteval int spine_operand() {
  int chosen = 0;
  int most = -1;
  int i = 0;
  ((static_cast<int>(Operands::work) > most ? (most = static_cast<int>(Operands::work), chosen = i) : 0, ++i), ...);
  return chosen;
}

/// The producer itself, at the end of the spine.
template <class Node, int Slot>
struct hole_binding {
  using form = hole_form;
  static constexpr int leaves = 0;
  explicit hole_binding(const Node&) {}
  template <class Table, int Rank>
  form enter(const Node&, Table&, const Shape<Rank>&) const {
    return {};
  }
};

template <class Node>
inline constexpr bool is_map_v = false;
template <class F, class... Operands>
inline constexpr bool is_map_v<map_formula<F, Operands...>> = true;

template <class Node, int Slot, spine Spine>
struct binding_choice {
  using type = binding<Node, Slot, Spine>;
};
template <class Node, int Slot>
requires(Node::has_producer && !is_map_v<Node>) struct binding_choice<Node, Slot, spine::fused> {
  using type = hole_binding<Node, Slot>;
};
template <class Node, int Slot, spine Spine>
using binding_t = typename binding_choice<Node, Slot, Spine>::type;

/// The bindings of a map's operands, slots handed out from left to right.
template <int Slot, int Position, int SpineOperand, spine Spine, class... Operands>
struct operand_bindings {
  static constexpr int leaves = 0;
  explicit operand_bindings(const auto&) {}
};
template <int Slot, int Position, int SpineOperand, spine Spine, class First, class... Rest>
struct operand_bindings<Slot, Position, SpineOperand, Spine, First, Rest...> {
  using first_binding = binding_t<First, Slot, Position == SpineOperand ? Spine : spine::none>;
  using rest_bindings = operand_bindings<Slot + first_binding::leaves, Position + 1, SpineOperand, Spine, Rest...>;
  static constexpr int leaves = first_binding::leaves + rest_bindings::leaves;
  [[no_unique_address]] first_binding first;
  [[no_unique_address]] rest_bindings rest;

  template <class Map>
  explicit operand_bindings(const Map& map) : first(map.template child<Position>()), rest(map) {}
};

template <int I, class Bindings>
constexpr const auto& binding_at(const Bindings& bindings) {
  if constexpr (I == 0)
    return bindings.first;
  else
    return binding_at<I - 1>(bindings.rest);
}

template <class F, class... Operands, int Slot, spine Spine>
requires(!(Operands::has_producer || ...) ||
         Spine != spine::none) struct binding<map_formula<F, Operands...>, Slot, Spine> {
  using node = map_formula<F, Operands...>;
  using bindings = operand_bindings<Slot, 0, spine_operand<Operands...>(), Spine, Operands...>;
  static constexpr int leaves = bindings::leaves;
  template <class Indices>
  struct form_type;
  template <int... I>
  struct form_type<std::integer_sequence<int, I...>> {
    using type =
        map_form<F, typename node::argument_type, typename node::value_type,
                 typename std::remove_cvref_t<decltype(binding_at<I>(std::declval<const bindings&>()))>::form...>;
  };
  using indices = std::make_integer_sequence<int, node::arity>;
  using form = typename form_type<indices>::type;
  [[no_unique_address]] bindings children;

  explicit binding(const node& map) : children(map) {}
  template <class Table, int Rank>
  form enter(const node& map, Table& table, const Shape<Rank>& shape) const {
    return enter(map, table, shape, indices{});
  }

 private:
  template <class Table, int Rank, int... I>
  form enter(const node& map, Table& table, const Shape<Rank>& shape, std::integer_sequence<int, I...>) const {
    return {map.functor(), {{binding_at<I>(children).enter(map.template child<I>(), table, shape)}...}};
  }
};

/// The producer that the spine leads to.
template <class Node>
constexpr const auto& spine_producer(const Node& node) {
  return node;
}
template <class F, class... Operands>
constexpr const auto& spine_producer(const map_formula<F, Operands...>& map) {
  return spine_producer(map.template child<spine_operand<Operands...>()>());
}

/// Whether an operand beside the spine may give the result a greater shape than the producer's.
template <class Node>
consteval bool is_widened() {
  return false;
}
template <class Node>
requires is_map_v<Node>
consteval bool is_widened() { return widened_by_operands(static_cast<const Node*>(nullptr)); }
template <class F, class... Operands>
consteval bool widened_by_operands(const map_formula<F, Operands...>*) {
  constexpr int chosen = spine_operand<Operands...>();
  int i = 0;
  bool widened = false;
  ((widened = widened || (i++ == chosen ? is_widened<Operands>() : Operands::rank > 0)), ...);
  return widened;
}

/// The element types of a form's leaves by slot, found from its type.
template <int Slot, class Form>
struct leaf_type {
  using type = void;
};
template <int Slot, class T>
struct leaf_type<Slot, leaf_form<T, Slot>> {
  using type = T;
};
template <class... Types>
struct first_not_void {
  using type = void;
};
template <class First, class... Rest>
struct first_not_void<First, Rest...> {
  using type = First;
};
template <class... Rest>
struct first_not_void<void, Rest...> : first_not_void<Rest...> {};
template <int Slot, class F, class Argument, class Result, class... Children>
struct leaf_type<Slot, map_form<F, Argument, Result, Children...>>
    : first_not_void<typename leaf_type<Slot, Children>::type...> {};

/// A formula ready for a kernel: form, output and tables, in the output's axes. Slot 0 of `stride` rows is the first
/// leaf; the output's strides stand apart.
template <class Form, class Out, int Leaves, int Rank>
struct bound_formula {
  using form_type = Form;
  using out_type = Out;
  static constexpr int leaves = Leaves;
  static constexpr int rank = Rank;
  Form form;
  Out* out;
  Shape<Rank> shape;
  Strides<Rank> out_stride;
  leaf_table<Leaves, Rank> table;
};

}  // namespace HEDDLE_BUILD
}  // namespace heddle
