// Runs the program train_digits as a user does.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

#include "files.hpp"
#include "run_program.hpp"

namespace {

Outcome train_digits(const std::vector<std::string>& arguments) { return run_program(TRAIN_DIGITS_PROGRAM, arguments); }

std::vector<double> losses(const std::vector<std::string>& arguments) {
  std::vector<std::string> all{"--losses"};
  all.insert(all.end(), arguments.begin(), arguments.end());
  const Outcome outcome = train_digits(all);
  EXPECT_EQ(outcome.exit_code, 0) << outcome.errors;
  std::istringstream lines(outcome.output);
  std::vector<double> values;
  for (double value = 0; lines >> value;) {
    values.push_back(value);
  }
  return values;
}

#if !defined(HEDDLE_TEST_DEVICE_CUDA)

/// Expects exit code 1, nothing on standard output and one line on standard error, and returns that line.
std::string complaint(const std::vector<std::string>& arguments) {
  const Outcome outcome = train_digits(arguments);
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_EQ(outcome.output, "");
  EXPECT_EQ(outcome.errors.rfind("train_digits: ", 0), 0u) << outcome.errors;
  EXPECT_EQ(std::count(outcome.errors.begin(), outcome.errors.end(), '\n'), 1) << outcome.errors;
  EXPECT_TRUE(!outcome.errors.empty() && outcome.errors.back() == '\n') << outcome.errors;
  return outcome.errors;
}

TEST(TrainDigits, Help) {
  const Outcome outcome = train_digits({"--help"});
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_EQ(outcome.output.rfind("Usage: train_digits", 0), 0u) << outcome.output;
  EXPECT_EQ(outcome.errors, "");
}

TEST(TrainDigits, WrongOption) {
  EXPECT_EQ(complaint({"--epoch", "3"}), "train_digits: --epoch: unknown option, --help lists them all\n");
  EXPECT_EQ(complaint({"--epochs", "0"}), "train_digits: --epochs: a whole number from 1 on was expected, not '0'\n");
  EXPECT_EQ(complaint({"--device", "tpu"}), "train_digits: --device: cpu or cuda was expected, not 'tpu'\n");
  EXPECT_EQ(complaint({"--batch"}), "train_digits: --batch: a value is missing\n");
}

/// A copy of the example's data, to be damaged.
class DamagedData : public ::testing::Test {
 protected:
  void SetUp() override {
    for (const auto& entry : std::filesystem::directory_iterator(HEDDLE_EXAMPLES_DATA_DIR)) {
      std::filesystem::copy_file(entry.path(), folder.file(entry.path().filename().string()));
    }
  }
  std::string refused() { return complaint({"--device", "cpu", "--steps", "1", "--data", folder.path()}); }

