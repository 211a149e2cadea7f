// The tensor: a shared handle to memory, with a shape and strides.
#pragma once

#include <concepts>
#include <initializer_list>
#include <type_traits>
#include <utility>
#include <vector>

#include "heddle/config.hpp"
#include "heddle/core/buffer.hpp"
#include "heddle/core/device.hpp"
#include "heddle/core/dtype.hpp"
#include "heddle/core/error.hpp"
#include "heddle/core/layout.hpp"
#include "heddle/core/shape.hpp"
#include "heddle/core/storage.hpp"
#include "heddle/core/view.hpp"

namespace heddle {

namespace cuda {
class Stream;
}

template <class T, int Rank, class Device = Cpu>
class Tensor;

/// What a tensor asks of the layers above it: to compute, to copy and to fill. Specialised in expr/evaluate.hpp.
template <class Build>
struct evaluation;

/// The base of everything that is written but not yet computed (expr/formula.hpp).
struct formula_tag {};

template <class X>
inline constexpr bool is_formula_v = std::is_base_of_v<formula_tag, std::remove_cvref_t<X>>;

template <class T, int Rank, class Device>
std::true_type probe_tensor(const Tensor<T, Rank, Device>*);
std::false_type probe_tensor(const void*);
template <class T, int Rank, class Device>
Tensor<T, Rank, Device> tensor_base(const Tensor<T, Rank, Device>*);

/// A Tensor or a class derived from one.
template <class X>
inline constexpr bool is_tensor_v = false;
template <class X>
requires(std::is_class_v<std::remove_cvref_t<X>> && !is_formula_v<X>) inline constexpr bool is_tensor_v<X> =
    decltype(probe_tensor(static_cast<std::remove_cvref_t<X>*>(nullptr)))::value;

/// The Tensor that a tensor or a class derived from one is.
template <class X>
using tensor_base_t = decltype(tensor_base(static_cast<std::remove_cvref_t<X>*>(nullptr)));

/// A tensor whose elements are of another type than T.
template <class X, class T>
inline constexpr bool is_tensor_of_other_type_v = false;
template <class X, class T>
requires is_tensor_v<X>
inline constexpr bool is_tensor_of_other_type_v<X, T> = !std::is_same_v<typename tensor_base_t<X>::value_type, T>;

/// A tensor or a formula: whatever has a shape, a rank, a value_type and a device_type.
template <class X>
concept Expression = is_tensor_v<X> || is_formula_v<X>;

/// A number that a formula may hold.
template <class X>
concept ScalarArgument = Scalar<std::remove_cvref_t<X>>;

/// How many axes an index list keeps: integers take one away, ranges and `_` keep it.
template <class... I>
inline constexpr int kept_axes_v = (0 + ... + (std::is_integral_v<std::remove_cvref_t<I>> ? 0 : 1));

template <class I>
concept AxisIndex = std::integral<std::remove_cvref_t<I>> || std::same_as<std::remove_cvref_t<I>, full_extent_t> ||
    std::same_as<std::remove_cvref_t<I>, Range>;

/// A tensor of element type T, static rank and kind of device. Copying one copies the handle: both then show the same
/// elements (`clone()` copies the data). Views share the memory and keep it alive. `Tensor<const T, …>` is read-only.
///
///     hd::Tensor<float, 2> x = hd::ones<float>({2, 3});
///     hd::Tensor y = x * 2.0f;      // rebinds or makes y
///     x[0] = y[1];                  // writes through: x[0] is a temporary view
///
/// A default-constructed or moved-from tensor holds nothing: it may be assigned and destroyed, all else throws Error.
template <class T, int Rank, class Device>
class Tensor {
  static_assert(Element<std::remove_const_t<T>>,
                "a tensor's elements are bool, an integer, half, bfloat16, float or double");
  static_assert(Rank >= 0, "a rank is not negative");
  static_assert(is_device_v<Device>, "a tensor lives on heddle::Cpu or heddle::Cuda");

