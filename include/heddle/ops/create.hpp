// Making tensors: the shape before the device, the device last.
#pragma once

#include <cmath>
#include <initializer_list>
#include <span>

#include "heddle/expr/producer.hpp"
#include "heddle/ops/map.hpp"
#if HEDDLE_CUDA_COMPILER
#include "heddle/kernels/cuda/generate.cuh"
#endif

namespace heddle {
inline namespace HEDDLE_BUILD {

// ---- by shape ----

/// A tensor whose elements are not initialised. Throws ShapeError for a negative extent, OutOfMemory.
/// Example: `auto x = hd::empty<float>({64, 784}, hd::Cuda{});`
template <Element T, int Rank, class Device = default_device>
Tensor<T, Rank, Device> empty(const Shape<Rank>& shape, Device device = {}) {
  return allocate_tensor<T>(checked_shape(shape), row_major(shape), device);
}
template <Element T, std::size_t N, class Device = default_device>
Tensor<T, static_cast<int>(N), Device> empty(const Extent (&shape)[N], Device device = {}) {
  return empty<T>(Shape<static_cast<int>(N)>(shape), device);
}
template <Element T, class Device = default_device>
Tensor<T, 0, Device> empty(Shape<0>, Device device = {}) {
  return allocate_tensor<T>(Shape<0>{}, Strides<0>{}, device);
}

/// A tensor with every element the same value, converted as cast does, but for an integer beyond T's range, which
/// throws Error. Example: `hd::full<int>({3, 3}, 7)`.
template <Element T, int Rank, ScalarArgument S, class Device = default_device>
Tensor<T, Rank, Device> full(const Shape<Rank>& shape, S value, Device device = {}) {
  auto result = empty<T>(shape, device);
  result.fill(value);
  return result;
}
template <Element T, std::size_t N, ScalarArgument S, class Device = default_device>
Tensor<T, static_cast<int>(N), Device> full(const Extent (&shape)[N], S value, Device device = {}) {
  return full<T>(Shape<static_cast<int>(N)>(shape), value, device);
}
template <Element T, ScalarArgument S, class Device = default_device>
Tensor<T, 0, Device> full(Shape<0> shape, S value, Device device = {}) {
  return full<T, 0>(shape, value, device);
}

/// Zeros. Example: `hd::zeros<float>({128}, device)`.
template <Element T, int Rank, class Device = default_device>
Tensor<T, Rank, Device> zeros(const Shape<Rank>& shape, Device device = {}) {
  return full<T>(shape, 0, device);
}
template <Element T, std::size_t N, class Device = default_device>
Tensor<T, static_cast<int>(N), Device> zeros(const Extent (&shape)[N], Device device = {}) {
  return full<T>(shape, 0, device);
}
template <Element T, class Device = default_device>
Tensor<T, 0, Device> zeros(Shape<0> shape, Device device = {}) {
  return full<T, 0>(shape, 0, device);
}

/// Ones.
template <Element T, int Rank, class Device = default_device>
Tensor<T, Rank, Device> ones(const Shape<Rank>& shape, Device device = {}) {
  return full<T>(shape, 1, device);
}
template <Element T, std::size_t N, class Device = default_device>
Tensor<T, static_cast<int>(N), Device> ones(const Extent (&shape)[N], Device device = {}) {
  return full<T>(shape, 1, device);
}
template <Element T, class Device = default_device>
Tensor<T, 0, Device> ones(Shape<0> shape, Device device = {}) {
  return full<T, 0>(shape, 1, device);
}

// ---- like another ----

/// Of x's shape, element type, device and order of axes in memory; not initialised.
template <Expression X>
auto empty_like(const X& x) {
  using T = typename X::value_type;
  using Device = typename X::device_type;
  if constexpr (is_tensor_v<X>)
    return allocate_tensor<T>(x.shape(), dense_like(x.shape(), x.strides()), Device(x.device()));
  else
    return allocate_tensor<T>(x.shape(), preferred_strides(x), Device(x.device()));
}
/// As empty_like, every element that value. Example: `hd::full_like(x, -1)`.
template <Expression X, ScalarArgument S>
auto full_like(const X& x, S value) {
  auto result = empty_like(x);
  result.fill(value);
  return result;
}
/// As empty_like, zeros.
template <Expression X>
auto zeros_like(const X& x) {
  return full_like(x, 0);
}
/// As empty_like, ones.
template <Expression X>
auto ones_like(const X& x) {
  return full_like(x, 1);
}

// ---- by index ----

/// start + i * step, computed in Wide so that no error adds up.
template <class T, class Wide>
struct arange_generator {
  Wide start;
  Wide step;
  HEDDLE_HOST_DEVICE T operator()(index_t i) const {
    if constexpr (std::is_integral_v<Wide>)
      return cast_element<T>(wrapping_add(start, wrapping_multiply(static_cast<Wide>(i), step)));
    else
      return cast_element<T>(start + static_cast<Wide>(i) * step);
  }
};
/// start + i * (stop - start) / (count - 1), exact at both ends.
template <class T>
struct linspace_generator {
  double start;
  double stop;
  index_t last;
  HEDDLE_HOST_DEVICE T operator()(index_t i) const {
    // The ends may be farther from one another than the greatest number.
    const double step = last > 0 ? (stop * 0.5 - start * 0.5) / (static_cast<double>(last) * 0.5) : 0.0;
    const double value =
        2 * i < last || last == 0 ? start + static_cast<double>(i) * step : stop - static_cast<double>(last - i) * step;
    return cast_element<T>(value);
  }
};
/// 1 on the main diagonal of a matrix.
template <class T>
struct eye_generator {
  index_t columns;
  HEDDLE_HOST_DEVICE T operator()(index_t i) const { return static_cast<T>(i / columns == i % columns ? 1 : 0); }
};

/// A new tensor whose elements, in row-major order, are generator(0), generator(1), …
template <class T, int Rank, class Device, class Generator>
Tensor<T, Rank, Device> generate_tensor(const Shape<Rank>& shape, const Generator& generator, Device device) {
  auto result = empty<T>(shape, device);
  if constexpr (runs_here<Device>() && std::is_same_v<Device, Cpu>) {
    parallel_for(result.size(), 16384, [&](index_t begin, index_t end) {
      for (index_t i = begin; i < end; ++i) result.data()[i] = generator(i);
    });
  } else {
#if HEDDLE_CUDA_COMPILER
    on_cuda::generate(result.data(), result.size(), generator, on_cuda::current_context(device.index, "create"));
#endif
  }
  return result;
}

/// An integer as one of 64 bits with its sign.
template <std::integral I>
constexpr auto widest(I value) {
  return static_cast<std::conditional_t<std::is_signed_v<I>, std::int64_t, std::uint64_t>>(value);
}

/// start, start + step, … before stop. Throws ShapeError for step 0 or more elements than can be counted.
/// Example: `hd::arange<int>(10)`, `hd::arange<float>(0, 1, 0.25)`.
template <Element T, ScalarArgument A, ScalarArgument B, ScalarArgument C, class Device = default_device>
requires is_device_v<Device> Tensor<T, 1, Device> arange(A start, B stop, C step, Device device = {}) {
  using Wide =
      std::conditional_t<std::is_integral_v<A> && std::is_integral_v<B> && std::is_integral_v<C>, std::int64_t, double>;
  const Wide first = static_cast<Wide>(start);
  const Wide by = static_cast<Wide>(step);
  if (by == Wide{0}) throw ShapeError("arange: the step is 0");
  double steps = 0;
  index_t count = 0;
  if constexpr (std::is_integral_v<Wide>) {
    // Unsigned: the distance of two numbers of 64 bits, and bounds of uint64.
    const auto from = static_cast<std::uint64_t>(start), to = static_cast<std::uint64_t>(stop);
    const auto each = static_cast<std::uint64_t>(step);
    const bool up = std::cmp_greater(widest(step), 0);
    std::uint64_t elements = 0;
    if (up && std::cmp_less(widest(start), widest(stop))) elements = (to - from - 1) / each + 1;
    if (!up && std::cmp_less(widest(stop), widest(start))) elements = (from - to - 1) / (0 - each) + 1;
    if (elements > INT64_MAX)
      throw ShapeError(Message{} << "arange: " << elements << " elements are more than can be addressed");
    count = static_cast<index_t>(elements);
  } else {
    steps = std::ceil((static_cast<double>(stop) - first) / by);
    if (!(steps < 9.0e18))
      throw ShapeError(Message{} << "arange: from " << first << " to " << static_cast<double>(stop) << " by " << by
                                 << " is no range");
    count = steps > 0 ? static_cast<index_t>(steps) : 0;
  }
  return generate_tensor<T>(Shape<1>{count}, arange_generator<T, Wide>{first, by}, device);
}
template <Element T, ScalarArgument A, ScalarArgument B, class Device = default_device>
requires is_device_v<Device> Tensor<T, 1, Device> arange(A start, B stop, Device device = {}) {
  return arange<T>(start, stop, 1, device);
}
template <Element T, ScalarArgument B, class Device = default_device>
requires is_device_v<Device> Tensor<T, 1, Device> arange(B stop, Device device = {}) {
  return arange<T>(0, stop, 1, device);
}

/// `count` numbers from start to stop, both included, evenly spaced. Example: `hd::linspace<float>(0, 1, 5)`.
template <Element T, ScalarArgument A, ScalarArgument B, std::integral N, class Device = default_device>
Tensor<T, 1, Device> linspace(A start, B stop, N count, Device device = {}) {
  const index_t number = static_cast<index_t>(count);
  return generate_tensor<T>(Shape<1>{number},
                            linspace_generator<T>{static_cast<double>(start), static_cast<double>(stop), number - 1},
                            device);
}

/// The identity matrix. Example: `hd::eye<float>(3)`.
template <Element T, std::integral N, class Device = default_device>
requires is_device_v<Device> Tensor<T, 2, Device> eye(N n, Device device = {}) {
  const index_t extent = static_cast<index_t>(n);
  return generate_tensor<T>(Shape<2>{extent, extent}, eye_generator<T>{extent}, device);
}
/// Ones on the main diagonal of a matrix of `rows` times `columns`, else 0. Throws ShapeError for negative extents.
template <Element T, std::integral N, std::integral M, class Device = default_device>
Tensor<T, 2, Device> eye(N rows, M columns, Device device = {}) {
  const index_t width = static_cast<index_t>(columns);
  return generate_tensor<T>(Shape<2>{static_cast<index_t>(rows), width}, eye_generator<T>{width}, device);
}

// ---- from elements ----

/// A copy of host elements in row-major order. Throws ShapeError if their number is not the shape's.
/// Example: `hd::from_host<float>(std::span<const float>(values), {2, 3}, device)`.
template <Element T, int Rank, class Device = default_device>
requires(Rank > 0) Tensor<T, Rank, Device> from_host(std::type_identity_t<std::span<const T>> values,
                                                     const Shape<Rank>& shape, Device device = {}) {
  const Shape<Rank> checked = checked_shape(shape);
  if (static_cast<index_t>(values.size()) != checked.size())
    throw ShapeError(Message{} << "from_host: " << values.size() << " values for shape " << checked << " of "
                               << checked.size());
  auto result = empty<T>(checked, device);
  if constexpr (std::is_same_v<Device, Cpu>)
    device_memory<Cpu>::copy(result.data(), values.data(), values.size_bytes(), device);
  else
    device_memory<Device>::from_host(result.data(), values.data(), values.size_bytes(), device);
  return result;
}
template <Element T, std::size_t N, class Device = default_device>
Tensor<T, static_cast<int>(N), Device> from_host(std::type_identity_t<std::span<const T>> values,
                                                 const Extent (&shape)[N], Device device = {}) {
  return from_host<T>(values, Shape<static_cast<int>(N)>(shape), device);
}
template <Element T, class Device = default_device>
Tensor<T, 0, Device> from_host(std::type_identity_t<std::span<const T>> values, Shape<0> shape, Device device = {}) {
  return from_host<T>(values, Shape<1>{1}, device).reshape(shape);
}

/// Elements that belong to somebody else and must outlive the tensor and its views; never freed, never used for another
/// result. With strides whose elements overlap T must be const. Throws ShapeError.
/// Example: `auto x = hd::from_blob<float>(pointer, {2, 3});`
template <class T, int Rank, class Device = default_device>
Tensor<T, Rank, Device> from_blob(T* pointer, const Shape<Rank>& shape, const Strides<Rank>& strides,
                                  Device device = {}) {
  const Shape<Rank> checked = checked_shape(shape);
  if (pointer == nullptr && checked.size() > 0)
    throw ShapeError(Message{} << "from_blob: a null pointer for shape " << checked);
  if constexpr (!std::is_const_v<T>) {
    if (may_overlap_itself(checked, strides))
      throw ShapeError(Message{} << "from_blob: elements of shape " << checked
                                 << " may overlap under these strides: only from_blob<const T> takes them");
  }
  auto* const storage = new Storage;
  storage->data = const_cast<std::remove_const_t<T>*>(pointer);
  storage->bytes = static_cast<std::size_t>(checked.size()) * sizeof(T);
  storage->owned = false;
  storage->release = release_borrowed_storage;
  if constexpr (!std::is_same_v<Device, Cpu>) {
    storage->device = device.index;
  }
  return {StorageHandle(storage), pointer, checked, strides, device};
}
template <class T, int Rank, class Device = default_device>
requires(Rank > 0) Tensor<T, Rank, Device> from_blob(T* pointer, const Shape<Rank>& shape, Device device = {}) {
  return from_blob<T, Rank, Device>(pointer, shape, row_major(shape), device);
}
template <class T, class Device = default_device>
Tensor<T, 0, Device> from_blob(T* pointer, Shape<0> shape, Device device = {}) {
  return from_blob<T, 0, Device>(pointer, shape, Strides<0>{}, device);
}
template <class T, std::size_t N, class Device = default_device>
Tensor<T, static_cast<int>(N), Device> from_blob(T* pointer, const Extent (&shape)[N], Device device = {}) {
  const Shape<static_cast<int>(N)> extents(shape);
  return from_blob<T, static_cast<int>(N), Device>(pointer, extents, row_major(extents), device);
}
template <class T, std::size_t N, class Device = default_device>
Tensor<T, static_cast<int>(N), Device> from_blob(T* pointer, const Extent (&shape)[N], const Extent (&strides)[N],
                                                 Device device = {}) {
  Strides<static_cast<int>(N)> steps;
  for (std::size_t i = 0; i < N; ++i) steps[static_cast<int>(i)] = strides[i].value;
  return from_blob<T, static_cast<int>(N), Device>(pointer, Shape<static_cast<int>(N)>(shape), steps, device);
}

/// Nested lists of the same depth as the rank.
template <class U>
using list_1 = std::initializer_list<U>;
template <class U>
using list_2 = std::initializer_list<list_1<U>>;
template <class U>
using list_3 = std::initializer_list<list_2<U>>;
template <class U>
using list_4 = std::initializer_list<list_3<U>>;

/// A number of whatever type in a list of several types.
template <class T>
struct literal {
  T value;
  template <ScalarArgument U>
  constexpr literal(U number) : value(checked_element<T>("tensor", number)) {}  // NOLINT: implicit on purpose
};

template <class T, int Rank, class U>
struct literal_reader {
  template <class List>
  static void measure(const List& list, Shape<Rank>& shape, int depth) {
    if (shape[depth] < 0) shape[depth] = static_cast<index_t>(list.size());
    if (shape[depth] != static_cast<index_t>(list.size()))
      throw ShapeError(Message{} << "tensor: ragged list: axis " << depth << " has rows of " << shape[depth] << " and "
                                 << list.size() << " elements");
    if constexpr (!std::is_same_v<typename List::value_type, U>) {
      for (const auto& inner : list) measure(inner, shape, depth + 1);
    }
  }
  template <class List>
  static void copy(const List& list, T*& to) {
    for (const auto& inner : list) {
      if constexpr (!std::is_same_v<typename List::value_type, U>)
        copy(inner, to);
      else if constexpr (std::is_same_v<U, literal<T>>)
        *to++ = inner.value;
      else
        *to++ = checked_element<T>("tensor", inner);
    }
  }
  template <class List, class Device>
  static Tensor<T, Rank, Device> read(const List& list, Device device) {
    Shape<Rank> shape;
    for (int i = 0; i < Rank; ++i) shape[i] = -1;
    measure(list, shape, 0);
    for (int i = 0; i < Rank; ++i)
      if (shape[i] < 0) shape[i] = 0;
    return filled(shape, device, [&list](T* to) {
      T* next = to;
      copy(list, next);
    });
  }
  template <class Device>
  static Tensor<T, Rank, Device> read(const U* values, const Shape<Rank>& shape, Device device) {
    return filled(shape, device,
                  [values, &shape](T* to) { copy(std::span(values, static_cast<std::size_t>(shape.size())), to); });
  }

 private:
  template <class Device, class Write>
  static Tensor<T, Rank, Device> filled(const Shape<Rank>& shape, Device device, const Write& write) {
    if constexpr (!std::is_same_v<U, literal<T>>)
      static_assert(!(kind_of<T> < kind::floating && kind_of<U> == kind::floating),
                    "a tensor of integers or bool from floating numbers");
    auto host = empty<T>(shape, cpu);
    if (shape.size() > 0) write(host.data());
    if constexpr (std::is_same_v<Device, Cpu>)
      return host;
    else
      return host.to(device);
  }
};

/// A tensor of the elements of nested lists, to rank 4. Throws ShapeError for ragged ones, Error for an integer beyond
/// T's range.
/// Example: `hd::tensor<float>({{1, 2, 3}, {4, 5, 6}}, device)`.
template <Element T, Scalar U, class Device = default_device>
Tensor<T, 1, Device> tensor(list_1<U> values, Device device = {}) {
  return literal_reader<T, 1, U>::read(values, device);
}
template <Element T, Scalar U, class Device = default_device>
Tensor<T, 2, Device> tensor(list_2<U> values, Device device = {}) {
  return literal_reader<T, 2, U>::read(values, device);
}
template <Element T, Scalar U, class Device = default_device>
Tensor<T, 3, Device> tensor(list_3<U> values, Device device = {}) {
  return literal_reader<T, 3, U>::read(values, device);
}
template <Element T, Scalar U, class Device = default_device>
Tensor<T, 4, Device> tensor(list_4<U> values, Device device = {}) {
  return literal_reader<T, 4, U>::read(values, device);
}
// The same lists as arrays: clang before 16 deduces no list of lists of one element, such as {{1}, {2}}.
template <Element T, Scalar U, std::size_t M, std::size_t N, class Device = default_device>
Tensor<T, 2, Device> tensor(const U (&values)[M][N], Device device = {}) {
  return literal_reader<T, 2, U>::read(values[0], {M, N}, device);
}
template <Element T, Scalar U, std::size_t L, std::size_t M, std::size_t N, class Device = default_device>
Tensor<T, 3, Device> tensor(const U (&values)[L][M][N], Device device = {}) {
  return literal_reader<T, 3, U>::read(values[0][0], {L, M, N}, device);
}
template <Element T, Scalar U, std::size_t K, std::size_t L, std::size_t M, std::size_t N,
          class Device = default_device>
Tensor<T, 4, Device> tensor(const U (&values)[K][L][M][N], Device device = {}) {
  return literal_reader<T, 4, U>::read(values[0][0][0], {K, L, M, N}, device);
}
// Lists of numbers of several types, from which no type can be deduced.
template <Element T, class Device = default_device>
Tensor<T, 1, Device> tensor(std::type_identity_t<list_1<literal<T>>> values, Device device = {}) {
  return literal_reader<T, 1, literal<T>>::read(values, device);
}
template <Element T, class Device = default_device>
Tensor<T, 2, Device> tensor(std::type_identity_t<list_2<literal<T>>> values, Device device = {}) {
  return literal_reader<T, 2, literal<T>>::read(values, device);
}
template <Element T, class Device = default_device>
Tensor<T, 3, Device> tensor(std::type_identity_t<list_3<literal<T>>> values, Device device = {}) {
  return literal_reader<T, 3, literal<T>>::read(values, device);
}
template <Element T, class Device = default_device>
Tensor<T, 4, Device> tensor(std::type_identity_t<list_4<literal<T>>> values, Device device = {}) {
  return literal_reader<T, 4, literal<T>>::read(values, device);
}

/// A Cpu tensor in page-locked memory, which copies to a device without a detour (plain memory where there is no CUDA
/// device). Example: `auto staging = hd::empty_pinned<float>({64, 784});`
template <Element T, int Rank, class Build = this_build>
Tensor<T, Rank, Cpu> empty_pinned(const Shape<Rank>& shape) {
  const Shape<Rank> checked = checked_shape(shape);
  StorageHandle storage(cuda::allocate_pinned<Build>(static_cast<std::size_t>(checked.size()) * sizeof(T)));
  T* const data = static_cast<T*>(storage->data);
  return {std::move(storage), data, checked, row_major(checked), cpu};
}
template <Element T, std::size_t N, class Build = this_build>
Tensor<T, static_cast<int>(N), Cpu> empty_pinned(const Extent (&shape)[N]) {
  return empty_pinned<T, static_cast<int>(N), Build>(Shape<static_cast<int>(N)>(shape));
}

}  // namespace HEDDLE_BUILD
}  // namespace heddle
