// Reads NPY 1.0 files, little-endian and in C order: what the case folders hold. It is the driver's own, so that a
// fault in the library's reader can't hide one in an operation.
#pragma once

#include <bit>
#include <filesystem>
#include <span>
#include <stdexcept>
#include <string>

#include "conformance/array.hpp"

namespace conformance {

static_assert(std::endian::native == std::endian::little, "the files are little-endian");

/// A file or a case that is not what it should be.
class BadCase : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The array in the bytes of a file; throws BadCase where they are not NPY 1.0, little-endian, in C order.
Array parse_npy(std::span<const std::byte> file);

/// The array in a file; throws BadCase, with the path, where it is missing or damaged.
Array read_npy(const std::filesystem::path& path);

}  // namespace conformance