 public:
  using element_type = T;
  using value_type = std::remove_const_t<T>;
  using device_type = Device;
  static constexpr int rank = Rank;
  static constexpr bool is_read_only = std::is_const_v<T>;

  /// Holds nothing.
  Tensor() noexcept = default;
  Tensor(const Tensor&) noexcept = default;
  Tensor(Tensor&& other) noexcept
      : storage_(std::move(other.storage_)),
        data_(std::exchange(other.data_, nullptr)),
        shape_(other.shape_),
        strides_(other.strides_),
        device_(other.device_) {}

  /// A read-only handle to a writable tensor's elements.
  template <class U>
  requires(std::is_const_v<T>&& std::same_as<U, std::remove_const_t<T>>) Tensor(const Tensor<U, Rank, Device>& other)
  noexcept  // NOLINT: implicit, as T* to const T*
      : Tensor(other.storage(), other.storage() ? other.data() : nullptr,
               other.storage() ? other.shape() : Shape<Rank>{}, other.storage() ? other.strides() : Strides<Rank>{},
               other.storage() ? other.device() : Device{}) {}

  /// Computes a formula into a new tensor. Its rank and kind of device must be this tensor's; a lower kind of element
  /// type (int from float) is a compile error that asks for cast.
  template <class E, class Build = this_build>
  requires(is_formula_v<E> || is_tensor_of_other_type_v<E, std::remove_const_t<T>>)
      Tensor(E&& formula)  // NOLINT: implicit, it is what `Tensor y = a + b` means
      : Tensor(evaluation<Build>::template make<Tensor>(std::forward<E>(formula))) {}

  /// Takes over a buffer's memory, in C order. Throws ShapeError if the counts differ.
  Tensor(Buffer<value_type, Device>&& buffer, const Shape<Rank>& shape) : shape_(shape), strides_(row_major(shape)) {
    if (checked_shape(shape).size() != buffer.size())
      throw ShapeError(Message{} << "a buffer of " << buffer.size() << " elements for a tensor of shape " << shape);
    data_ = buffer.data();
    device_ = buffer.device();
    storage_ = buffer.release();
  }

  /// From its parts, unchecked: for views, creation functions and borrowed memory.
  Tensor(StorageHandle storage, T* data, const Shape<Rank>& shape, const Strides<Rank>& strides, Device device) noexcept
      : storage_(std::move(storage)), data_(data), shape_(shape), strides_(strides), device_(device) {}

  /// Rebinding, as for any handle.
  Tensor& operator=(const Tensor&) & noexcept = default;
  Tensor& operator=(Tensor&& other) & noexcept {
    storage_ = std::move(other.storage_);
    data_ = std::exchange(other.data_, nullptr);
    shape_ = other.shape_;
    strides_ = other.strides_;
    device_ = other.device_;
    return *this;
  }
  /// `y = formula` rebinds y to the result; y's memory serves again where no one else can see it.
  template <class E, class Build = this_build>
  requires(is_formula_v<E> || is_tensor_of_other_type_v<E, std::remove_const_t<T>>) Tensor& operator=(E&& formula) & {
    evaluation<Build>::rebind(*this, std::forward<E>(formula));
    return *this;
  }

  /// `x[i] = …`, `x(_, 3) = …`: a temporary view writes through to the elements that it shows.
  void operator=(const Tensor& source) && { assign(source); }
  void operator=(Tensor&& source) && { assign(source); }
  template <class E>
  requires(Expression<E> || ScalarArgument<E>) void operator=(E&& source) && {
    if constexpr (ScalarArgument<E>)
      fill(source);
    else
      assign(std::forward<E>(source));
  }
  void operator=(const Tensor&) const& = delete;
  template <class E>
  requires is_formula_v<E>
  void operator=(E&& formula) const& = delete;

