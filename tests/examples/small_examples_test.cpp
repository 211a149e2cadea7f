#include <gtest/gtest.h>

#include "run_program.hpp"

namespace {

TEST(VectorAdd, PrintsTheSum) {
  const Outcome outcome = run_program(VECTOR_ADD_PROGRAM, {});
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_EQ(outcome.output, "[1 2 3 4 5] + [10 20 30 40 50] = [11 22 33 44 55]\n");
  EXPECT_EQ(outcome.errors, "");
}

TEST(DeviceInfo, ListsTheDevicesOrSaysThatThereIsNone) {
  const Outcome outcome = run_program(DEVICE_INFO_PROGRAM, {});
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_TRUE(outcome.output.rfind("0: ", 0) == 0 || outcome.output.rfind("No usable CUDA device", 0) == 0)
      << outcome.output;
  EXPECT_EQ(outcome.errors, "");
}

}  // namespace
