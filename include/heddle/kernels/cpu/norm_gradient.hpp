// The gradients of row-wise normalisations on the CPU. The statistics are worked out anew, since x is read anyway.
#pragma once

#include "heddle/kernels/cpu/norm.hpp"

namespace heddle {
inline namespace HEDDLE_BUILD {
namespace on_cpu {

/// One row's gradient; the weight's and the bias's parts of it are added to `weight_part` and `bias_part`.
template <bool Centred, class Gradient, class Input, class W, class Sink>
struct norm_gradient_row {
  using T = typename Input::value_type;
  const Gradient& gradient;
  const Input& input;
  const W* weight;  // null: 1
  const Sink& sink;
  index_t row, columns;
  double eps;
  T* mean;
  T* scale;
  T* weight_part;  // null: not wanted
  T* bias_part;
  T* buffer;
  index_t room;

  HEDDLE_ALWAYS_INLINE void operator()() const {
    const row_reader<Gradient> dy(gradient, row, buffer);
    const row_reader<Input> x(input, row, buffer == nullptr ? nullptr : buffer + room);
    dy.load(columns);
    x.load(columns);
    const row_scale<T> by = find_scale<Centred>(x, columns, eps);
    if (mean != nullptr) {
      mean[row] = by.mean + by.left;
      scale[row] = by.scale;
    }
    T g[chunk] = {}, y[chunk] = {};
    T sums[2];  // of g, and of g times the result
    sum_row<2>(columns, sums, [&](index_t column, int now, T(&terms)[2][chunk]) {
      read(dy, x, by, column, now, g, y);
      weigh(column, now, g);
      for (int j = 0; j < chunk; ++j) {
        terms[0][j] = g[j];
        terms[1][j] = g[j] * y[j];
      }
    });
    const T count = static_cast<T>(columns);
    const T average = Centred ? sums[0] / count : T{0};
    const T dot = sums[1] / count;
    store_row<T>(sink, row, columns, [&](index_t column, int now, T(&out)[chunk]) {
      read(dy, x, by, column, now, g, y);
      if (weight_part != nullptr) add_parts(column, now, g, y);
      weigh(column, now, g);
      for (int j = 0; j < chunk; ++j) out[j] = by.scale * ((g[j] - average) - y[j] * dot);
    });
  }

 private:
  static HEDDLE_ALWAYS_INLINE void read(const row_reader<Gradient>& dy, const row_reader<Input>& x,
                                        const row_scale<T>& by, index_t column, int now, T (&g)[chunk], T (&y)[chunk]) {
    dy.read(column, now, g);
    x.read(column, now, y);
    for (int j = 0; j < chunk; ++j) y[j] = ((y[j] - by.mean) - by.left) * by.scale;
  }
  HEDDLE_ALWAYS_INLINE void weigh(index_t column, int now, T (&g)[chunk]) const {
    if (weight == nullptr) return;
    if (now == chunk) {
      for (int j = 0; j < chunk; ++j) g[j] *= static_cast<T>(weight[column + j]);
    } else {
      for (int j = 0; j < now; ++j) g[j] *= static_cast<T>(weight[column + j]);
    }
  }
  HEDDLE_ALWAYS_INLINE void add_parts(index_t column, int now, const T (&g)[chunk], const T (&y)[chunk]) const {
    if (now == chunk) {
      for (int j = 0; j < chunk; ++j) weight_part[column + j] += g[j] * y[j];
      if (Centred)
        for (int j = 0; j < chunk; ++j) bias_part[column + j] += g[j];
    } else {
      for (int j = 0; j < now; ++j) weight_part[column + j] += g[j] * y[j];
      if (Centred)
        for (int j = 0; j < now; ++j) bias_part[column + j] += g[j];
    }
  }
};

/// sink = the gradient of x, of g = dy weight and x. Rows' means and scales are left at `mean` and `scale`, unless
/// those are null.
template <bool Centred, class Gradient, class Input, class Sink>
void normalise_gradient(const Gradient& gradient, const Input& input, const Sink& sink, index_t rows, index_t columns,
                        double eps, typename Input::value_type* mean, typename Input::value_type* scale) {
  using T = typename Input::value_type;
  for_each_row<T>(rows, columns, 2, [&](index_t row, T* buffer, index_t room) {
    vectorised(norm_gradient_row<Centred, Gradient, Input, T, Sink>{gradient, input, nullptr, sink, row, columns, eps,
                                                                    mean, scale, nullptr, nullptr, buffer, room});
  });
}

/// How many parts the gradient of a weight is summed in; by the number of rows alone, so that the same bits come out
/// however many threads there are.
inline index_t norm_gradient_parts(index_t rows) { return rows < 64 ? rows : 64; }

/// As above from dy; parts[part, column] are the parts of the weight's gradient, and with Centred
/// parts[part_count + part, column] those of the bias's. `weight` has a dense element for each column.
template <bool Centred, class Gradient, class Input, class W, class Sink>
void normalise_gradient(const Gradient& gradient, const Input& input, const W* weight, const Sink& sink, index_t rows,
                        index_t columns, double eps, typename Input::value_type* parts, index_t part_count) {
  using T = typename Input::value_type;
  const index_t padded = (columns + chunk - 1) / chunk * chunk;
  parallel_for(part_count, 1, [&](index_t begin, index_t end) {
    T* const buffer = padded <= row_buffer
                          ? Workspace::get<T>(Workspace::within_range, static_cast<std::size_t>(2 * padded))
                          : nullptr;
    for (index_t part = begin; part < end; ++part) {
      T* const weight_part = parts + part * columns;
      T* const bias_part = weight_part + part_count * columns;
      for (index_t c = 0; c < columns; ++c) weight_part[c] = T{0};
      if (Centred)
        for (index_t c = 0; c < columns; ++c) bias_part[c] = T{0};
      const index_t last = rows * (part + 1) / part_count;
      for (index_t row = rows * part / part_count; row < last; ++row)
        vectorised(norm_gradient_row<Centred, Gradient, Input, W, Sink>{gradient, input, weight, sink, row, columns,
                                                                        eps, nullptr, nullptr, weight_part, bias_part,
                                                                        buffer, padded});
    }
  });
}

}  // namespace on_cpu
}  // namespace HEDDLE_BUILD
}  // namespace heddle
