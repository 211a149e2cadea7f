// What row-wise kernels (softmax, normalisations, their gradients, cross entropy) share: how threads lie along rows, a
// row held in their registers, and a row that is too long for that and is read again for every pass. An operation is
// written against either: fold over the elements, transform them (held rows only), store.
#pragma once

#include "heddle/config.hpp"
#include "heddle/core/shape.hpp"
#include "heddle/kernels/cuda/lanes.cuh"
#include "heddle/kernels/cuda/launch.cuh"

namespace heddle {
inline namespace HEDDLE_BUILD {
namespace on_cuda {

inline constexpr int row_max_threads = 1024;  ///< those that share one row; 512 in all where rows lie side by side

/// How rows are laid over the device.
struct row_plan {
  lane_layout lanes;
  int groups = 0;        ///< of V * lanes columns each, in registers; 0: the row is too long
  int inner_mask = 0;    ///< inner lanes - 1
  bool vectors = false;  ///< a thread takes V neighbouring columns at once
};

/// As CUDA's expf, to the bit.
__device__ __forceinline__ float row_exp(float x) {
  float result;
  asm("{\n\t"
      ".reg .f32 t, n, f, p;\n\t"
      ".reg .b32 i;\n\t"
      "fma.rn.sat.f32 t, %1, 0f3BBB989D, 0f3F000000;\n\t"
      "fma.rm.f32 t, t, 0f437C0000, 0f4B400001;\n\t"
      "sub.f32 n, 0f4B40007F, t;\n\t"
      "fma.rn.f32 f, %1, 0f3FB8AA3B, n;\n\t"
      "fma.rn.f32 f, %1, 0f32A57060, f;\n\t"
      "mov.b32 i, t;\n\t"
      "shl.b32 i, i, 23;\n\t"
      "mov.b32 p, i;\n\t"
      "ex2.approx.ftz.f32 f, f;\n\t"
      "mul.f32 %0, f, p;\n\t"
      "}"
      : "=f"(result)
      : "f"(x));
  return result;
}
__device__ inline double row_exp(double x) { return ::exp(x); }
__device__ inline float row_log(float x) { return logf(x); }
__device__ inline double row_log(double x) { return ::log(x); }
__device__ inline float row_rsqrt(float x) { return rsqrtf(x); }
__device__ inline double row_rsqrt(double x) { return ::rsqrt(x); }
/// The greater one; of a number and NaN the number (a NaN shows in the sum of the exponentials instead).
__device__ inline float row_max(float x, float y) { return fmaxf(x, y); }
__device__ inline double row_max(double x, double y) { return fmax(x, y); }
template <class Value>
__device__ inline Value minus_infinity() {
  return static_cast<Value>(-__int_as_float(0x7f800000));
}

/// One value for each of the rows that a thread takes at once.
template <class T, int R>
struct per_row {
  T row[R];
  __device__ __forceinline__ T& operator[](int r) { return row[r]; }
  __device__ __forceinline__ const T& operator[](int r) const { return row[r]; }
};

struct combine_sum {
  template <class T>
  __device__ __forceinline__ void operator()(T& left, const T& right) const {
    left += right;
  }
  template <class T, int R>
  __device__ __forceinline__ void operator()(per_row<T, R>& left, const per_row<T, R>& right) const {
#pragma unroll
    for (int r = 0; r < R; ++r) (*this)(left[r], right[r]);
  }
};

/// The number type that an element's values are of.
template <class Value>
struct real_of {
  using type = Value;
};
/// Two operands of an operation on rows, element by element.
template <class Real>
struct element_pair {
  Real first, second;
  __device__ __forceinline__ element_pair& operator+=(const element_pair& other) {
    first += other.first;
    second += other.second;
    return *this;
  }
};
template <class Real>
struct real_of<element_pair<Real>> {
  using type = Real;
};

/// Two sources read side by side.
template <class First, class Second>
struct source_pair {
  static_assert(std::is_same_v<typename First::value_type, typename Second::value_type>);
  using value_type = element_pair<typename First::value_type>;
  static constexpr int vector_width =
      First::vector_width < Second::vector_width ? First::vector_width : Second::vector_width;
  struct Position {
    typename First::Position first;
    typename Second::Position second;
  };
  struct Cursor {
    typename First::Cursor first;
    typename Second::Cursor second;
  };
  First first;
  Second second;

  template <int V>
  bool in_vectors() const {
    return first.template in_vectors<V>() && second.template in_vectors<V>();
  }
  bool has_cursor() const { return first.has_cursor() && second.has_cursor(); }
  bool inner_is_contiguous() const { return first.inner_is_contiguous() && second.inner_is_contiguous(); }

  __device__ __forceinline__ Position at(index_t row) const { return {first.at(row), second.at(row)}; }
  __device__ __forceinline__ value_type load(const Position& position, index_t column) const {
    return {first.load(position.first, column), second.load(position.second, column)};
  }
  __device__ __forceinline__ Cursor cursor(const Position& position, int column, int columns) const {
    return {first.cursor(position.first, column, columns), second.cursor(position.second, column, columns)};
  }
  __device__ __forceinline__ void step(Cursor& cursor) const {
    first.step(cursor.first);
    second.step(cursor.second);
  }
  template <int V>
  __device__ __forceinline__ void load(const Cursor& cursor, value_type (&values)[V]) const {
    typename First::value_type a[V], b[V];
    first.template load<V>(cursor.first, a);
    second.template load<V>(cursor.second, b);
#pragma unroll
    for (int j = 0; j < V; ++j) values[j] = {a[j], b[j]};
  }
};

/// shuffle_xor of a value made of numbers, without the copies that its general form makes in PTX.
template <int Distance>
__device__ __forceinline__ float shuffle_number(float x) {
  float y;
  asm volatile("shfl.sync.bfly.b32 %0, %1, %2, 31, 0xffffffff;" : "=f"(y) : "f"(x), "n"(Distance));
  return y;
}
template <int Distance>
__device__ __forceinline__ double shuffle_number(double x) {
  return __hiloint2double(__shfl_xor_sync(0xffffffffU, __double2hiint(x), Distance),
                          __shfl_xor_sync(0xffffffffU, __double2loint(x), Distance));
}
template <int Distance, class Real, class T>
__device__ __forceinline__ T shuffle_numbers(const T& value) {
  constexpr int count = static_cast<int>(sizeof(T) / sizeof(Real));
  Real numbers[count];
  memcpy(numbers, &value, sizeof(T));
#pragma unroll
  for (int i = 0; i < count; ++i) numbers[i] = shuffle_number<Distance>(numbers[i]);
  T result;
  memcpy(&result, numbers, sizeof(T));
  return result;
}

/// The shared memory in which threads combine values, and that of the outcomes.
template <class Real>
struct row_scratch {
  static constexpr int width = 4;  ///< numbers that a value may consist of
  alignas(16) Real parts[width * 512];
  alignas(16) Real outcomes[width * 128];
};

/// How a thread of a row-wise kernel combines what it has with the others of its row: first within its warp ("near"),
/// then one warp combines those outcomes for all ("far"). The order depends on the plan alone. All threads of a block
/// must call.
template <class Real>
class row_lanes {
 public:
  __device__ __forceinline__ row_lanes(const lane_layout& lanes, row_scratch<Real>& scratch, int lane)
      : lane_(lane),
        log2_inner_(lanes.log2_inner),
        log2_outer_(lanes.log2_outer),
        inner_fast_(lanes.inner_fast),
        scratch_(scratch) {}

  template <class T, class Combine>
  __device__ __forceinline__ T combine(T value, Combine combine) const {
    return far(near(value, combine), combine);
  }
  template <class T, class Combine>
  __device__ __forceinline__ T near(T value, Combine combine) const {
    if (inner_fast_ && log2_inner_ >= 5) {
      combine(value, shuffle_numbers<16, Real>(value));
      combine(value, shuffle_numbers<8, Real>(value));
      combine(value, shuffle_numbers<4, Real>(value));
      combine(value, shuffle_numbers<2, Real>(value));
      combine(value, shuffle_numbers<1, Real>(value));
    } else {
      const int stride = inner_fast_ ? 1 : 1 << log2_outer_;
      for (int distance = ::min(stride << log2_inner_, warp_size) / 2; distance >= stride; distance /= 2)
        combine(value, shuffle_xor(value, distance));
    }
    return value;
  }
  /// Whether other warps share the row.
  __device__ __forceinline__ bool has_peers() const {
    return inner_fast_ ? log2_inner_ > 5 : log2_inner_ > 0 && log2_inner_ + log2_outer_ > 5;
  }
  template <class T, class Combine>
  __device__ __forceinline__ T far(T value, Combine combine) const {
    static_assert(sizeof(T) <= row_scratch<Real>::width * sizeof(Real));
    if (!has_peers()) return value;
    T* const parts = reinterpret_cast<T*>(scratch_.parts);
    T* const outcomes = reinterpret_cast<T*>(scratch_.outcomes);
    const unsigned thread = threadIdx.x, warp = thread / warp_size, lane = thread % warp_size;
    unsigned row;
    if (inner_fast_) {
      const unsigned peers = 1U << (log2_inner_ - 5);
      row = warp >> (log2_inner_ - 5);
      if (lane == 0) parts[warp] = value;
      __syncthreads();
      if ((warp & (peers - 1)) == 0) {
        value = parts[warp + (lane & (peers - 1))];
        for (unsigned distance = peers / 2; distance > 0; distance /= 2)
          combine(value, shuffle_xor(value, static_cast<int>(distance)));
        if (lane == 0) outcomes[row] = value;
      }
    } else {
      const unsigned rows = 1U << log2_outer_;
      const unsigned peers = log2_outer_ < 5 ? 1U << (log2_inner_ + log2_outer_ - 5) : 1U << log2_inner_;
      row = thread & (rows - 1);
      if (log2_outer_ >= 5 || lane < rows) parts[log2_outer_ < 5 ? warp * rows + row : thread] = value;
      __syncthreads();
      if (thread < rows) {
        for (unsigned peer = 1; peer < peers; ++peer) combine(value, parts[peer * rows + row]);
        outcomes[row] = value;
      }
    }
    __syncthreads();
    return outcomes[row];
  }

 protected:
  const int lane_;  ///< the thread's place along the row

 private:
  const int log2_inner_, log2_outer_;
  const bool inner_fast_;
  row_scratch<Real>& scratch_;
};

/// A form that is walked with cursors; others are read and written element by element.
template <class Form>
concept HasCursor = requires {
  typename Form::Cursor;
};

/// R rows in the registers of the threads that share them: G groups of V columns a thread. All groups but the last,
/// which has a place of its own, lie within the row for every lane. Beyond the row's end the last group's elements are
/// `beyond`, which the folds must be indifferent to, or what `pad` makes of them.
template <class Source, int R, int G, int V>
class held_rows : public row_lanes<typename real_of<typename Source::value_type>::type> {
 public:
  using Value = typename Source::value_type;
  using Real = typename real_of<Value>::type;
  using Base = row_lanes<Real>;
  static constexpr bool held = true;
  static constexpr int rows_at_once = R;

  /// The rows first, first + 1, …; those from `rows` on are copies of the last.
  __device__ __forceinline__ held_rows(const Source& source, const row_plan& plan, row_scratch<Real>& scratch, int lane,
                                       index_t first, index_t rows, int columns, Value beyond)
      : Base(plan.lanes, scratch, lane),
        count_(first + R <= rows ? R : (first < rows ? static_cast<int>(rows - first) : 0)),
        first_(first),
        columns_(columns),
        whole_(plan.groups - 1),
        lanes_(plan.inner_mask + 1),
        vectors_(R > 1 || plan.vectors) {
#pragma unroll
    for (int r = 0; r < R; ++r) {
      load(source, source.at(r < count_ ? first + r : rows - 1), beyond, x_[r]);
    }
  }

  __device__ int columns() const { return columns_; }

  /// The sum of f(element, row) over each row; f may change the element.
  template <class F>
  __device__ __forceinline__ auto sum(F f) {
    return Base::combine(own_sum(f), combine_sum{});
  }
  /// As sum, of what this warp has of the rows.
  template <class F>
  __device__ __forceinline__ auto near_sum(F f) {
    return Base::near(own_sum(f), combine_sum{});
  }
  /// The greatest element that this warp has of the row.
  __device__ __forceinline__ Real near_greatest() {
    static_assert(R == 1);
    Real part[V];
#pragma unroll
    for (int e = 0; e < V; ++e) part[e] = x_[0][G - 1][e];
    each_whole(0, [&](Value& x, int e) { part[e] = row_max(part[e], x); });
#pragma unroll
    for (int e = 1; e < V; ++e) part[0] = row_max(part[0], part[e]);
    return Base::near(part[0], [](Real& left, Real right) { left = row_max(left, right); });
  }
  /// Sets what is beyond the rows' ends to f(row).
  template <class F>
  __device__ __forceinline__ void pad(F f) {
#pragma unroll
    for (int e = 0; e < V; ++e) {
      const bool within = last_column(e) < columns_;
#pragma unroll
      for (int r = 0; r < R; ++r) x_[r][G - 1][e] = within ? x_[r][G - 1][e] : f(r);
    }
  }
  /// sink = f(element, row).
  template <class Sink, class F>
  __device__ __forceinline__ void store(const Sink& sink, F f) {
    if (count_ == 0) return;
    typename Sink::Position position[R];
#pragma unroll
    for (int r = 0; r < R; ++r) position[r] = sink.at(first_ + (r < count_ ? r : 0));
    if constexpr (HasCursor<Sink>) {
      typename Sink::Cursor cursor[R];
#pragma unroll
      for (int r = 0; r < R; ++r) cursor[r] = start(sink, position[r]);
      if (vectors_) {
#pragma unroll
        for (int i = 0; i < G - 1; ++i) {
          if (i >= whole_) break;
          store_group(sink, cursor, i, f);
#pragma unroll
          for (int r = 0; r < R; ++r) sink.step(cursor[r]);
        }
        if (last_column(0) < columns_) store_group(sink, cursor, G - 1, f);
      } else if constexpr (R == 1) {
        const auto store_one = [&](const Value& x) {
          const Real y[1][1] = {{f(x, 0)}};
          sink.template store<1, 1>(cursor, 1, y);
          sink.step(cursor[0]);
        };
        each_whole(0, [&](Value& x, int) { store_one(x); });
#pragma unroll
        for (int e = 0; e < V; ++e)
          if (last_column(e) < columns_) store_one(x_[0][G - 1][e]);
      }
    } else {
      static_assert(R == 1);
      int column = this->lane_;
      const auto store_one = [&](const Value& x) {
        sink.store(position[0], index_t{0}, static_cast<index_t>(column), f(x, 0));
        column += lanes_;
      };
      each_whole(0, [&](Value& x, int) { store_one(x); });
#pragma unroll
      for (int e = 0; e < V; ++e)
        if (last_column(e) < columns_) store_one(x_[0][G - 1][e]);
    }
  }

 private:
  /// The column of the last group's element e.
  __device__ __forceinline__ int last_column(int e) const {
    return whole_ * V * lanes_ + (vectors_ ? this->lane_ * V + e : e * lanes_ + this->lane_);
  }
  template <class F>
  __device__ __forceinline__ void each_whole(int r, F f) {
#pragma unroll
    for (int i = 0; i < G - 1; ++i) {
      if (i >= whole_) break;
#pragma unroll
      for (int e = 0; e < V; ++e) f(x_[r][i][e], e);
    }
  }
  template <class F>
  __device__ __forceinline__ void each(int r, F f) {
    each_whole(r, f);
#pragma unroll
    for (int e = 0; e < V; ++e) f(x_[r][G - 1][e], e);
  }
  template <class F>
  __device__ __forceinline__ auto own_sum(F f) {
    using T = std::remove_cvref_t<decltype(f(x_[0][0][0], 0))>;
    per_row<T, R> total;
#pragma unroll
    for (int r = 0; r < R; ++r) {
      T part[V];
#pragma unroll
      for (int e = 0; e < V; ++e) part[e] = f(x_[r][G - 1][e], r);
      each_whole(r, [&](Value& x, int e) { combine_sum{}(part[e], f(x, r)); });
#pragma unroll
      for (int width = 1; width < V; width *= 2) {
#pragma unroll
        for (int e = 0; e < V; e += 2 * width) combine_sum{}(part[e], part[e + width]);
      }
      total[r] = part[0];
    }
    return total;
  }

  template <class Form>
  __device__ __forceinline__ auto start(const Form& form, const typename Form::Position& position) const {
    return form.cursor(position, vectors_ ? this->lane_ * V : this->lane_, vectors_ ? lanes_ * V : lanes_);
  }
  template <class Sink, class F>
  __device__ __forceinline__ void store_group(const Sink& sink, const typename Sink::Cursor (&cursor)[R], int i, F f) {
    Real y[R][V];
#pragma unroll
    for (int r = 0; r < R; ++r) {
#pragma unroll
      for (int e = 0; e < V; ++e) y[r][e] = f(x_[r][i][e], r);
    }
    sink.template store<V, R>(cursor, count_, y);
  }
  __device__ __forceinline__ void load(const Source& source, const typename Source::Position& position, Value beyond,
                                       Value (&x)[G][V]) {
    const auto load_all = [&](auto load_one) {
#pragma unroll
      for (int i = 0; i < G - 1; ++i) {
        if (i >= whole_) break;
#pragma unroll
        for (int e = 0; e < V; ++e) x[i][e] = load_one();
      }
#pragma unroll
      for (int e = 0; e < V; ++e) x[G - 1][e] = last_column(e) < columns_ ? load_one() : beyond;
    };
    if constexpr (HasCursor<Source>) {
      auto cursor = start(source, position);
      if (vectors_) {
#pragma unroll
        for (int i = 0; i < G - 1; ++i) {
          if (i >= whole_) break;
          source.template load<V>(cursor, x[i]);
          source.step(cursor);
        }
#pragma unroll
        for (int e = 0; e < V; ++e) x[G - 1][e] = beyond;
        if (last_column(0) < columns_) source.template load<V>(cursor, x[G - 1]);
      } else if constexpr (R == 1) {
        load_all([&] {
          Value value[1];
          source.template load<1>(cursor, value);
          source.step(cursor);
          return value[0];
        });
      }
    } else {
      static_assert(R == 1);
      int column = this->lane_;
      load_all([&] {
        const Value value = source.load(position, static_cast<index_t>(column));
        column += lanes_;
        return value;
      });
    }
  }

  Value x_[R][G][V];
  const int count_;
  const index_t first_;
  const int columns_, whole_, lanes_;
  const bool vectors_;
};

/// A row that is read from memory by every fold and by the store.
template <class Source>
class streamed_row : public row_lanes<typename real_of<typename Source::value_type>::type> {
 public:
  using Value = typename Source::value_type;
  using Real = typename real_of<Value>::type;
  using Base = row_lanes<Real>;
  static constexpr bool held = false;
  static constexpr int rows_at_once = 1;

  __device__ __forceinline__ streamed_row(const Source& source, const row_plan& plan, row_scratch<Real>& scratch,
                                          int lane, index_t row, index_t rows, index_t columns)
      : Base(plan.lanes, scratch, lane),
        source_(source),
        row_(row < rows ? row : rows - 1),
        is_row_(row < rows),
        columns_(columns),
        lanes_(plan.lanes.inner_lanes()),
        position_(source.at(row_)) {}

  __device__ index_t columns() const { return columns_; }

  /// The combination of what accumulate(state, element) makes of each thread's elements.
  template <class State, class Accumulate, class Combine>
  __device__ __forceinline__ State fold(State state, Accumulate accumulate, Combine combine) {
    each([&](const Value& x, index_t) { accumulate(state, x); });
    return Base::combine(state, combine);
  }
  template <class F>
  __device__ __forceinline__ auto sum(F f) {
    using T = decltype(f(Value{}, 0));
    // Sums of bounded runs are added, so that long rows lose no digits.
    constexpr int run = 64;
    T total{}, part{};
    int count = 0;
    each([&](const Value& x, index_t) {
      combine_sum{}(part, f(x, 0));
      if (++count == run) {
        combine_sum{}(total, part);
        part = T{};
        count = 0;
      }
    });
    combine_sum{}(total, part);
    return Base::combine(per_row<T, 1>{{total}}, combine_sum{});
  }
  template <class Sink, class F>
  __device__ __forceinline__ void store(const Sink& sink, F f) {
    if (!is_row_) return;
    const typename Sink::Position position = sink.at(row_);
    each([&](const Value& x, index_t column) { sink.store(position, index_t{0}, column, f(x, 0)); });
  }

 private:
  template <class F>
  __device__ __forceinline__ void each(F f) {
    constexpr int U = 4;
    index_t column = this->lane_;
#pragma unroll 1
    for (; column + (U - 1) * lanes_ < columns_; column += U * lanes_) {
      Value x[U];
#pragma unroll
      for (int e = 0; e < U; ++e) x[e] = source_.load(position_, column + e * lanes_);
#pragma unroll
      for (int e = 0; e < U; ++e) f(x[e], column + e * lanes_);
    }
#pragma unroll 1
    for (; column < columns_; column += lanes_) f(source_.load(position_, column), column);
  }

  const Source& source_;
  index_t row_;
  bool is_row_;
  index_t columns_;
  index_t lanes_;
  typename Source::Position position_;
};

/// Groups of V elements that a thread holds: 32 words of registers.
template <class Source, int V>
inline constexpr int row_groups = static_cast<int>(32 * 4 / (V * sizeof(typename Source::value_type)));
/// Columns that a thread takes at once: what the source says, else 4.
template <class Source>
inline constexpr int row_vector = 4;
template <class Source>
requires requires { Source::vector_width; }
inline constexpr int row_vector<Source> = Source::vector_width;

/// A block takes outer_lanes times R rows. Op says by its member `beyond` what follows the end of a held row.
template <class Op, int R, class Source, class Sink>
__global__ void __launch_bounds__(row_max_threads, 1)
    row_kernel(const __grid_constant__ Source source, const __grid_constant__ Sink sink,
               const __grid_constant__ Op operation, index_t rows, index_t columns,
               const __grid_constant__ row_plan plan) {
  using Value = typename Source::value_type;
  using Real = typename real_of<Value>::type;
  constexpr int V = row_vector<Source>;
  __shared__ row_scratch<Real> scratch;
  const int thread = static_cast<int>(threadIdx.x);
  int lane, slot;
  if (plan.lanes.inner_fast) {
    lane = thread & plan.inner_mask;
    slot = thread >> plan.lanes.log2_inner;
  } else {
    lane = thread >> plan.lanes.log2_outer;
    slot = thread - (lane << plan.lanes.log2_outer);
  }
  const index_t row = ((static_cast<index_t>(blockIdx.x) << plan.lanes.log2_outer) + slot) * R;
  if (R > 1 || plan.groups > 0) {
    held_rows<Source, R, row_groups<Source, V> / R, V> held(source, plan, scratch, lane, row, rows,
                                                            static_cast<int>(columns), Op::template beyond<Value>());
    operation(held, sink);
  } else if constexpr (R == 1) {
    streamed_row<Source> streamed(source, plan, scratch, lane, row, rows, columns);
    operation(streamed, sink);
  }
}

/// Blocks that keep an H200 busy.
inline constexpr index_t row_enough_blocks = 128;

/// How many threads share a row of so many columns, of which one thread may hold `held`: as few as that takes, more
/// where there would be too few blocks. `width`: columns that a thread takes at once.
inline row_plan plan_rows(index_t rows, index_t columns, int held, int width, int R, bool inner_fast, bool vectors) {
  row_plan plan;
  plan.vectors = vectors;
  int inner = 0, outer = 0;
  if (inner_fast) {
    // Neighbouring threads should read whole sectors.
    inner = log2_ceil(ceil_div(columns, vectors ? width : 1), vectors ? 1 : 3);
    while (inner < 10 && (static_cast<index_t>(held) << inner) < columns) ++inner;
    const auto blocks = [&] { return rows * (index_t{1} << inner) / R / (inner < 7 ? 128 : index_t{1} << inner); };
    while (inner < 10 && blocks() < row_enough_blocks && (columns >> inner) >= 2 * width) ++inner;
    outer = inner < 7 ? 7 - inner : 0;
  } else {
    outer = 5;
    inner = log2_ceil(ceil_div(columns, 8), 4);
    // Narrower groups of rows keep longer rows in registers; 8 floats are still whole sectors.
    while (outer > 3 && (static_cast<index_t>(held) << inner) < columns) --outer, ++inner;
    if ((static_cast<index_t>(held) << inner) < columns) outer = 5, inner = 4;
    if (inner + outer < 7) outer = 7 - inner;
  }
  plan.lanes = {inner, outer, inner_fast};
  plan.inner_mask = (1 << inner) - 1;
  if (columns <= static_cast<index_t>(held) << inner)
    plan.groups = static_cast<int>(ceil_div(columns, static_cast<index_t>(width) << inner));
  return plan;
}

/// Runs an operation on every row. Sources and sinks without the members of row_form are read element by element.
template <class Op, class Source, class Sink>
inline void row_wise(const Op& operation, const Source& source, const Sink& sink, index_t rows, index_t columns,
                     const launch_context& context) {
  if (rows <= 0 || columns <= 0) return;
  constexpr int V = row_vector<Source>, held = V * row_groups<Source, V>;
  bool inner_fast = true, vectors = false, has_cursor = true;
  if constexpr (requires { source.inner_is_contiguous(); }) inner_fast = source.inner_is_contiguous();
  if constexpr (HasCursor<Source> && HasCursor<Sink>) {
    has_cursor = source.has_cursor() && sink.has_cursor();
    vectors = has_cursor && source.template in_vectors<V>() && sink.template in_vectors<V>() && inner_fast;
  }
  if constexpr (Op::many_rows && requires { sink.repeats_rows(); }) {
    constexpr int R = 4;
    if (vectors && Sink::leaves > 0 && sink.repeats_rows()) {
      const row_plan plan = plan_rows(rows, columns, held / R, V, R, true, true);
      const index_t blocks = ceil_div(rows, static_cast<index_t>(R) << plan.lanes.log2_outer);
      if (plan.groups > 0 && blocks >= row_enough_blocks) {
        launch(row_kernel<Op, R, Source, Sink>, dim3(blocks_for(blocks, 1)),
               dim3(static_cast<unsigned>(plan.lanes.threads())), 0, context, source, sink, operation, rows, columns,
               plan);
        return;
      }
    }
  }
  row_plan plan = plan_rows(rows, columns, held, V, 1, inner_fast, vectors);
  if (!has_cursor) plan.groups = 0;
  launch(row_kernel<Op, 1, Source, Sink>, dim3(blocks_for(rows, plan.lanes.outer_lanes())),
         dim3(static_cast<unsigned>(plan.lanes.threads())), 0, context, source, sink, operation, rows, columns, plan);
}

}  // namespace on_cuda
}  // namespace HEDDLE_BUILD
}  // namespace heddle