  const Shape<Rank>& shape() const { return held().shape_; }
  const Strides<Rank>& strides() const { return held().strides_; }
  index_t size() const { return held().shape_.size(); }
  /// The extent of an axis; negative axes count from the end. Throws IndexError.
  index_t extent(int axis_number) const {
    const int counted = axis_number < 0 ? axis_number + Rank : axis_number;
    if (counted < 0 || counted >= Rank)
      throw IndexError(Message{} << "axis " << axis_number << " of a tensor of rank " << Rank);
    return shape()[counted];
  }
  /// The first element, in the memory of device(). Null for a tensor without elements.
  T* data() const { return held().data_; }
  Device device() const { return held().device_; }
  bool is_contiguous() const { return heddle::is_contiguous(shape(), strides_); }
  /// The shared control block; empty for a tensor that holds nothing.
  const StorageHandle& storage() const noexcept { return storage_; }

  /// Pointer, shape and strides for kernels and other libraries; owns nothing.
  TensorView<T, Rank> view() const { return {data(), shape_, strides_}; }

  // ---- views: they share the memory ----

  /// The rank - 1 view at index i of the first axis. Throws IndexError.
  Tensor<T, Rank - 1, Device> operator[](index_t i) const requires(Rank > 0) {
    Shape<Rank - 1> shape_left;
    Strides<Rank - 1> strides_left;
    const index_t offset = checked_index(i, 0) * strides_[0];
    if constexpr (Rank > 1) {
      for (int a = 1; a < Rank; ++a) {
        shape_left[a - 1] = shape_[a];
        strides_left[a - 1] = strides_[a];
      }
    }
    return {storage_, at(offset, shape_left.size()), shape_left, strides_left, device_};
  }

  /// Integers pick, `_` keeps, ranges cut; axes not named are kept whole. With an integer for every axis: a reference
  /// to the element on Cpu, a rank-0 view on Cuda, whose value is `x(i, j).item()`; on both it can be assigned to, and
  /// `x[i][j].item()` reads it. Integers out of range throw IndexError, ranges clamp.
  template <AxisIndex... I>
  requires(sizeof...(I) <= static_cast<std::size_t>(Rank)) decltype(auto) operator()(I... index) const {
    constexpr int kept = kept_axes_v<I...> + Rank - static_cast<int>(sizeof...(I));
    Shape<kept> new_shape;
    Strides<kept> new_strides;
    index_t offset = 0;
    int from = 0;
    int to = 0;
    held();
    (take(index, from, to, offset, new_shape, new_strides), ...);
    if constexpr (kept > 0) {
      for (; from < Rank; ++from, ++to) {
        new_shape[to] = shape_[from];
        new_strides[to] = strides_[from];
      }
    }
    if constexpr (kept == 0 && std::is_same_v<Device, Cpu>)
      return static_cast<T&>(data_[offset]);
    else
      return Tensor<T, kept, Device>(storage_, at(offset, new_shape.size()), new_shape, new_strides, device_);
  }

  /// Part of one axis. Example: `x.slice(hd::axis<0>, hd::range(0, 5))`.
  template <int A>
  Tensor slice(axis_t<A>, const Range& part) const {
    constexpr int a = normalized_axis<A, Rank>();
    Tensor result(*this);
    const ResolvedRange resolved = resolve(part, shape()[a]);
    result.shape_[a] = resolved.count;
    result.strides_[a] = strides_[a] * resolved.step;
    result.data_ = at(resolved.first * strides_[a], result.shape_.size());
    return result;
  }
  template <int A>
  Tensor slice(const Range& part) const {
    return slice(axis<A>, part);
  }

  /// The last two axes exchanged.
  Tensor transpose() const requires(Rank >= 2) {
    Tensor result(held());
    result.shape_[Rank - 2] = shape_[Rank - 1];
    result.shape_[Rank - 1] = shape_[Rank - 2];
    result.strides_[Rank - 2] = strides_[Rank - 1];
    result.strides_[Rank - 1] = strides_[Rank - 2];
    return result;
  }

