#include "reference/rearrange.hpp"

#include <stdexcept>

namespace reference {
namespace {

std::size_t at(int axis) { return static_cast<std::size_t>(axis); }

std::int64_t modulo(std::int64_t a, std::int64_t n) { return (a % n + n) % n; }

/// Where place i of a padded axis comes from; -1: nowhere.
std::int64_t padded_from(std::int64_t i, std::int64_t extent, PadMode mode) {
  if (i >= 0 && i < extent) return i;
  switch (mode) {
    case PadMode::constant:
      return -1;
    case PadMode::reflect:
      return i < 0 ? -i : 2 * extent - 2 - i;
    case PadMode::replicate:
      return i < 0 ? 0 : extent - 1;
    case PadMode::circular:
      return modulo(i, extent);
  }
  throw std::invalid_argument("mode");
}

}  // namespace

Array from_index(const Extents& shape, const std::function<double(const Extents&)>& f) {
  Array result(shape);
  for (std::int64_t i = 0; i < result.size(); ++i) result[i] = f(index_of(shape, i));
  return result;
}

Array concat(const std::vector<Array>& parts, int axis) {
  Extents shape = parts.at(0).shape;
  for (std::size_t p = 1; p < parts.size(); ++p) shape[at(axis)] += parts[p].shape[at(axis)];
  return from_index(shape, [&](Extents index) {
    std::size_t part = 0;
    while (index[at(axis)] >= parts[part].shape[at(axis)]) index[at(axis)] -= parts[part++].shape[at(axis)];
    return parts[part].at(index);
  });
}

Array stack(const std::vector<Array>& parts, int axis) {
  Extents shape = parts.at(0).shape;
  shape.insert(shape.begin() + axis, static_cast<std::int64_t>(parts.size()));
  return from_index(shape, [&](Extents index) {
    const Array& part = parts[static_cast<std::size_t>(index[at(axis)])];
    index.erase(index.begin() + axis);
    return part.at(index);
  });
}

Array flip(const Array& x, const std::vector<int>& axes) {
  return from_index(x.shape, [&](Extents index) {
    for (int axis : axes) index[at(axis)] = x.shape[at(axis)] - 1 - index[at(axis)];
    return x.at(index);
  });
}

Array roll(const Array& x, const std::vector<int>& axes, const Extents& shifts) {
  return from_index(x.shape, [&](Extents index) {
    for (std::size_t i = 0; i < axes.size(); ++i)
      index[at(axes[i])] = modulo(index[at(axes[i])] - shifts[i], x.shape[at(axes[i])]);
    return x.at(index);
  });
}

Array tile(const Array& x, const Extents& repeats) {
  Extents shape = repeats;
  const std::size_t lead = repeats.size() - x.shape.size();
  for (std::size_t i = lead; i < shape.size(); ++i) shape[i] *= x.shape[i - lead];
  return from_index(shape, [&](const Extents& index) {
    Extents from(x.shape.size());
    for (std::size_t i = 0; i < from.size(); ++i) from[i] = index[i + lead] % x.shape[i];
    return x.at(from);
  });
}

Array pad(const Array& x, const std::vector<std::pair<int, int>>& widths, PadMode mode, double value) {
  Extents shape = x.shape;
  for (std::size_t i = 0; i < shape.size(); ++i) shape[i] += widths[i].first + widths[i].second;
  return from_index(shape, [&](Extents index) {
    for (std::size_t i = 0; i < index.size(); ++i) {
      index[i] = padded_from(index[i] - widths[i].first, x.shape[i], mode);
      if (index[i] < 0) return value;
    }
    return x.at(index);
  });
}

Array tril(const Array& x, std::int64_t diagonal) {
  const std::size_t rank = x.shape.size();
  return from_index(
      x.shape, [&](const Extents& index) { return index[rank - 1] - index[rank - 2] <= diagonal ? x.at(index) : 0.0; });
}

Array triu(const Array& x, std::int64_t diagonal) {
  const std::size_t rank = x.shape.size();
  return from_index(
      x.shape, [&](const Extents& index) { return index[rank - 1] - index[rank - 2] >= diagonal ? x.at(index) : 0.0; });
}

Array gather(const Array& x, const Array& index, int axis) {
  return from_index(index.shape, [&](Extents from) {
    from[at(axis)] = static_cast<std::int64_t>(index.at(from));
    return x.at(from);
  });
}

Array take(const Array& x, const Array& index, int axis) {
  Extents shape(x.shape.begin(), x.shape.begin() + axis);
  shape.insert(shape.end(), index.shape.begin(), index.shape.end());
  shape.insert(shape.end(), x.shape.begin() + axis + 1, x.shape.end());
  const std::size_t behind = at(axis) + index.shape.size();
  return from_index(shape, [&](const Extents& place) {
    const Extents which(place.begin() + axis, place.begin() + static_cast<std::ptrdiff_t>(behind));
    Extents from(place.begin(), place.begin() + axis);
    from.push_back(modulo(static_cast<std::int64_t>(index.at(which)), x.shape[at(axis)]));
    from.insert(from.end(), place.begin() + static_cast<std::ptrdiff_t>(behind), place.end());
    return x.at(from);
  });
}

Array one_hot(const Array& index, std::int64_t classes) {
  Extents shape = index.shape;
  shape.push_back(classes);
  return from_index(shape, [&](Extents place) {
    const auto own = static_cast<double>(place.back());
    place.pop_back();
    return index.at(place) == own ? 1.0 : 0.0;
  });
}

Array scatter(Array x, const Array& index, const Array& source, int axis) {
  for (std::int64_t i = 0; i < index.size(); ++i) {
    const Extents from = index_of(index.shape, i);
    Extents to = from;
    to[at(axis)] = static_cast<std::int64_t>(index[i]);
    x.at(to) = source.at(from);
  }
  return x;
}

Array scatter_add(Array x, const Array& index, const Array& source, int axis) {
  for (std::int64_t i = 0; i < index.size(); ++i) {
    const Extents from = index_of(index.shape, i);
    Extents to = from;
    to[at(axis)] = static_cast<std::int64_t>(index[i]);
    x.at(to) += source.at(from);
  }
  return x;
}

Array index_add(Array x, const Array& index, const Array& source, int axis) {
  for (std::int64_t i = 0; i < source.size(); ++i) {
    const Extents from = index_of(source.shape, i);
    Extents to = from;
    to[at(axis)] = static_cast<std::int64_t>(index[from[at(axis)]]);
    x.at(to) += source[i];
  }
  return x;
}

Array nonzero(const Array& x) {
  std::vector<double> values;
  std::int64_t count = 0;
  for (std::int64_t i = 0; i < x.size(); ++i) {
    if (x[i] == 0) continue;
    ++count;
    for (const std::int64_t coordinate : index_of(x.shape, i)) values.push_back(static_cast<double>(coordinate));
  }
  return Array({count, x.rank()}, values);
}

}  // namespace reference
