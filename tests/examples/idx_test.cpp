#include "idx.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <stdexcept>
#include <string>

#include "files.hpp"

namespace {

/// The message with which read_idx refuses the file, which must be one line that begins with the path.
std::string refusal(const std::string& path, int axes) {
  try {
    read_idx(path.c_str(), axes);
  } catch (const std::runtime_error& error) {
    const std::string text = error.what();
    EXPECT_EQ(text.rfind(path + ": ", 0), 0u) << text;
    EXPECT_EQ(text.find('\n'), std::string::npos) << text;
    return text.substr(std::min(text.size(), path.size() + 2));
  }
  return "accepted";
}

/// Bytes that gzip can't make much smaller.
Bytes noise(std::size_t size) {
  Bytes bytes(size);
  std::uint32_t state = 12345;
  for (std::uint8_t& byte : bytes) {
    state = state * 1664525u + 1013904223u;
    byte = static_cast<std::uint8_t>(state >> 24);
  }
  return bytes;
}

class IdxTest : public ::testing::Test {
 protected:
  TemporaryFolder folder;
  std::string path = folder.file("array.gz");
};

TEST_F(IdxTest, ReadsGzipAndPlainFiles) {
  const Bytes content = noise(2 * 3 * 5);
  write_gzip(path, idx_bytes({2, 3, 5}, content));
  IdxArray array = read_idx(path.c_str(), 3);
  EXPECT_EQ(array.extents, (std::vector<std::int64_t>{2, 3, 5}));
  EXPECT_EQ(array.bytes, content);

  write_plain(path, idx_bytes({30}, content));
  array = read_idx(path.c_str(), 1);
  EXPECT_EQ(array.extents, (std::vector<std::int64_t>{30}));
  EXPECT_EQ(array.bytes, content);
}

TEST_F(IdxTest, ReadsMoreThanOnePiece) {
  const Bytes content = noise(3'000'001);
  write_gzip(path, idx_bytes({3'000'001}, content));
  EXPECT_EQ(read_idx(path.c_str(), 1).bytes, content);
}

TEST_F(IdxTest, MissingFile) { EXPECT_EQ(refusal(folder.file("nothing.gz"), 1), "No such file or directory"); }

TEST_F(IdxTest, FolderInsteadOfFile) { EXPECT_EQ(refusal(folder.path(), 1), "Is a directory"); }

TEST_F(IdxTest, EmptyFile) {
  write_plain(path, {});
  EXPECT_EQ(refusal(path, 1), "not an IDX file");
}

TEST_F(IdxTest, SomeOtherFile) {
  const std::string text = "digit,pixel\n3,255\n";
  write_plain(path, Bytes(text.begin(), text.end()));
  EXPECT_EQ(refusal(path, 1), "not an IDX file");
}

TEST_F(IdxTest, WrongTypeOrNumberOfAxes) {
  write_gzip(path, idx_bytes({4}, noise(4), 0x0d));
  EXPECT_EQ(refusal(path, 1), "an IDX file of bytes with 1 axes was expected, this one has type 13 and 1 axes");
  write_gzip(path, idx_bytes({4}, noise(4)));
  EXPECT_EQ(refusal(path, 3), "an IDX file of bytes with 3 axes was expected, this one has type 8 and 1 axes");
}

TEST_F(IdxTest, HeaderBreaksOff) {
  Bytes bytes = idx_bytes({2, 3, 5}, {});
  bytes.resize(10);
  write_gzip(path, bytes);
  EXPECT_EQ(refusal(path, 3), "truncated, the header breaks off");
}

TEST_F(IdxTest, DataBreaksOff) {
  write_gzip(path, idx_bytes({2, 3, 5}, noise(29)));
  EXPECT_EQ(refusal(path, 3), "truncated, 29 of 30 bytes are there");
}

TEST_F(IdxTest, EveryTruncationOfTheCompressedFileIsNoticed) {
  write_gzip(path, idx_bytes({20, 10}, noise(200)));
  const Bytes whole = read_plain(path);
  for (std::size_t size = 0; size < whole.size(); ++size) {
    write_plain(path, Bytes(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size)));
    const std::string text = refusal(path, 2);
    EXPECT_NE(text, "accepted") << size << " of " << whole.size() << " bytes";
    if (size >= 10) {
      EXPECT_EQ(text.rfind("truncated", 0), 0u) << text;
    }
  }
}

