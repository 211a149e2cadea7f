#include "report.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <string>

#include "terminal.hpp"

namespace {

constexpr const char* bold = "\x1b[1m";
constexpr const char* red = "\x1b[31m";
constexpr const char* plain = "\x1b[0m";

/// Appends `text`, in `style` where the terminal has colours.
void append(std::string& line, const std::string& text, const char* style) {
  line += has_colour() ? style + text + plain : text;
}

/// One character that shows two pixels, one above the other.
std::string two_pixels(std::uint8_t upper, std::uint8_t lower) {
  if (has_colour()) {
    // The grey ramp of the 256-colour palette has 24 steps, from 232 on.
    const auto grey = [](std::uint8_t value) { return std::to_string(232 + value * 23 / 255); };
    return "\x1b[38;5;" + grey(upper) + ";48;5;" + grey(lower) + "m▀";
  }
  constexpr std::uint8_t dark = 96;
  return upper >= dark ? (lower >= dark ? "█" : "▀") : (lower >= dark ? "▄" : " ");
}

// MNIST leaves a margin of blank paper around its digits: the middle of the image is enough.
constexpr std::int64_t picture_side = 24;

/// The lines that draw one image.
std::vector<std::string> picture(const Digits& digits, std::int64_t image) {
  const std::int64_t top = std::max<std::int64_t>(0, (digits.rows - picture_side) / 2);
  const std::int64_t left = std::max<std::int64_t>(0, (digits.columns - picture_side) / 2);
  const auto pixel = [&](std::int64_t row, std::int64_t column) -> std::uint8_t {
    if (row >= digits.rows || column >= digits.columns) return 0;
    return digits.pixels[static_cast<std::size_t>((image * digits.rows + row) * digits.columns + column)];
  };

  std::vector<std::string> lines;
  for (std::int64_t row = top; row < top + picture_side; row += 2) {
    std::string line;
    for (std::int64_t column = left; column < left + picture_side; ++column) {
      line += two_pixels(pixel(row, column), pixel(row + 1, column));
    }
    lines.push_back(line + (has_colour() ? plain : ""));
  }
  return lines;
}

std::string caption(const Digits& digits, const Readings& readings, std::size_t image) {
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), "a %d, read as %d (%.0f %%)", digits.labels[image],
                static_cast<int>(readings.digit[image]), 100.0 * static_cast<double>(readings.probability[image]));
  std::string padded = text.data();
  padded.resize(static_cast<std::size_t>(picture_side), ' ');
  return padded;
}

}  // namespace

void print_accuracy(const Digits& digits, const Readings& readings) {
  std::int64_t right = 0;
  for (std::size_t image = 0; image < digits.labels.size(); ++image) {
    right += readings.digit[image] == digits.labels[image] ? 1 : 0;
  }
  std::string line = "\nTest accuracy: ";
  std::array<char, 32> percent{};
  std::snprintf(percent.data(), percent.size(), "%.2f %%",
                100.0 * static_cast<double>(right) / static_cast<double>(digits.count));
  append(line, percent.data(), bold);
  std::printf("%s, %s of %s images\n", line.c_str(), grouped(right).c_str(), grouped(digits.count).c_str());
}

void print_confusion(const Digits& digits, const Readings& readings) {
  std::array<std::array<std::int64_t, 10>, 10> counts{};
  for (std::size_t image = 0; image < digits.labels.size(); ++image) {
    ++counts[digits.labels[image]][static_cast<std::size_t>(readings.digit[image])];
  }

  std::string text = "\nThe digit (rows) and what was read (columns):\n\n      ";
  for (int digit = 0; digit < 10; ++digit) {
    append(text, right_aligned(std::to_string(digit), 6), bold);
  }
  text += "     right\n";
  for (std::size_t row = 0; row < 10; ++row) {
    append(text, right_aligned(std::to_string(row), 6), bold);
    std::int64_t total = 0;
    for (std::size_t column = 0; column < 10; ++column) {
      const std::int64_t count = counts[row][column];
      total += count;
      const std::string cell = right_aligned(count == 0 ? "·" : std::to_string(count), count == 0 ? 7 : 6);
      append(text, cell, row == column ? bold : count != 0 ? red : "");
    }
    std::array<char, 32> percent{};
    if (total > 0) {
      std::snprintf(percent.data(), percent.size(), "%8.1f %%",
                    100.0 * static_cast<double>(counts[row][row]) / static_cast<double>(total));
    }
    text += percent.data() + std::string("\n");
  }
  std::fputs(text.c_str(), stdout);
}

void print_mistakes(const Digits& digits, const Readings& readings, std::size_t most) {
  std::vector<std::vector<std::string>> pictures;
  for (std::size_t image = 0; image < digits.labels.size() && pictures.size() < most; ++image) {
    if (readings.digit[image] != digits.labels[image]) {
      pictures.push_back(picture(digits, static_cast<std::int64_t>(image)));
      pictures.back().push_back(caption(digits, readings, image));
    }
  }
  if (pictures.empty()) {
    return;
  }

  const int in_a_row = std::max(1, (terminal_columns() + 2) / (static_cast<int>(picture_side) + 2));
  std::string text = "\nSome that were read wrongly:\n";
  for (std::size_t first = 0; first < pictures.size(); first += static_cast<std::size_t>(in_a_row)) {
    const std::size_t last = std::min(pictures.size(), first + static_cast<std::size_t>(in_a_row));
    text += '\n';
    for (std::size_t line = 0; line < pictures[first].size(); ++line) {
      for (std::size_t index = first; index < last; ++index) {
        text += pictures[index][line] + "  ";
      }
      text.erase(text.find_last_not_of(' ') + 1);
      text += '\n';
    }
  }
  std::fputs(text.c_str(), stdout);
}
