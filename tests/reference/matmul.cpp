#include "reference/matmul.hpp"

#include <stdexcept>

namespace reference {

Array matmul(const Array& a, const Array& b) {
  if (a.rank() == 1) {
    Array result = matmul(reshape(a, {1, a.shape[0]}), b);
    result.shape.erase(result.shape.end() - (b.rank() == 1 ? 1 : 2));
    return result;
  }
  if (b.rank() == 1) {
    Array result = matmul(a, reshape(b, {b.shape[0], 1}));
    result.shape.pop_back();
    return result;
  }
  const std::int64_t m = a.shape.end()[-2], k = a.shape.end()[-1], n = b.shape.end()[-1];
  if (b.shape.end()[-2] != k) throw std::invalid_argument("inner extents differ");
  const Extents batch =
      broadcast(Extents(a.shape.begin(), a.shape.end() - 2), Extents(b.shape.begin(), b.shape.end() - 2));
  auto with = [&](std::int64_t rows, std::int64_t columns) {
    Extents shape = batch;
    shape.push_back(rows);
    shape.push_back(columns);
    return shape;
  };
  const Array left = expand(a, with(m, k));
  const Array right = expand(b, with(k, n));
  Array result(with(m, n));
  for (std::int64_t p = 0; p < count(batch); ++p)
    for (std::int64_t i = 0; i < m; ++i)
      for (std::int64_t j = 0; j < n; ++j)
        for (std::int64_t q = 0; q < k; ++q)
          result[(p * m + i) * n + j] += left[(p * m + i) * k + q] * right[(p * k + q) * n + j];
  return result;
}

}  // namespace reference
