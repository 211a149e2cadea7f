// The exceptions, and the small text builder that their messages are made with.
#pragma once

#include <concepts>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>

#include "heddle/config.hpp"

namespace heddle {

/// Builds a message without <string>, which costs as much compile time as the rest of Heddle's core.
/// A text that does not fit is cut. Example: `Message{} << "axis " << 3 << " is out of range"`.
class Message {
 public:
  [[gnu::cold, gnu::noinline]] Message& operator<<(const char* text) noexcept {
    append(text, std::strlen(text));
    return *this;
  }
  [[gnu::cold, gnu::noinline]] Message& operator<<(char letter) noexcept {
    append(&letter, 1);
    return *this;
  }
  Message& operator<<(bool value) noexcept { return *this << (value ? "true" : "false"); }
  template <std::signed_integral I>
  Message& operator<<(I value) noexcept {
    return formatted("%lld", static_cast<long long>(value));
  }
  template <std::unsigned_integral I>
  Message& operator<<(I value) noexcept {
    return formatted("%llu", static_cast<unsigned long long>(value));
  }
  template <std::floating_point F>
  Message& operator<<(F value) noexcept {
    return formatted("%.9g", static_cast<double>(value));
  }

  const char* text() const noexcept { return text_; }
  std::size_t size() const noexcept { return size_; }

 private:
  template <class Value>
  [[gnu::cold, gnu::noinline]] Message& formatted(const char* format, Value value) noexcept {
    char digits[40];
    const int length = std::snprintf(digits, sizeof(digits), format, value);
    if (length > 0) append(digits, static_cast<std::size_t>(length));
    return *this;
  }
  [[gnu::cold, gnu::noinline]] void append(const char* text, std::size_t count) noexcept {
    const std::size_t room = sizeof(text_) - 1 - size_;
    if (count > room) count = room;
    std::memcpy(text_ + size_, text, count);
    size_ += count;
    text_[size_] = '\0';
  }

  std::size_t size_ = 0;
  char text_[1024] = {};
};

/// The base of all that Heddle throws. Copies share one text, so that copying can't fail.
class HEDDLE_SHARED Error : public std::exception {
 public:
  explicit Error(const Message& message) noexcept : text_(make(message.text(), message.size())) {}
  explicit Error(const char* message) noexcept : text_(make(message, std::strlen(message))) {}
  Error(const Error& other) noexcept : std::exception(other), text_(other.text_) {
    if (text_ != nullptr) __atomic_add_fetch(&text_->references, 1, __ATOMIC_RELAXED);
  }
  Error& operator=(const Error& other) noexcept {
    Text* const kept = other.text_;
    if (kept != nullptr) __atomic_add_fetch(&kept->references, 1, __ATOMIC_RELAXED);
    release();
    text_ = kept;
    return *this;
  }
  ~Error() override { release(); }

  /// What was given and what was expected.
  const char* what() const noexcept override {
    return text_ != nullptr ? reinterpret_cast<const char*>(text_ + 1)
                            : "heddle: out of memory while reporting an error";
  }

 private:
  struct Text {
    long references;
  };
  static Text* make(const char* text, std::size_t size) noexcept {
    auto* const made = static_cast<Text*>(std::malloc(sizeof(Text) + size + 1));
    if (made == nullptr) return nullptr;
    made->references = 1;
    std::memcpy(reinterpret_cast<char*>(made + 1), text, size);
    reinterpret_cast<char*>(made + 1)[size] = '\0';
    return made;
  }
  void release() noexcept {
    if (text_ != nullptr && __atomic_sub_fetch(&text_->references, 1, __ATOMIC_ACQ_REL) == 0) std::free(text_);
  }

  Text* text_;
};

/// Shapes that do not fit together, or a shape that cannot be.
class HEDDLE_SHARED ShapeError : public Error {
 public:
  using Error::Error;
};

/// An index or axis out of range; says axis, index and extent.
class HEDDLE_SHARED IndexError : public Error {
 public:
  using Error::Error;
};

/// A device that is missing, the wrong device, or a fault reported by CUDA.
class HEDDLE_SHARED DeviceError : public Error {
 public:
  explicit DeviceError(const Message& message, int code = 0, const char* name = "") noexcept
      : Error(message), code_(code), name_(name) {}
  /// CUDA's number of the error, 0 where CUDA was not asked.
  int code() const noexcept { return code_; }
  /// CUDA's name of the error, "" where CUDA was not asked.
  const char* name() const noexcept { return name_; }

 private:
  int code_;
  const char* name_;
};

/// Memory that could not be had: how much was asked for and how much is free.
class HEDDLE_SHARED OutOfMemory : public Error {
 public:
  OutOfMemory(const Message& message, std::size_t bytes_asked, std::size_t bytes_free) noexcept
      : Error(message), bytes_asked_(bytes_asked), bytes_free_(bytes_free) {}
  std::size_t bytes_asked() const noexcept { return bytes_asked_; }
  /// 0 where the system does not tell.
  std::size_t bytes_free() const noexcept { return bytes_free_; }

 private:
  std::size_t bytes_asked_;
  std::size_t bytes_free_;
};

/// A file that is not what it should be.
class HEDDLE_SHARED FormatError : public Error {
 public:
  using Error::Error;
};

/// Something that Heddle, or this build of it, does not do.
class HEDDLE_SHARED UnsupportedError : public Error {
 public:
  using Error::Error;
};

}  // namespace heddle