  TemporaryFolder folder;
  std::string images = folder.file("mnist-train-images-idx3-ubyte.gz");
  std::string labels = folder.file("mnist-test-labels-idx1-ubyte.gz");
};

TEST_F(DamagedData, MissingFolder) {
  EXPECT_NE(complaint({"--data", folder.file("nowhere")}).find("No such file or directory"), std::string::npos);
}

TEST_F(DamagedData, MissingFile) {
  std::filesystem::remove(labels);
  EXPECT_EQ(refused(), "train_digits: " + labels + ": No such file or directory\n");
}

TEST_F(DamagedData, TruncatedFile) {
  std::filesystem::resize_file(images, 100'000);
  EXPECT_EQ(refused(), "train_digits: " + images + ": truncated, the compressed data breaks off\n");
}

TEST_F(DamagedData, CorruptFile) {
  Bytes bytes = read_plain(images);
  for (std::size_t index = 50'000; index < 51'000; ++index) {
    bytes[index] = 0xff;
  }
  write_plain(images, bytes);
  EXPECT_EQ(refused().rfind("train_digits: " + images + ": corrupt, ", 0), 0u);
}

TEST_F(DamagedData, AnotherFileOfTheFormat) {
  std::filesystem::copy_file(labels, images, std::filesystem::copy_options::overwrite_existing);
  EXPECT_EQ(refused().rfind("train_digits: " + images + ": an IDX file of bytes with 3 axes was expected", 0), 0u);
}

TEST_F(DamagedData, TestImagesOfAnotherSize) {
  write_gzip(folder.file("mnist-test-images-idx3-ubyte.gz"), idx_bytes({2, 3, 3}, Bytes(18, 7)));
  write_gzip(labels, idx_bytes({2}, {1, 2}));
  EXPECT_EQ(refused(), "train_digits: the training and the test images differ in size\n");
}

TEST(TrainDigits, TheSameSeedGivesTheSameLosses) {
  const std::vector<double> one = losses({"--device", "cpu", "--steps", "5", "--seed", "1"});
  ASSERT_EQ(one.size(), 5u);
  EXPECT_EQ(one, losses({"--device", "cpu", "--steps", "5", "--seed", "1"}));
  EXPECT_NE(one, losses({"--device", "cpu", "--steps", "5", "--seed", "2"}));
}

TEST(TrainDigits, BeginsWithTheLossOfGuessingAndImproves) {
  const std::vector<double> values = losses({"--device", "cpu", "--steps", "60"});
  ASSERT_EQ(values.size(), 60u);
  EXPECT_NEAR(values[0], std::log(10.0), 0.6);
  EXPECT_LT(values[59], 0.8);
}

TEST(TrainDigits, TheLastBatchMayBeSmaller) {
  EXPECT_EQ(losses({"--device", "cpu", "--epochs", "1", "--batch", "3000"}).size(), 3u);
  EXPECT_EQ(losses({"--device", "cpu", "--epochs", "2", "--batch", "9223372036854775807"}).size(), 2u);
}

TEST(TrainDigits, LearnsToRead) {
  const Outcome outcome = train_digits({"--device", "cpu"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.errors;
  EXPECT_EQ(outcome.errors, "");
  // Not a terminal, so one line an epoch and no control sequences.
  EXPECT_NE(outcome.output.find("epoch 10/10"), std::string::npos) << outcome.output;
  EXPECT_EQ(outcome.output.find_first_of("\r\x1b"), std::string::npos) << outcome.output;
  const std::string label = "\nTest accuracy: ";
  const std::size_t at = outcome.output.find(label);
  ASSERT_NE(at, std::string::npos) << outcome.output;
  EXPECT_GE(std::stod(outcome.output.substr(at + label.size())), 95.0) << outcome.output;
  std::printf("%s", outcome.output.c_str());
}

TEST(TrainDigits, AskingForCudaWorksOrIsRefusedInOneLine) {
  const Outcome outcome = train_digits({"--device", "cuda", "--steps", "1", "--losses"});
  if (outcome.exit_code != 0) {
    EXPECT_EQ(outcome.exit_code, 1);
    EXPECT_EQ(outcome.output, "");
    EXPECT_EQ(outcome.errors.rfind("train_digits: --device cuda: ", 0), 0u) << outcome.errors;
    EXPECT_EQ(std::count(outcome.errors.begin(), outcome.errors.end(), '\n'), 1) << outcome.errors;
  }
}

#else

TEST(TrainDigits, CpuAndCudaAgree) {
  const std::vector<double> cpu = losses({"--device", "cpu", "--steps", "20"});
  const std::vector<double> cuda = losses({"--device", "cuda", "--steps", "20"});
  ASSERT_EQ(cpu.size(), 20u);
  ASSERT_EQ(cuda.size(), 20u);
  for (std::size_t step = 0; step < 20; ++step) {
    EXPECT_NEAR(cuda[step], cpu[step], 1e-3 * cpu[step]) << "step " << step + 1;
  }
}

#endif

}  // namespace