  /// The axes in a new order. Example: `x.permute(hd::axes<2, 0, 1>)`.
  template <int... A>
  Tensor permute(axes_t<A...>) const {
    static_assert(sizeof...(A) == static_cast<std::size_t>(Rank), "permute names every axis once");
    constexpr bool each_once = [] {
      int seen[static_cast<std::size_t>(Rank > 0 ? Rank : 1)] = {};
      ((++seen[normalized_axis<A, Rank>()]), ...);
      for (int i = 0; i < Rank; ++i)
        if (seen[i] != 1) return false;
      return true;
    }();
    static_assert(each_once, "permute names every axis once");
    Tensor result(held());
    int to = 0;
    ((result.shape_[to] = shape_[normalized_axis<A, Rank>()],
      result.strides_[to] = strides_[normalized_axis<A, Rank>()], ++to),
     ...);
    return result;
  }
  template <int... A>
  Tensor permute() const {
    return permute(axes<A...>);
  }

  /// The same elements under another shape; one extent may be -1. A view, or a ShapeError where only a copy would do
  /// (`x.contiguous().reshape(…)`, or the function reshape).
  template <std::size_t N>
  Tensor<T, static_cast<int>(N), Device> reshape(const Extent (&extents)[N]) const {
    return reshape(Shape<static_cast<int>(N)>(extents));
  }
  template <int N>
  Tensor<T, N, Device> reshape(const Shape<N>& wanted) const {
    const Shape<N> new_shape = resolved_reshape(shape(), wanted);
    Strides<N> new_strides;
    if (!reshaped_strides(shape_, strides_, new_shape, new_strides))
      throw ShapeError(Message{} << "reshape: shape " << shape_ << " with strides " << as_shape(strides_)
                                 << " can't be seen as " << new_shape
                                 << " without a copy: use contiguous() first, or the function reshape");
    return {storage_, data_, new_shape, new_strides, device_};
  }
  Tensor<T, 0, Device> reshape(Shape<0>) const { return reshape<0>(Shape<0>{}); }

  /// All elements in one axis, in row-major order; a view, or a ShapeError as reshape.
  Tensor<T, 1, Device> flatten() const { return reshape(Shape<1>{size()}); }

  /// Without an axis of extent 1. Throws ShapeError for another extent.
  template <int A>
  Tensor<T, Rank - 1, Device> squeeze(axis_t<A>) const {
    constexpr int a = normalized_axis<A, Rank>();
    if (shape()[a] != 1)
      throw ShapeError(Message{} << "squeeze: axis " << a << " of shape " << shape_ << " has not extent 1");
    Shape<Rank - 1> new_shape;
    Strides<Rank - 1> new_strides;
    if constexpr (Rank > 1) {
      for (int i = 0; i < Rank; ++i) {
        if (i == a) continue;
        new_shape[i < a ? i : i - 1] = shape_[i];
        new_strides[i < a ? i : i - 1] = strides_[i];
      }
    }
    return {storage_, data_, new_shape, new_strides, device_};
  }
  template <int A>
  Tensor<T, Rank - 1, Device> squeeze() const {
    return squeeze(axis<A>);
  }

  /// With a new axis of extent 1, at that place of the result.
  template <int A>
  Tensor<T, Rank + 1, Device> unsqueeze(axis_t<A>) const {
    constexpr int a = normalized_axis<A, Rank + 1>();
    Shape<Rank + 1> new_shape;
    Strides<Rank + 1> new_strides;
    held();
    for (int i = 0, from = 0; i <= Rank; ++i) {
      new_shape[i] = i == a ? 1 : shape_[from];
      new_strides[i] = i == a ? 1 : strides_[from];
      if (i != a) ++from;
    }
    if (a < Rank) new_strides[a] = new_shape[a + 1] * new_strides[a + 1];
    return {storage_, data_, new_shape, new_strides, device_};
  }
  template <int A>
  Tensor<T, Rank + 1, Device> unsqueeze() const {
    return unsqueeze(axis<A>);
  }

