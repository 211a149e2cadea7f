// The control block of one allocation: what every handle on it shares.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <new>

#include "heddle/config.hpp"
#include "heddle/core/device.hpp"
#include "heddle/core/error.hpp"

namespace heddle {

/// One allocation and the count of its handles. The same in every translation unit: how the memory is released, and the
/// stream in whose order, are known to whoever made it.
struct Storage {
  std::int64_t references = 1;  ///< handles; changed atomically
  void* data = nullptr;         ///< first byte
  std::size_t bytes = 0;        ///< size of the allocation
  int device = -1;              ///< -1: host memory; else the CUDA device's number
  bool owned = true;            ///< false: borrowed memory (from_blob), never reused and never freed
  bool pinned = false;          ///< page-locked host memory
  void* stream = nullptr;       ///< state of the CUDA stream that the memory is ordered by; null: the default stream
  void* uses = nullptr;         ///< recorded uses on other streams, null when there are none
  void (*release)(Storage*) noexcept = nullptr;  ///< frees the memory and the block

  void retain() noexcept { __atomic_add_fetch(&references, 1, __ATOMIC_RELAXED); }
  void drop() noexcept {
    if (__atomic_sub_fetch(&references, 1, __ATOMIC_ACQ_REL) == 0) release(this);
  }
  /// How many handles there are; exact only while no other thread makes or drops one.
  std::int64_t use_count() const noexcept { return __atomic_load_n(&references, __ATOMIC_ACQUIRE); }
};

/// Keeps an allocation alive: copying shares it, the last one releases it.
class StorageHandle {
 public:
  StorageHandle() noexcept = default;
  /// Takes over the reference that a fresh Storage is made with.
  explicit StorageHandle(Storage* adopted) noexcept : storage_(adopted) {}
  StorageHandle(const StorageHandle& other) noexcept : storage_(other.storage_) {
    if (storage_ != nullptr) storage_->retain();
  }
  StorageHandle(StorageHandle&& other) noexcept : storage_(other.storage_) { other.storage_ = nullptr; }
  StorageHandle& operator=(const StorageHandle& other) noexcept {
    StorageHandle copy(other);
    return *this = static_cast<StorageHandle&&>(copy);
  }
  StorageHandle& operator=(StorageHandle&& other) noexcept {
    Storage* const mine = storage_;
    storage_ = other.storage_;
    other.storage_ = mine;
    return *this;
  }
  ~StorageHandle() {
    if (storage_ != nullptr) storage_->drop();
  }
  Storage* get() const noexcept { return storage_; }
  Storage* operator->() const noexcept { return storage_; }
  explicit operator bool() const noexcept { return storage_ != nullptr; }

 private:
  Storage* storage_ = nullptr;
};

/// Host memory is aligned for the widest vector registers and for cache lines.
inline constexpr std::size_t host_alignment = 64;

inline void release_host_storage(Storage* storage) noexcept {
  std::free(storage->data);
  delete storage;
}

inline void release_borrowed_storage(Storage* storage) noexcept { delete storage; }

/// Host memory of that many bytes, uninitialised. Throws OutOfMemory.
inline Storage* allocate_host(std::size_t bytes) {
  const std::size_t rounded = (bytes + host_alignment - 1) / host_alignment * host_alignment;
  Storage* const storage = new (std::nothrow) Storage;
  void* data = nullptr;
  if (storage != nullptr && rounded >= bytes && rounded > 0) data = std::aligned_alloc(host_alignment, rounded);
  if (storage == nullptr || (data == nullptr && bytes > 0)) {
    delete storage;
    throw OutOfMemory(Message{} << "out of memory: " << bytes << " bytes of host memory were asked for", bytes, 0);
  }
  storage->data = data;
  storage->bytes = bytes;
  storage->release = release_host_storage;
  return storage;
}

}  // namespace heddle
