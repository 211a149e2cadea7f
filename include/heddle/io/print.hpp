// Tensors as text, in NumPy's form.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "heddle/ops/map.hpp"

namespace heddle {
inline namespace HEDDLE_BUILD {

/// More elements than this are summarised to their first and last three along each axis.
inline constexpr index_t print_threshold = 1000;
inline constexpr index_t print_edge = 3;

/// One element as text, padded later to the widest.
struct printed_element {
  char text[32];
};

/// How the floating elements of a tensor are written together: digits after the point, or scientific.
struct number_format {
  bool scientific = false;
  int digits = 0;
};

/// Whether a text reads back as that value in type T.
template <class T>
bool reads_back(const char* text, double value) {
  return static_cast<double>(cast_element<T>(std::strtod(text, nullptr))) == value;
}

template <class T>
void print_number(char (&text)[32], double value, const number_format& format) {
  if (value != value) {
    std::strcpy(text, "nan");
  } else if (value - value != 0) {
    std::strcpy(text, value > 0 ? "inf" : "-inf");
  } else if (format.scientific) {
    std::snprintf(text, sizeof(text), format.digits > 0 ? "%.*e" : "%#.*e", format.digits, value);
  } else {
    int digits = 0;
    for (; digits <= format.digits; ++digits) {
      std::snprintf(text, sizeof(text), digits > 0 ? "%.*f" : "%#.*f", digits, value);
      if (digits == format.digits || reads_back<T>(text, value)) break;
    }
    std::size_t length = std::strlen(text);
    for (; digits > 0 && text[length - 1] == '0'; --digits) --length;
    // Blanks keep the points under each other.
    for (; digits < format.digits && length + 1 < sizeof(text); ++digits) text[length++] = ' ';
    text[length] = '\0';
  }
}

/// How many digits after the point it takes to read a value back in type T; if 8 are too few, the last of 8 that is not
/// 0.
template <class T>
int digits_after_point(double value, bool scientific) {
  char text[400];
  for (int digits = 0; digits <= 8; ++digits) {
    std::snprintf(text, sizeof(text), scientific ? "%.*e" : "%.*f", digits, value);
    if (reads_back<T>(text, value)) return digits;
  }
  const char* const point = std::strchr(text, '.');
  int digits = 8;
  while (digits > 0 && point[digits] == '0') --digits;
  return digits;
}

/// The fewest digits after the point, at most 8, from which each value can be read back in type T.
template <class T>
number_format choose_format(const double* values, std::size_t count) {
  double greatest = 0;
  double least = 1e300;
  for (std::size_t i = 0; i < count; ++i) {
    const double magnitude = values[i] < 0 ? -values[i] : values[i];
    if (!(magnitude - magnitude == 0) || magnitude == 0) continue;
    greatest = magnitude > greatest ? magnitude : greatest;
    least = magnitude < least ? magnitude : least;
  }
  number_format format;
  format.scientific = greatest > 0 && (greatest >= 1e8 || least < 1e-4 || greatest / least > 1000);
  for (std::size_t i = 0; i < count; ++i) {
    if (!(values[i] - values[i] == 0)) continue;
    const int digits = digits_after_point<T>(values[i], format.scientific);
    format.digits = digits > format.digits ? digits : format.digits;
  }
  return format;
}

/// Which indices of an axis are shown: all, or the edges.
template <int Rank>
struct printer {
  const Shape<Rank>& shape;
  bool summarised;
  std::vector<printed_element>& elements;  // those shown, in order
  std::size_t width;
  std::vector<char>& out;
  std::size_t next = 0;

  void put(const char* text) { out.insert(out.end(), text, text + std::strlen(text)); }
  void pad(std::size_t count) { out.insert(out.end(), count, ' '); }

  void axis(int depth) {
    if (depth == Rank) {
      const char* const text = elements[next++].text;
      pad(width - std::strlen(text));
      put(text);
      return;
    }
    put("[");
    const index_t extent = shape[depth];
    const bool cut = summarised && extent > 2 * print_edge;
    for (index_t i = 0; i < extent; ++i) {
      if (i > 0) separate(depth);
      if (cut && i == print_edge) {
        put("...");
        i = extent - print_edge - 1;
        continue;
      }
      axis(depth + 1);
    }
    put("]");
  }
  void separate(int depth) {
    if (depth == Rank - 1) return put(" ");
    for (int line = depth; line < Rank - 1; ++line) put("\n");
    pad(static_cast<std::size_t>(depth) + 1);
  }
};

/// Writes a tensor or a formula as NumPy prints an array: aligned, rows in brackets, long ones summarised; a Cuda
/// tensor is copied to the host first. Floating elements have the digits that tell them apart, at most 8 after the
/// point. Example: `std::cout << hd::mean(y, hd::axis<0>) << '\n';`
template <class OutputStream, Expression X>
requires requires(OutputStream& out) { out.write("", 0).flush(); }
OutputStream& operator<<(OutputStream& stream, X&& x) {
  using T = typename std::remove_cvref_t<X>::value_type;
  constexpr int Rank = std::remove_cvref_t<X>::rank;
  const auto tensor = eval(std::forward<X>(x));
  const Shape<Rank> shape = tensor.shape();
  const bool summarised = shape.size() > print_threshold;
  const auto host = tensor.to(cpu);

  std::vector<printed_element> elements;
  std::vector<double> values;
  auto visit = [&](auto&& self, int depth, index_t offset, auto&& take) -> void {
    if (depth == Rank) return take(host.data()[offset]);
    for (index_t i = 0; i < shape[depth]; ++i) {
      if (summarised && shape[depth] > 2 * print_edge && i == print_edge) i = shape[depth] - print_edge;
      self(self, depth + 1, offset + i * host.strides()[depth], take);
    }
  };
  if (shape.size() > 0) {
    if constexpr (kind_of<T> == kind::floating) {
      visit(visit, 0, 0, [&](T value) { values.push_back(static_cast<double>(value)); });
      const number_format format = choose_format<T>(values.data(), values.size());
      for (const double value : values) print_number<T>(elements.emplace_back().text, value, format);
      if constexpr (Rank == 0) {
        char(&text)[32] = elements.front().text;
        if (text[std::strlen(text) - 1] == '.') std::strcat(text, "0");
      }
    } else {
      visit(visit, 0, 0, [&](T value) {
        printed_element& element = elements.emplace_back();
        if constexpr (std::is_same_v<T, bool>)
          std::strcpy(element.text, value ? "True" : "False");
        else if constexpr (std::is_signed_v<T>)
          std::snprintf(element.text, sizeof(element.text), "%lld", static_cast<long long>(value));
        else
          std::snprintf(element.text, sizeof(element.text), "%llu", static_cast<unsigned long long>(value));
      });
    }
  }
  std::size_t width = 0;
  for (const printed_element& element : elements) {
    const std::size_t length = std::strlen(element.text);
    width = length > width ? length : width;
  }
  std::vector<char> text;
  if (shape.size() == 0)
    text.assign({'[', ']'});
  else
    printer<Rank>{shape, summarised, elements, width, text}.axis(0);
  stream.write(text.data(), static_cast<std::ptrdiff_t>(text.size()));
  return stream;
}

/// A shape as Python writes it. Example: `std::cout << x.shape();` prints (2, 3).
template <class OutputStream, int Rank>
requires requires(OutputStream& out) { out.write("", 0).flush(); }
OutputStream& operator<<(OutputStream& stream, const Shape<Rank>& shape) {
  Message text;
  text << shape;
  stream.write(text.text(), static_cast<std::ptrdiff_t>(std::strlen(text.text())));
  return stream;
}

}  // namespace HEDDLE_BUILD
}  // namespace heddle
