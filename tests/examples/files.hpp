#pragma once

#include <zlib.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <vector>

using Bytes = std::vector<std::uint8_t>;

/// A folder of its own for a test, removed with all that is in it.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "heddle_examples_XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) {
      throw std::runtime_error("no temporary folder");
    }
    path_ = name;
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  std::string file(const std::string& name) const { return (path_ / name).string(); }
  std::string path() const { return path_.string(); }

 private:
  std::filesystem::path path_;
};

inline void write_plain(const std::string& path, const Bytes& bytes) {
  std::FILE* const file = std::fopen(path.c_str(), "wb");
  if (file == nullptr || std::fwrite(bytes.data(), 1, bytes.size(), file) != bytes.size() || std::fclose(file) != 0) {
    throw std::runtime_error("cannot write " + path);
  }
}

inline void write_gzip(const std::string& path, const Bytes& bytes) {
  const gzFile file = gzopen(path.c_str(), "wb9");
  const auto size = static_cast<unsigned>(bytes.size());
  if (file == nullptr || (size > 0 && gzwrite(file, bytes.data(), size) != static_cast<int>(size)) ||
      gzclose(file) != Z_OK) {
    throw std::runtime_error("cannot write " + path);
  }
}

inline Bytes read_plain(const std::string& path) {
  std::FILE* const file = std::fopen(path.c_str(), "rb");
  if (file == nullptr) {
    throw std::runtime_error("cannot read " + path);
  }
  Bytes bytes;
  for (int byte = std::fgetc(file); byte != EOF; byte = std::fgetc(file)) {
    bytes.push_back(static_cast<std::uint8_t>(byte));
  }
  std::fclose(file);
  return bytes;
}

/// An IDX file of the given element type and extents.
inline Bytes idx_bytes(const std::vector<std::uint32_t>& extents, const Bytes& content, std::uint8_t type = 8) {
  Bytes bytes{0, 0, type, static_cast<std::uint8_t>(extents.size())};
  for (const std::uint32_t extent : extents) {
    for (int shift = 24; shift >= 0; shift -= 8) {
      bytes.push_back(static_cast<std::uint8_t>((extent >> shift) & 0xffu));
    }
  }
  bytes.insert(bytes.end(), content.begin(), content.end());
  return bytes;
}
