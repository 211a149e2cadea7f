#include "idx.hpp"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <string>

namespace {

[[noreturn]] void fail(const std::string& path, const std::string& reason) {
  throw std::runtime_error(path + ": " + reason);
}

/// A file read through zlib, which passes a file that isn't compressed through unchanged.
class GzipReader {
 public:
  explicit GzipReader(const char* path) : path_(path) {
    errno = 0;
    file_ = gzopen(path, "rb");
    if (file_ == nullptr) {
      fail(path_, errno != 0 ? std::strerror(errno) : "out of memory");
    }
  }
  ~GzipReader() { gzclose(file_); }
  GzipReader(const GzipReader&) = delete;
  GzipReader& operator=(const GzipReader&) = delete;

  /// Reads up to `size` bytes; fewer only at the end of the file.
  std::size_t read(std::uint8_t* bytes, unsigned size) {
    const int got = gzread(file_, bytes, size);
    int code = Z_OK;
    const char* text = gzerror(file_, &code);
    // A compressed file that breaks off yields what there is, then says so here and nowhere else.
    if (code == Z_BUF_ERROR) {
      fail(path_, "truncated, the compressed data breaks off");
    }
    if (got < 0 || code != Z_OK) {
      fail(path_, code == Z_ERRNO ? std::strerror(errno) : std::string("corrupt, ") + strip_path(text));
    }
    return static_cast<std::size_t>(got);
  }

 private:
  // zlib puts the path before its text.
  std::string strip_path(const std::string& text) const {
    const std::string prefix = path_ + ": ";
    return text.compare(0, prefix.size(), prefix) == 0 ? text.substr(prefix.size()) : text;
  }

  std::string path_;
  gzFile file_ = nullptr;
};

constexpr std::uint8_t idx_type_byte = 0x08;
constexpr unsigned piece = 1 << 20;

/// Reads exactly `size` bytes. They are asked for piece by piece, so a header that lies costs no memory.
std::vector<std::uint8_t> read_exactly(GzipReader& reader, const std::string& path, std::int64_t size) {
  std::vector<std::uint8_t> bytes;
  while (static_cast<std::int64_t>(bytes.size()) < size) {
    const auto have = bytes.size();
    const auto wanted = static_cast<std::size_t>(std::min<std::int64_t>(piece, size - static_cast<std::int64_t>(have)));
    bytes.resize(have + wanted);
    const std::size_t got = reader.read(bytes.data() + have, static_cast<unsigned>(wanted));
    if (got < wanted) {
      fail(path, "truncated, " + std::to_string(have + got) + " of " + std::to_string(size) + " bytes are there");
    }
  }
  return bytes;
}

}  // namespace

IdxArray read_idx(const char* path, int axes) {
  GzipReader reader(path);
  std::array<std::uint8_t, 4> magic{};
  if (reader.read(magic.data(), 4) != 4 || magic[0] != 0 || magic[1] != 0) {
    fail(path, "not an IDX file");
  }
  if (magic[2] != idx_type_byte || magic[3] != axes) {
    fail(path, "an IDX file of bytes with " + std::to_string(axes) + " axes was expected, this one has type " +
                   std::to_string(magic[2]) + " and " + std::to_string(magic[3]) + " axes");
  }

  IdxArray array;
  std::int64_t size = 1;
  for (int axis = 0; axis < axes; ++axis) {
    std::array<std::uint8_t, 4> big_endian{};
    if (reader.read(big_endian.data(), 4) != 4) {
      fail(path, "truncated, the header breaks off");
    }
    std::int64_t extent = 0;
    for (const std::uint8_t byte : big_endian) {
      extent = extent * 256 + byte;
    }
    if (extent == 0) {
      fail(path, "axis " + std::to_string(axis) + " has no elements");
    }
    if (size > INT64_MAX / extent) {
      fail(path, "corrupt, the extents in the header overflow");
    }
    size *= extent;
    array.extents.push_back(extent);
  }

  array.bytes = read_exactly(reader, path, size);
  // Read on to the end, where zlib compares the checksum: a damaged file may well decompress to too much.
  std::vector<std::uint8_t> extra(piece);
  bool is_longer = false;
  while (reader.read(extra.data(), piece) != 0) {
    is_longer = true;
  }
  if (is_longer) {
    fail(path, "there is more data than the " + std::to_string(size) + " bytes that the header announces");
  }
  return array;
}

Digits load_digits(const char* directory, const char* part) {
  const std::string stem = std::string(directory) + "/mnist-" + part;
  const std::string image_path = stem + "-images-idx3-ubyte.gz";
  const std::string label_path = stem + "-labels-idx1-ubyte.gz";
  IdxArray images = read_idx(image_path.c_str(), 3);
  IdxArray labels = read_idx(label_path.c_str(), 1);

  if (labels.extents[0] != images.extents[0]) {
    fail(label_path,
         std::to_string(labels.extents[0]) + " labels for " + std::to_string(images.extents[0]) + " images");
  }
  const auto wrong =
      std::find_if(labels.bytes.begin(), labels.bytes.end(), [](std::uint8_t label) { return label > 9; });
  if (wrong != labels.bytes.end()) {
    fail(label_path,
         "label " + std::to_string(wrong - labels.bytes.begin()) + " is " + std::to_string(*wrong) + ", not a digit");
  }

  Digits digits;
  digits.count = images.extents[0];
  digits.rows = images.extents[1];
  digits.columns = images.extents[2];
  digits.pixels = std::move(images.bytes);
  digits.labels = std::move(labels.bytes);
  return digits;
}