  /// Axes of extent 1 repeated, and new axes in front; -1 keeps an extent. Several elements share one place, so the
  /// result is read-only. Throws ShapeError.
  template <std::size_t N>
  Tensor<const value_type, static_cast<int>(N), Device> expand(const Extent (&extents)[N]) const {
    return expand(Shape<static_cast<int>(N)>(extents));
  }
  template <int N>
  Tensor<const value_type, N, Device> expand(const Shape<N>& wanted) const {
    if constexpr (N < Rank) {
      throw ShapeError(Message{} << "expand: shape " << shape() << " to the shorter " << wanted);
    } else {
      Shape<N> new_shape = wanted;
      Strides<N> new_strides;
      if constexpr (N > 0) {
        for (int i = 0; i < N; ++i) {
          const int own = i - (N - Rank);
          const index_t extent_now = own < 0 ? 1 : shape()[own];
          if (own >= 0 && new_shape[i] == -1) new_shape[i] = extent_now;
          if (new_shape[i] < 0 || (extent_now != new_shape[i] && extent_now != 1))
            throw ShapeError(Message{} << "expand: shape " << shape() << " to " << wanted << ": axis " << i
                                       << " has extent " << extent_now);
          new_strides[i] = own < 0 || (extent_now == 1 && new_shape[i] != 1) ? 0 : strides_[own];
        }
      }
      return {storage_, data_, checked_shape(new_shape), new_strides, device_};
    }
  }

  /// A diagonal of two axes, by default of the last two, as the last axis of the result: the main one, or that which is
  /// `offset` places to the right (negative: below). It may be empty. Example: `x.diagonal(1, hd::axes<0, 2>)`.
  Tensor<T, Rank - 1, Device> diagonal(index_t offset = 0) const requires(Rank >= 2) {
    return diagonal(offset, axes<-2, -1>);
  }
  template <int Row, int Column>
  Tensor<T, Rank - 1, Device> diagonal(index_t offset, axes_t<Row, Column>) const requires(Rank >= 2) {
    constexpr int row = normalized_axis<Row, Rank>(), column = normalized_axis<Column, Rank>();
    static_assert(row != column, "a diagonal is one of two axes");
    Shape<Rank - 1> new_shape;
    Strides<Rank - 1> new_strides;
    held();
    for (int i = 0, to = 0; i < Rank; ++i) {
      if (i == row || i == column) continue;
      new_shape[to] = shape_[i];
      new_strides[to++] = strides_[i];
    }
    const index_t down = offset < 0 ? (offset < -shape_[row] ? shape_[row] : -offset) : 0;
    const index_t right = offset > 0 ? (offset > shape_[column] ? shape_[column] : offset) : 0;
    const index_t rows = shape_[row] - down, columns = shape_[column] - right;
    new_shape[Rank - 2] = rows < columns ? rows : columns;
    new_strides[Rank - 2] = strides_[row] + strides_[column];
    return {storage_, at(down * strides_[row] + right * strides_[column], new_shape.size()), new_shape, new_strides,
            device_};
  }

  // ---- copies ----

  /// A copy with memory of its own, dense, with this tensor's order of axes in memory. Writable.
  template <class Build = this_build>
  Tensor<value_type, Rank, Device> clone() const {
    return evaluation<Build>::clone(held());
  }
  /// The same handle where the elements lie in C order without gaps, else a copy that does.
  template <class Build = this_build>
  Tensor contiguous() const {
    // The handle's axes of extent 1 may have any stride; the result's have that of C order.
    return is_contiguous() ? Tensor(storage_, data_, shape_, row_major(shape_), device_)
                           : Tensor(evaluation<Build>::row_major_copy(*this));
  }
  /// The same handle where the tensor is on that device, else a copy there. From and to the host the copy is complete
  /// when this returns. Throws DeviceError, OutOfMemory.
  template <class ToDevice, class Build = this_build>
  requires is_device_v<ToDevice>
  auto to(ToDevice target) const { return evaluation<Build>::to_device(held(), target); }
  /// As `to`, on that stream and without waiting: this tensor must not be changed before the stream has come so far.
  template <class ToDevice, std::same_as<cuda::Stream> S, class Build = this_build>
  requires is_device_v<ToDevice>
  auto to_async(ToDevice target, const S& stream) const {
    return evaluation<Build>::to_device_async(held(), target, stream);
  }
  /// The elements converted as cast does; the same handle where that is their type. Example:
  /// `x.to(hd::dtype<hd::half>)`.
  template <class U, class Build = this_build>
  auto to(dtype_t<U>) const {
    if constexpr (std::is_same_v<U, value_type>)
      return held();
    else
      return evaluation<Build>::template make<Tensor<U, Rank, Device>>(evaluation<Build>::template cast<U>(held()));
  }
  template <Element U>
  auto to() const {
    return to(dtype<U>);
  }

