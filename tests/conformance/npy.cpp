#include "conformance/npy.hpp"

#include <charconv>
#include <cstring>
#include <fstream>
#include <iterator>
#include <limits>
#include <string_view>
#include <utility>

namespace conformance {
namespace {

constexpr std::string_view magic("\x93NUMPY\x01\x00", 8);

constexpr std::pair<std::string_view, ElementType> descriptions[] = {
    {"|b1", ElementType::boolean}, {"|i1", ElementType::int8},    {"<i2", ElementType::int16},
    {"<i4", ElementType::int32},   {"<i8", ElementType::int64},   {"|u1", ElementType::uint8},
    {"<u2", ElementType::uint16},  {"<u4", ElementType::uint32},  {"<u8", ElementType::uint64},
    {"<f2", ElementType::float16}, {"<f4", ElementType::float32}, {"<f8", ElementType::float64}};

/// Reads the header, a Python dictionary of three known keys.
class HeaderReader {
 public:
  explicit HeaderReader(std::string_view text) : rest_(text) {}

  void read(Array& array) {
    bool has_type = false;
    bool has_order = false;
    bool has_shape = false;
    expect('{');
    while (!accept('}')) {
      const std::string_view key = quoted();
      expect(':');
      if (key == "descr") {
        array.type = element_type(quoted());
        has_type = true;
      } else if (key == "fortran_order") {
        if (word() != "False") throw BadCase("Fortran order is not served");
        has_order = true;
      } else if (key == "shape") {
        array.shape = shape();
        has_shape = true;
      } else {
        throw BadCase("unknown key '" + std::string(key) + "' in the NPY header");
      }
      accept(',');
    }
    if (!has_type || !has_order || !has_shape) throw BadCase("the NPY header lacks descr, fortran_order or shape");
    skip_space();
    if (!rest_.empty()) throw BadCase("the NPY header goes on after its dictionary");
  }

 private:
  static ElementType element_type(std::string_view description) {
    for (const auto& [text, type] : descriptions)
      if (text == description) return type;
    throw BadCase("element type '" + std::string(description) + "' is not served");
  }
  void skip_space() {
    while (!rest_.empty() && (rest_.front() == ' ' || rest_.front() == '\n')) rest_.remove_prefix(1);
  }
  bool accept(char letter) {
    skip_space();
    if (rest_.empty() || rest_.front() != letter) return false;
    rest_.remove_prefix(1);
    return true;
  }
  void expect(char letter) {
    if (!accept(letter)) throw BadCase(std::string("the NPY header lacks a '") + letter + "'");
  }
  std::string_view taken(std::size_t count) {
    const std::string_view text = rest_.substr(0, count);
    rest_.remove_prefix(count);
    return text;
  }
  std::string_view quoted() {
    expect('\'');
    const std::size_t end = rest_.find('\'');
    if (end == std::string_view::npos) throw BadCase("a text in the NPY header does not end");
    const std::string_view text = taken(end);
    rest_.remove_prefix(1);
    return text;
  }
  std::string_view word() {
    skip_space();
    return taken(std::min(rest_.find_first_of(",} \n"), rest_.size()));
  }
  Extents shape() {
    Extents extents;
    expect('(');
    while (!accept(')')) {
      skip_space();
      std::int64_t extent = -1;
      const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), extent);
      if (error != std::errc() || extent < 0)
        throw BadCase("the NPY header's shape is not one of non-negative integers");
      rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
      extents.push_back(extent);
      if (!accept(',') && (rest_.empty() || rest_.front() != ')')) throw BadCase("the NPY header's shape does not end");
    }
    return extents;
  }

  std::string_view rest_;
};

std::size_t checked_byte_count(const Array& array) {
  std::size_t count = size_of(array.type);
  for (const std::int64_t extent : array.shape) {
    const auto factor = static_cast<std::size_t>(extent);
    if (factor != 0 && count > std::numeric_limits<std::size_t>::max() / factor)
      throw BadCase("the shape is too large");
    count *= factor;
  }
  return count;
}

}  // namespace

Array parse_npy(std::span<const std::byte> file) {
  const std::string_view text(reinterpret_cast<const char*>(file.data()), file.size());
  if (text.size() < magic.size() + 2 || text.substr(0, magic.size()) != magic) throw BadCase("not an NPY 1.0 file");
  const auto low = static_cast<unsigned char>(text[magic.size()]);
  const auto high = static_cast<unsigned char>(text[magic.size() + 1]);
  const std::size_t header_size = low + 256u * high;
  const std::string_view rest = text.substr(magic.size() + 2);
  if (rest.size() < header_size) throw BadCase("the NPY header is cut off");

  Array array;
  HeaderReader(rest.substr(0, header_size)).read(array);
  const std::string_view data = rest.substr(header_size);
  const std::size_t count = checked_byte_count(array);
  if (data.size() != count)
    throw BadCase(std::to_string(data.size()) + " bytes of data where the header asks for " + std::to_string(count));
  array.bytes.resize(count);
  if (count > 0) std::memcpy(array.bytes.data(), data.data(), count);
  if (array.type == ElementType::boolean)
    for (const std::byte value : array.bytes)
      if (value > std::byte{1}) throw BadCase("a boolean is neither 0 nor 1");
  return array;
}

Array read_npy(const std::filesystem::path& path) {
  std::ifstream stream(path, std::ios::binary);
  if (!stream) throw BadCase("can't open " + path.string());
  const std::string text((std::istreambuf_iterator<char>(stream)), std::istreambuf_iterator<char>());
  try {
    return parse_npy(std::as_bytes(std::span(text)));
  } catch (const BadCase& error) {
    throw BadCase(path.string() + ": " + error.what());
  }
}

}  // namespace conformance
