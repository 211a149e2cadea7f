// The owner of memory for elements of one type on one device.
#pragma once

#include <span>
#include <utility>

#include "heddle/core/device.hpp"
#include "heddle/core/dtype.hpp"
#include "heddle/core/shape.hpp"
#include "heddle/core/storage.hpp"

namespace heddle {

template <class Build>
struct evaluation;

/// Memory for `size()` elements, not initialised; move-only, released when it goes out of scope: on Cuda in the order
/// of the stream that was current when it was made. A Tensor made from a Buffer takes its memory over. Example:
/// `hd::Buffer<float, hd::Cuda> b(1024); b.copy_from(host_values); b.copy_to(host_results);`
template <class T, class Device = Cpu>
class Buffer {
  static_assert(Element<T>, "a buffer's elements are bool, an integer, half, bfloat16, float or double");
  static_assert(is_device_v<Device>, "a buffer lives on heddle::Cpu or heddle::Cuda");

 public:
  using value_type = T;
  using device_type = Device;

  /// Holds nothing.
  Buffer() noexcept = default;
  /// Throws ShapeError for a negative count, OutOfMemory, DeviceError.
  template <class Build = this_build>
  explicit Buffer(index_t count, Device device = {}, Build = {})
      : storage_(evaluation<Build>::allocate(checked_bytes(count), device)), size_(count), device_(device) {}
  Buffer(Buffer&& other) noexcept
      : storage_(std::move(other.storage_)), size_(std::exchange(other.size_, 0)), device_(other.device_) {}
  Buffer& operator=(Buffer&& other) noexcept {
    storage_ = std::move(other.storage_);
    size_ = std::exchange(other.size_, 0);
    device_ = other.device_;
    return *this;
  }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  ~Buffer() = default;

  /// Page-locked host memory (plain where there is no CUDA device).
  template <class Build = this_build>
  static Buffer pinned(index_t count, Build = {}) requires std::is_same_v<Device, Cpu> {
    Buffer buffer;
    buffer.storage_ = StorageHandle(evaluation<Build>::allocate_pinned(checked_bytes(count)));
    buffer.size_ = count;
    return buffer;
  }

  /// The first element, in the memory of device(); null for none.
  T* data() const noexcept { return storage_ ? static_cast<T*>(storage_->data) : nullptr; }
  index_t size() const noexcept { return size_; }
  Device device() const noexcept { return device_; }
  bool is_pinned() const noexcept { return storage_ && storage_->pinned; }

  /// Copies host elements in; they may be changed as soon as this returns. Throws ShapeError for another count.
  template <class Build = this_build>
  void copy_from(std::span<const T> host, Build = {}) {
    require_count(host.size());
    evaluation<Build>::from_host(data(), host.data(), host.size_bytes(), device_);
  }
  /// Copies the elements out, complete on return. Throws ShapeError for another count.
  template <class Build = this_build>
  void copy_to(std::span<T> host, Build = {}) const {
    require_count(host.size());
    evaluation<Build>::to_host(host.data(), data(), host.size_bytes(), device_);
  }

  /// Gives the memory up to a handle.
  StorageHandle release() noexcept {
    size_ = 0;
    return std::move(storage_);
  }

 private:
  static std::size_t checked_bytes(index_t count) {
    return static_cast<std::size_t>(checked_shape(Shape<1>{count}).size()) * sizeof(T);
  }
  void require_count(std::size_t count) const {
    if (static_cast<index_t>(count) != size_)
      throw ShapeError(Message{} << "copying " << count << " elements to or from a buffer of " << size_);
  }

  StorageHandle storage_;
  index_t size_ = 0;
  [[no_unique_address]] Device device_ = {};
};

}  // namespace heddle
