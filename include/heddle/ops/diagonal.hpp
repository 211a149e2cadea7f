// Diagonals put into zeros, and added up. (Views of them: the member diagonal.)
#pragma once

#include <utility>

#include "heddle/ops/create.hpp"
#include "heddle/ops/reduce.hpp"

namespace heddle {
inline namespace HEDDLE_BUILD {

/// x's last axis as a diagonal of two axes of the result, by default the last two: the main one, or that which is
/// `offset` places to the right (negative: below); zeros elsewhere. Example: `hd::diag_embed(scales)` is a matrix.
template <Expression X, int Row = -2, int Column = -1>
auto diag_embed(X&& x, index_t offset = 0, axes_t<Row, Column> = {}) {
  using Node = std::remove_cvref_t<X>;
  constexpr int rank = Node::rank + 1;
  static_assert(rank > 1, "diag_embed takes at least a vector");
  constexpr int row = normalized_axis<Row, rank>(), column = normalized_axis<Column, rank>();
  const auto from = x.shape();
  Shape<rank> shape;
  for (int i = 0, next = 0; i < rank; ++i)
    shape[i] = i == row || i == column ? from[rank - 2] + (offset < 0 ? -offset : offset) : from[next++];
  auto result = zeros<value_type_of_t<X>>(shape, x.device());
  result.diagonal(offset, axes<Row, Column>).assign(std::forward<X>(x));
  return result;
}

/// A vector as a diagonal of a matrix, or the diagonal of a matrix, a view; `offset` as for diag_embed.
template <Expression X>
auto diag(X&& x, index_t offset = 0) {
  constexpr int rank = std::remove_cvref_t<X>::rank;
  static_assert(rank == 1 || rank == 2, "diag takes a vector or a matrix");
  if constexpr (rank == 1)
    return diag_embed(std::forward<X>(x), offset);
  else
    return eval(std::forward<X>(x)).diagonal(offset);
}

/// The sum of a matrix' main diagonal. Example: `hd::trace(m).item()`.
template <Expression X>
auto trace(X&& x) {
  static_assert(std::remove_cvref_t<X>::rank == 2, "trace takes a matrix");
  return sum(eval(std::forward<X>(x)).diagonal());
}

}  // namespace HEDDLE_BUILD
}  // namespace heddle
