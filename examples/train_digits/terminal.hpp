#pragma once

#include <cstdint>
#include <string>

/// True if standard output is a terminal that understands control sequences.
bool is_terminal();

/// True if it is one and the user hasn't refused colours (https://no-color.org).
bool has_colour();

/// The width of the terminal, 80 where it isn't known.
int terminal_columns();

/// 1234567 as 1,234,567.
std::string grouped(std::int64_t value);

/// `text` with spaces before it, up to `width` bytes.
std::string right_aligned(const std::string& text, std::size_t width);