  /// The single element of a tensor of size 1. From Cuda it waits for the stream. Throws ShapeError for another size.
  template <class Build = this_build>
  value_type item() const {
    if (size() != 1) throw ShapeError(Message{} << "item() needs one element, the shape is " << shape_);
    if constexpr (std::is_same_v<Device, Cpu>)
      return *data_;
    else
      return evaluation<Build>::item(*this);
  }
  /// All elements in row-major order.
  template <class Build = this_build>
  std::vector<value_type> to_vector() const {
    return evaluation<Build>::to_vector(held());
  }
  /// The element of a rank-0 Cpu tensor.
  explicit operator value_type() const requires(Rank == 0 && std::is_same_v<Device, Cpu>) { return *data(); }

  // ---- writing ----

  /// Sets every element; the value is converted as cast does, but for an integer beyond T's range, which throws Error.
  template <Scalar S, class Build = this_build>
  const Tensor& fill(S value) const {
    static_assert(!is_read_only, "this tensor is read-only");
    evaluation<Build>::fill(held(), value);
    return *this;
  }
  /// Writes a formula's values into this tensor's elements, broadcasting them to its shape. What the formula reads may
  /// overlap what is written: the result is as if the formula had been computed first. Throws ShapeError before
  /// writing.
  template <Expression E, class Build = this_build>
  const Tensor& assign(E&& source) const {
    static_assert(!is_read_only, "this tensor is read-only");
    evaluation<Build>::assign(held(), std::forward<E>(source));
    return *this;
  }
  /// Copies a tensor of the same shape, from whatever device, into this one's elements. Throws ShapeError.
  template <class U, class FromDevice, class Build = this_build>
  const Tensor& copy_from(const Tensor<U, Rank, FromDevice>& source) const {
    static_assert(!is_read_only, "this tensor is read-only");
    evaluation<Build>::copy(held(), source);
    return *this;
  }

  /// In place; a formula with a producer on the right is computed first. They write through and never change the type.
  template <class X>
  requires(Expression<X> || ScalarArgument<X>) const Tensor& operator+=(X&& x) const {
    return assign(*this + std::forward<X>(x));
  }
  template <class X>
  requires(Expression<X> || ScalarArgument<X>) const Tensor& operator-=(X&& x) const {
    return assign(*this - std::forward<X>(x));
  }
  template <class X>
  requires(Expression<X> || ScalarArgument<X>) const Tensor& operator*=(X&& x) const {
    return assign(*this * std::forward<X>(x));
  }
  template <class X>
  requires(Expression<X> || ScalarArgument<X>) const Tensor& operator/=(X&& x) const {
    return assign(*this / std::forward<X>(x));
  }
  template <class X>
  requires(Expression<X> || ScalarArgument<X>) const Tensor& operator%=(X&& x) const {
    return assign(*this % std::forward<X>(x));
  }
  template <class X>
  requires(Expression<X> || ScalarArgument<X>) const Tensor& operator&=(X&& x) const {
    return assign(*this & std::forward<X>(x));
  }
  template <class X>
  requires(Expression<X> || ScalarArgument<X>) const Tensor& operator|=(X&& x) const {
    return assign(*this | std::forward<X>(x));
  }
  template <class X>
  requires(Expression<X> || ScalarArgument<X>) const Tensor& operator^=(X&& x) const {
    return assign(*this ^ std::forward<X>(x));
  }
  template <class X>
  requires(Expression<X> || ScalarArgument<X>) const Tensor& operator<<=(X&& x) const {
    return assign(*this << std::forward<X>(x));
  }
  template <class X>
  requires(Expression<X> || ScalarArgument<X>) const Tensor& operator>>=(X&& x) const {
    return assign(*this >> std::forward<X>(x));
  }

