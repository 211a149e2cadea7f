#pragma once

#include <cstdint>
#include <vector>

// The IDX files of MNIST, gzip-compressed or plain. Every function here throws a std::runtime_error whose text is one
// line that names the file and what is wrong with it.

/// An array of bytes as an IDX file holds it, the last axis fastest.
struct IdxArray {
  std::vector<std::int64_t> extents;
  std::vector<std::uint8_t> bytes;
};

/// Reads an IDX file of bytes that has `axes` axes. The file must hold exactly the bytes that its header announces.
IdxArray read_idx(const char* path, int axes);

/// Images of handwritten digits: `count` images of `rows` x `columns` bytes each, and a label from 0 to 9 for each.
struct Digits {
  std::int64_t count = 0;
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::vector<std::uint8_t> pixels;
  std::vector<std::uint8_t> labels;
};

/// Reads `directory`/mnist-`part`-images-idx3-ubyte.gz and the labels beside it; `part` is "train" or "test".
Digits load_digits(const char* directory, const char* part);