TEST_F(IdxTest, EveryDamagedByteOfTheCompressedDataIsNoticed) {
  write_gzip(path, idx_bytes({20, 10}, noise(200)));
  const Bytes whole = read_plain(path);
  // Bytes 4 to 9 of a gzip header (time, compression level, system) have no meaning for the content.
  for (std::size_t index = 10; index < whole.size(); ++index) {
    Bytes damaged = whole;
    damaged[index] = static_cast<std::uint8_t>(damaged[index] ^ 0xffu);
    write_plain(path, damaged);
    EXPECT_NE(refusal(path, 2), "accepted") << "byte " << index;
  }
}

TEST_F(IdxTest, AWrongChecksumIsCorrupt) {
  write_gzip(path, idx_bytes({20, 10}, noise(200)));
  Bytes bytes = read_plain(path);
  bytes[bytes.size() - 8] = static_cast<std::uint8_t>(bytes[bytes.size() - 8] ^ 1u);
  write_plain(path, bytes);
  EXPECT_EQ(refusal(path, 2), "corrupt, incorrect data check");
}

TEST_F(IdxTest, TrailingData) {
  write_gzip(path, idx_bytes({2, 3, 5}, noise(31)));
  EXPECT_EQ(refusal(path, 3), "there is more data than the 30 bytes that the header announces");
}

TEST_F(IdxTest, EmptyAxis) {
  write_gzip(path, idx_bytes({2, 0, 5}, {}));
  EXPECT_EQ(refusal(path, 3), "axis 1 has no elements");
}

TEST_F(IdxTest, AnnouncedSizesThatNoMachineHolds) {
  write_gzip(path, idx_bytes({0xffffffffu, 0xffffffffu, 0xffffffffu}, noise(100)));
  EXPECT_EQ(refusal(path, 3), "corrupt, the extents in the header overflow");
  write_gzip(path, idx_bytes({0xffffffffu, 0x7fffffffu}, noise(100)));
  EXPECT_EQ(refusal(path, 2), "truncated, 100 of 9223372030412324865 bytes are there");
}

class DigitsTest : public ::testing::Test {
 protected:
  void write(const Bytes& images, const Bytes& labels) {
    write_gzip(folder.file("mnist-test-images-idx3-ubyte.gz"), images);
    write_gzip(folder.file("mnist-test-labels-idx1-ubyte.gz"), labels);
  }
  std::string refused() {
    try {
      load_digits(folder.path().c_str(), "test");
    } catch (const std::runtime_error& error) {
      return error.what();
    }
    return "accepted";
  }

  TemporaryFolder folder;
};

TEST_F(DigitsTest, Loads) {
  const Bytes pixels = noise(3 * 2 * 4);
  write(idx_bytes({3, 2, 4}, pixels), idx_bytes({3}, {9, 0, 4}));
  const Digits digits = load_digits(folder.path().c_str(), "test");
  EXPECT_EQ(digits.count, 3);
  EXPECT_EQ(digits.rows, 2);
  EXPECT_EQ(digits.columns, 4);
  EXPECT_EQ(digits.pixels, pixels);
  EXPECT_EQ(digits.labels, (Bytes{9, 0, 4}));
}

TEST_F(DigitsTest, MoreLabelsThanImages) {
  write(idx_bytes({3, 2, 4}, noise(24)), idx_bytes({4}, {1, 2, 3, 4}));
  EXPECT_NE(refused().find("labels-idx1-ubyte.gz: 4 labels for 3 images"), std::string::npos) << refused();
}

TEST_F(DigitsTest, ALabelThatIsNoDigit) {
  write(idx_bytes({3, 2, 4}, noise(24)), idx_bytes({3}, {1, 10, 3}));
  EXPECT_NE(refused().find("labels-idx1-ubyte.gz: label 1 is 10, not a digit"), std::string::npos) << refused();
}

TEST_F(DigitsTest, MissingLabels) {
  write_gzip(folder.file("mnist-test-images-idx3-ubyte.gz"), idx_bytes({3, 2, 4}, noise(24)));
  EXPECT_NE(refused().find("labels-idx1-ubyte.gz: No such file or directory"), std::string::npos) << refused();
}

TEST(ExampleData, IsWhatItsReadmeSays) {
  const Digits training = load_digits(HEDDLE_EXAMPLES_DATA_DIR, "train");
  const Digits testing = load_digits(HEDDLE_EXAMPLES_DATA_DIR, "test");
  EXPECT_EQ(training.count, 8500);
  EXPECT_EQ(testing.count, 1500);
  for (const Digits* digits : {&training, &testing}) {
    EXPECT_EQ(digits->rows, 28);
    EXPECT_EQ(digits->columns, 28);
    EXPECT_EQ(digits->pixels.size(), static_cast<std::size_t>(digits->count) * 784);
  }
}

}  // namespace
