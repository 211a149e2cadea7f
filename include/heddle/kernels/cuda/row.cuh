// One row as an operation sees it: held in registers, or too long for that and read again for every pass. Either is
// folded (sum) and stored; a held one may also be changed in place and padded.
#pragma once

#include <type_traits>
#include <utility>

#include "heddle/config.hpp"
#include "heddle/core/shape.hpp"
#include "heddle/kernels/cuda/row_lanes.cuh"
#include "heddle/kernels/cuda/row_operands.cuh"

namespace heddle {
inline namespace HEDDLE_BUILD {
namespace on_cuda {

/// A form that is walked with cursors; others are read and written element by element.
template <class Form>
concept HasCursor = requires {
  typename Form::Cursor;
};

/// A row in the registers of the threads that share it: G groups of V columns a thread. All groups but the last, which
/// has a place of its own, lie within the row for every lane. Beyond the row's end the last group's elements are
/// `beyond`, which the folds must be indifferent to, or what `pad` makes of them.
template <class Source, int G, int V>
class held_row : public row_lanes<typename real_of<typename Source::value_type>::type> {
 public:
  using Value = typename Source::value_type;
  using Real = typename real_of<Value>::type;
  using Base = row_lanes<Real>;
  static constexpr bool held = true;

  /// A row beyond the last is a copy of the last, and is not stored.
  __device__ __forceinline__ held_row(const Source& source, const row_plan& plan, row_scratch<Real>& scratch, int lane,
                                      index_t row, index_t rows, int columns, Value beyond)
      : Base(plan, scratch, lane),
        source_(source),
        row_(row),
        is_row_(row < rows),
        columns_(columns),
        whole_(plan.groups - 1),
        lanes_(1 << plan.log2_lanes()),
        vectors_(plan.vectors),
        staged_(plan.staged),
        valid_(valid_in_last(plan)) {
    load(source, source.at(is_row_ ? row : rows - 1), beyond);
  }

  __device__ int columns() const { return columns_; }

  /// The sum of f(element) over the row; f may change the element. It is also told where in the thread's registers the
  /// element is, group and place, if it wants to know: f(element, group, place). So it is with store.
  template <class F>
  __device__ __forceinline__ auto sum(F f) {
    return Base::far(near_sum(f), combine_sum{});
  }
  /// As sum, of what this warp has of the row.
  template <class F>
  __device__ __forceinline__ auto near_sum(F f) {
    using T = std::remove_cvref_t<decltype(call(f, x_[0][0], 0, 0))>;
    T part[V];
#pragma unroll
    for (int e = 0; e < V; ++e) part[e] = call(f, x_[G - 1][e], G - 1, e);
    each_whole([&](Value& x, int i, int e) { combine_sum{}(part[e], call(f, x, i, e)); });
#pragma unroll
    for (int width = 1; width < V; width *= 2) {
#pragma unroll
      for (int e = 0; e < V; e += 2 * width) combine_sum{}(part[e], part[e + width]);
    }
    return Base::near(part[0], combine_sum{});
  }
  /// The greatest element that this warp has of the row.
  __device__ __forceinline__ Real near_greatest() {
    Real part[V];
#pragma unroll
    for (int e = 0; e < V; ++e) part[e] = x_[G - 1][e];
    each_whole([&](Value& x, int, int e) { part[e] = row_max(part[e], x); });
#pragma unroll
    for (int e = 1; e < V; ++e) part[0] = row_max(part[0], part[e]);
    return Base::near(part[0], [](Real& left, Real right) { left = row_max(left, right); });
  }
  /// Sets what is beyond the row's end.
  __device__ __forceinline__ void pad(Value beyond) {
#pragma unroll
    for (int e = 0; e < V; ++e)
      if (e >= valid_) x_[G - 1][e] = beyond;
  }
  /// f(element, group, place in the group) for all that the thread holds, also beyond the row's end.
  template <class F>
  __device__ __forceinline__ void each(F f) {
    each_whole(f);
#pragma unroll
    for (int e = 0; e < V; ++e) f(x_[G - 1][e], G - 1, e);
  }
  /// sink = f(element). `staged`: where the block keeps what the epilogue reads for every row, if the plan says so.
  template <class Sink, class F>
  __device__ __forceinline__ void store(const Sink& sink, [[maybe_unused]] const uint4* staged, F f) {
    if constexpr (HasCursor<Sink>) {
      if (Sink::leaves > 0 && staged_) __syncthreads();
    }
    if (!is_row_) return;
    const typename Sink::Position position = sink.at(row_);
    if constexpr (HasCursor<Sink>) {
      auto cursor = start(sink, position);
      if (vectors_) {
        if (Sink::leaves > 0 && staged_) sink.read_staged(cursor, staged, this->lane_ * V);
        auto last = ahead(sink, position, cursor);
        if (Sink::two_axes && Sink::leaves > 0 && staged_)
          sink.read_staged(last, staged, (whole_ * lanes_ + this->lane_) * V);
        if (Sink::leaves > 0 && sink.broadcasts())
          store_groups<true>(sink, cursor, last, f);
        else
          store_groups<false>(sink, cursor, last, f);
      } else {
        store_each([&](Value& x, int i, int e) {
          const Real y[1] = {call(f, x, i, e)};
          sink.template store<1, false>(cursor, y);
          sink.step(cursor);
        });
      }
    } else {
      int column = this->lane_;
      store_each([&](Value& x, int i, int e) {
        sink.store(position, index_t{0}, static_cast<index_t>(column), call(f, x, i, e));
        column += lanes_;
      });
    }
  }

  /// The sum of f(element, column) over the row.
  template <class F>
  __device__ __forceinline__ auto sum_by_column(F f) {
    return sum([&](Value& x, int i, int e) {
      using T = std::remove_cvref_t<decltype(f(x, index_t{0}))>;
      return (i < G - 1 || e < valid_) ? f(x, static_cast<index_t>(column(i, e))) : T{};
    });
  }
  /// The column that a place in the thread's registers stands for.
  __device__ __forceinline__ int column(int i, int e) const {
    return (i < G - 1 ? i : whole_) * V * lanes_ + (vectors_ ? this->lane_ * V + e : e * lanes_ + this->lane_);
  }
  __device__ __forceinline__ bool is_row() const { return is_row_; }
  __device__ __forceinline__ bool is_first_lane() const { return this->lane_ == 0; }
  __device__ __forceinline__ index_t index() const { return row_; }
  /// An element of the row, read from memory.
  __device__ __forceinline__ Value element(index_t column) const { return source_.load(source_.at(row_), column); }

 private:
  template <class F>
  static __device__ __forceinline__ auto call(F& f, Value& x, int i, int e) {
    if constexpr (std::is_invocable_v<F&, Value&, int, int>)
      return f(x, i, e);
    else
      return f(x);
  }
  /// How many of the last group's elements lie within the row.
  __device__ __forceinline__ int valid_in_last(const row_plan& plan) const {
    const int left = columns_ - whole_ * V * lanes_;
    if (vectors_) return left - this->lane_ * V;
    return (left - this->lane_ + lanes_ - 1) >> plan.log2_lanes();
  }
  template <class F>
  __device__ __forceinline__ void each_whole(F f) {
#pragma unroll
    for (int i = 0; i < G - 1; ++i) {
      if (i >= whole_) break;
#pragma unroll
      for (int e = 0; e < V; ++e) f(x_[i][e], i, e);
    }
  }
  template <class F>
  __device__ __forceinline__ void store_each(F f) {
    each_whole(f);
#pragma unroll
    for (int e = 0; e < V; ++e)
      if (e < valid_) f(x_[G - 1][e], G - 1, e);
  }
  template <class Form>
  __device__ __forceinline__ auto start(const Form& form, const typename Form::Position& position) const {
    return form.cursor(position, vectors_ ? this->lane_ * V : this->lane_, vectors_ ? lanes_ * V : lanes_);
  }
  /// At the last group.
  template <class Form>
  __device__ __forceinline__ auto ahead(const Form& form, const typename Form::Position& position,
                                        const typename Form::Cursor& cursor) const {
    return form.ahead(position, cursor, this->lane_ * V, lanes_ * V, whole_);
  }
  template <bool Broadcasts, class Sink, class F>
  __device__ __forceinline__ void store_groups(const Sink& sink, typename Sink::Cursor cursor,
                                               const typename Sink::Cursor& last, F f) {
#pragma unroll
    for (int i = 0; i < G - 1; ++i) {
      if (i >= whole_) break;
      store_group<Broadcasts>(sink, cursor, i, f);
      sink.step(cursor);
    }
    if (valid_ > 0) store_group<Broadcasts>(sink, last, G - 1, f);
  }
  template <bool Broadcasts, class Sink, class F>
  __device__ __forceinline__ void store_group(const Sink& sink, const typename Sink::Cursor& cursor, int i, F f) {
    Real y[V];
#pragma unroll
    for (int e = 0; e < V; ++e) y[e] = call(f, x_[i][e], i, e);
    sink.template store<V, Broadcasts>(cursor, y);
  }
  template <bool Broadcasts, class Cursor>
  __device__ __forceinline__ void load_groups(const Source& source, Cursor cursor, const Cursor& last) {
#pragma unroll
    for (int i = 0; i < G - 1; ++i) {
      if (i >= whole_) break;
      source.template load<V, Broadcasts>(cursor, x_[i]);
      source.step(cursor);
    }
    if (valid_ > 0) source.template load<V, Broadcasts>(last, x_[G - 1]);
  }
  __device__ __forceinline__ void load(const Source& source, const typename Source::Position& position, Value beyond) {
    if constexpr (HasCursor<Source>) {
      auto cursor = start(source, position);
      if (vectors_) {
#pragma unroll
        for (int e = 0; e < V; ++e) x_[G - 1][e] = beyond;
        const auto last = ahead(source, position, cursor);
        if (Source::leaves > 1 && source.broadcasts())
          load_groups<true>(source, cursor, last);
        else
          load_groups<false>(source, cursor, last);
      } else {
        load_each(beyond, [&] {
          Value value[1];
          source.template load<1, false>(cursor, value);
          source.step(cursor);
          return value[0];
        });
      }
    } else {
      int column = this->lane_;
      load_each(beyond, [&] {
        const Value value = source.load(position, static_cast<index_t>(column));
        column += lanes_;
        return value;
      });
    }
  }
  template <class F>
  __device__ __forceinline__ void load_each(Value beyond, F f) {
    each_whole([&](Value& x, int, int) { x = f(); });
#pragma unroll
    for (int e = 0; e < V; ++e) x_[G - 1][e] = e < valid_ ? f() : beyond;
  }

  const Source& source_;
  Value x_[G][V];
  const index_t row_;
  const bool is_row_;
  const int columns_, whole_, lanes_;
  const bool vectors_, staged_;
  const int valid_;  ///< of the last group's elements, how many lie within the row
};

/// A row that is read from memory by every fold and by the store.
template <class Source>
class streamed_row : public row_lanes<typename real_of<typename Source::value_type>::type> {
 public:
  using Value = typename Source::value_type;
  using Real = typename real_of<Value>::type;
  using Base = row_lanes<Real>;
  static constexpr bool held = false;

  __device__ __forceinline__ streamed_row(const Source& source, const row_plan& plan, row_scratch<Real>& scratch,
                                          int lane, index_t row, index_t rows, index_t columns)
      : Base(plan, scratch, lane),
        source_(source),
        row_(row < rows ? row : rows - 1),
        is_row_(row < rows),
        columns_(columns),
        lanes_(plan.inner_mask + 1),
        position_(source.at(row_)) {}

  __device__ index_t columns() const { return columns_; }
  __device__ __forceinline__ bool is_row() const { return is_row_; }
  __device__ __forceinline__ bool is_first_lane() const { return this->lane_ == 0; }
  __device__ __forceinline__ index_t index() const { return row_; }
  __device__ __forceinline__ Value element(index_t column) const { return source_.load(position_, column); }

  /// The combination of what accumulate(state, element) makes of each thread's elements.
  template <class State, class Accumulate, class Combine>
  __device__ __forceinline__ State fold(State state, Accumulate accumulate, Combine combine) {
    each([&](const Value& x, index_t) { accumulate(state, x); });
    return Base::combine(state, combine);
  }
  template <class F>
  __device__ __forceinline__ auto sum(F f) {
    return sum_by_column([&](Value& x, index_t) { return f(x); });
  }
  template <class F>
  __device__ __forceinline__ auto sum_by_column(F f) {
    using T = std::remove_cvref_t<decltype(f(std::declval<Value&>(), index_t{0}))>;
    // Sums of bounded runs are added, so that long rows lose no digits.
    constexpr int run = 64;
    T total{}, part{};
    int count = 0;
    each([&](Value x, index_t column) {
      combine_sum{}(part, f(x, column));
      if (++count == run) {
        combine_sum{}(total, part);
        part = T{};
        count = 0;
      }
    });
    combine_sum{}(total, part);
    return Base::combine(total, combine_sum{});
  }
  template <class Sink, class F>
  __device__ __forceinline__ void store(const Sink& sink, const uint4*, F f) {
    store_by_column(sink, [&](const Value& x, index_t) { return f(x); });
  }
  template <class Sink, class F>
  __device__ __forceinline__ void store_by_column(const Sink& sink, F f) {
    if (!is_row_) return;
    const typename Sink::Position position = sink.at(row_);
    each([&](const Value& x, index_t column) { sink.store(position, index_t{0}, column, f(x, column)); });
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

}  // namespace on_cuda
}  // namespace HEDDLE_BUILD
}  // namespace heddle