  /// Tells the memory that work on that stream uses it: it is released only after that work.
  template <std::same_as<cuda::Stream> S, class Build = this_build>
  const Tensor& record_stream(const S& stream) const {
    evaluation<Build>::record_stream(held(), stream);
    return *this;
  }

 private:
  const Tensor& held() const {
    if (!storage_) throw Error("this tensor holds nothing: it was default-constructed or moved from");
    return *this;
  }
  T* at(index_t offset, index_t count) const { return count == 0 || data_ == nullptr ? data_ : data_ + offset; }

  index_t checked_index(index_t i, int axis_number) const {
    const index_t bound = held().shape_[axis_number];
    const index_t counted = i < 0 ? i + bound : i;
    if (counted < 0 || counted >= bound)
      throw IndexError(Message{} << "index " << i << " is out of range for axis " << axis_number << " with extent "
                                 << bound << " of shape " << shape_);
    return counted;
  }
  template <class I, int Kept>
  void take(I index, int& from, int& to, index_t& offset, Shape<Kept>& new_shape, Strides<Kept>& new_strides) const {
    if constexpr (std::integral<I>) {
      if constexpr (std::unsigned_integral<I> && sizeof(I) == sizeof(index_t))
        offset += checked_index(index > static_cast<I>(INT64_MAX) ? INT64_MAX : static_cast<index_t>(index), from) *
                  strides_[from];
      else
        offset += checked_index(static_cast<index_t>(index), from) * strides_[from];
    } else {
      ResolvedRange part{0, shape_[from], 1};
      if constexpr (std::same_as<I, Range>) part = resolve(index, shape_[from]);
      offset += part.first * strides_[from];
      new_shape[to] = part.count;
      new_strides[to] = strides_[from] * part.step;
      ++to;
    }
    ++from;
  }

  StorageHandle storage_;
  T* data_ = nullptr;
  Shape<Rank> shape_;
  Strides<Rank> strides_;
#if defined(_MSC_VER)
  [[msvc::no_unique_address]]
#else
  [[no_unique_address]]
#endif
  Device device_ = {};

  template <class U, int R, class D>
  friend class Tensor;

  static Shape<Rank> as_shape(const Strides<Rank>& strides) {
    Shape<Rank> shape;
    if constexpr (Rank > 0) {
      for (int i = 0; i < Rank; ++i) shape[i] = strides[i];
    }
    return shape;
  }
};

/// The extents that a reshape means: -1 is worked out. Throws ShapeError if the elements do not fit.
template <int From, int To>
Shape<To> resolved_reshape(const Shape<From>& from, Shape<To> wanted) {
  index_t known = 1;
  int unknown = -1;
  const Shape<To> asked = wanted;
  if constexpr (To > 0) {
    for (int i = 0; i < To; ++i) {
      if (wanted[i] == -1) {
        if (unknown >= 0) throw ShapeError(Message{} << "reshape: more than one -1 in " << asked);
        unknown = i;
      } else if (wanted[i] < 0) {
        throw ShapeError(Message{} << "reshape: negative extent in " << asked);
      } else {
        known = extent_product(known, wanted[i]);
      }
    }
    if (unknown >= 0) {
      if (known == 0)
        throw ShapeError(Message{} << "reshape: the -1 in " << asked << " is ambiguous beside an extent of 0");
      wanted[unknown] = from.size() / known;
      known *= wanted[unknown];
    }
  }
  if (known != from.size())
    throw ShapeError(Message{} << "reshape: shape " << from << " has " << from.size() << " elements, " << asked
                               << " does not fit them");
  return wanted;
}

/// `Tensor y = formula` takes the formula's element type, rank and device.
template <class E>
requires is_formula_v<E> Tensor(E&&)
->Tensor<typename std::remove_cvref_t<E>::value_type, std::remove_cvref_t<E>::rank,
         typename std::remove_cvref_t<E>::device_type>;

}  // namespace heddle
