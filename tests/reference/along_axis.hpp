// Operations along an axis that give a line for each line: every line is gathered into a list, the definition applied.
#pragma once

#include <cstdint>
#include <functional>

#include "reference/array.hpp"

namespace reference {

/// f of each line along `axis`; all results must have one length.
Array along_axis(const std::function<List(const List&)>& f, const Array& x, int axis);

List cumsum(const List& x);
List cumprod(const List& x);
/// Ascending, NaN last; equal elements keep their order. Descending: NaN first.
List argsort(const List& x, bool descending = false);
List sort(const List& x, bool descending = false);

}  // namespace reference
