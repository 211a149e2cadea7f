// Tensors of the test device made from the reference's arrays, and read back. Only whole-memory copies of the library
// take part: no kernel and no view of it.
#pragma once

#include <cstring>
#include <utility>
#include <vector>

#include "harness/compare.hpp"
#include "harness/device.hpp"
#include "harness/layouts.hpp"
#include "reference/array.hpp"

namespace heddle_test {

using Bytes = std::vector<unsigned char>;

/// A NaN in floating types, an unlikely number in the others.
template <class T>
inline constexpr unsigned char poison = hd::kind_of<T> == hd::kind::floating ? 0xff : 0x5a;

template <class T>
double to_double(T value) {
  if constexpr (hd::is_16bit_float_v<T>)
    return static_cast<double>(static_cast<float>(value));
  else
    return static_cast<double>(value);
}

template <class T>
Array rounded_to(Array x) {
  for (double& value : x.values) value = to_double(static_cast<T>(value));
  return x;
}

/// Bytes to and from the device.
inline hd::Tensor<std::uint8_t, 1, TestDevice> upload(const Bytes& bytes, TestDevice device = test_device()) {
  const auto count = static_cast<hd::index_t>(bytes.size());
  hd::StorageHandle storage(hd::allocate_host(bytes.size()));
  std::memcpy(storage->data, bytes.data(), bytes.size());
  auto* const data = static_cast<std::uint8_t*>(storage->data);
  return hd::Tensor<std::uint8_t, 1>(std::move(storage), data, {count}, {{1}}, hd::cpu).to(device);
}
template <class Device>
Bytes download(const hd::StorageHandle& storage, const void* from, hd::index_t count, Device device) {
  auto* const data = static_cast<std::uint8_t*>(const_cast<void*>(from));
  const auto host = hd::Tensor<const std::uint8_t, 1, Device>(storage, data, {count}, {{1}}, device).to(hd::cpu);
  return Bytes(host.data(), host.data() + count);
}

template <class T>
double element_at(const Bytes& bytes, std::int64_t place) {
  // A poisoned bool is neither true nor false: it is read as the number that it is.
  using Stored = std::conditional_t<std::is_same_v<T, bool>, unsigned char, T>;
  Stored value;
  std::memcpy(&value, bytes.data() + static_cast<std::size_t>(place) * sizeof(T), sizeof(T));
  return to_double(value);
}
template <class T>
void put_element(Bytes& bytes, std::int64_t place, double value) {
  const T stored = static_cast<T>(value);
  std::memcpy(bytes.data() + static_cast<std::size_t>(place) * sizeof(T), &stored, sizeof(T));
}

template <int Rank>
hd::Shape<Rank> shape_of(const Extents& extents) {
  hd::Shape<Rank> shape;
  if constexpr (Rank > 0) {
    for (int i = 0; i < Rank; ++i) shape[i] = extents.at(static_cast<std::size_t>(i));
  }
  return shape;
}
template <int Rank>
Extents extents_of(const hd::Shape<Rank>& shape) {
  return Extents(shape.begin(), shape.end());
}

/// A tensor that lies in memory as a Placement says, and whose elements are in `bytes`.
template <class T, int Rank>
TestTensor<T, Rank> in_memory(const Bytes& bytes, const Extents& shape, const Placement& placement) {
  const auto memory = upload(bytes);
  hd::Strides<Rank> strides;
  for (int i = 0; i < Rank; ++i) strides[i] = placement.strides[static_cast<std::size_t>(i)];
  return {memory.storage(), reinterpret_cast<T*>(memory.data()) + placement.first, shape_of<Rank>(shape), strides,
          memory.device()};
}

/// The array as a tensor; with Layout::broadcast its first elements stand for all along the axes of stride 0. All
/// around the elements is poison.
template <class T, int Rank>
TestTensor<T, Rank> to_tensor(const Array& values, Layout layout = Layout::contiguous) {
  const Placement placement = place(values.shape, layout);
  Bytes bytes(static_cast<std::size_t>(placement.count) * sizeof(T), poison<T>);
  for (std::int64_t i = values.size(); i-- > 0;)
    put_element<T>(bytes, placement.place(reference::index_of(values.shape, i)), values[i]);
  return in_memory<T, Rank>(bytes, values.shape, placement);
}

/// The elements of a tensor of any layout and device.
template <class T, int Rank, class Device>
Array to_array(const hd::Tensor<T, Rank, Device>& x) {
  using Value = std::remove_const_t<T>;
  Array result(extents_of(x.shape()));
  if (x.size() == 0) return result;
  const hd::OffsetSpan span = hd::offset_span(x.shape(), x.strides());
  const auto count = static_cast<hd::index_t>(sizeof(T)) * (span.highest - span.lowest + 1);
  const Bytes bytes = download(x.storage(), x.data() + span.lowest, count, x.device());
  for (std::int64_t i = 0; i < result.size(); ++i) {
    const Extents index = reference::index_of(result.shape, i);
    std::int64_t place = -span.lowest;
    for (int a = 0; a < Rank; ++a) place += index[static_cast<std::size_t>(a)] * x.strides()[a];
    result[i] = element_at<Value>(bytes, place);
  }
  return result;
}

/// A poisoned tensor to be written to; `gaps_untouched()` tells whether nothing beside its elements was.
template <class T, int Rank>
class Output {
 public:
  Output(const Extents& shape, Layout layout)
      : placement_(place(shape, layout)),
        before_(static_cast<std::size_t>(placement_.count) * sizeof(T), poison<T>),
        tensor_(in_memory<T, Rank>(before_, shape, placement_)) {}

  const TestTensor<T, Rank>& tensor() const { return tensor_; }

  testing::AssertionResult gaps_untouched() const {
    Bytes now = download(tensor_.storage(), tensor_.storage()->data, static_cast<hd::index_t>(before_.size()),
                         tensor_.device());
    const Extents shape = extents_of(tensor_.shape());
    for (std::int64_t i = 0; i < tensor_.size(); ++i)
      std::memset(now.data() + static_cast<std::size_t>(placement_.place(reference::index_of(shape, i))) * sizeof(T),
                  poison<T>, sizeof(T));
    if (now == before_) return testing::AssertionSuccess();
    std::size_t at = 0;
    while (now[at] == before_[at]) ++at;
    return testing::AssertionFailure() << "memory outside of the tensor was written, first at element "
                                       << static_cast<std::int64_t>(at / sizeof(T)) - placement_.first
                                       << " from its first";
  }

 private:
  Placement placement_;
  Bytes before_;
  TestTensor<T, Rank> tensor_;
};

}  // namespace heddle_test
