#include "options.hpp"

#include <gtest/gtest.h>

#include <initializer_list>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

Options parse(std::initializer_list<const char*> arguments) {
  std::vector<const char*> argv{"train_digits"};
  argv.insert(argv.end(), arguments);
  return parse_options(static_cast<int>(argv.size()), argv.data(), "the/default");
}

std::string refusal(std::initializer_list<const char*> arguments) {
  try {
    parse(arguments);
  } catch (const std::runtime_error& error) {
    return error.what();
  }
  return "accepted";
}

TEST(Options, Defaults) {
  const Options options = parse({});
  EXPECT_EQ(options.device, Options::Device::best);
  EXPECT_EQ(options.epochs, 10);
  EXPECT_EQ(options.batch, 50);
  EXPECT_EQ(options.steps, 0);
  EXPECT_EQ(options.seed, 1u);
  EXPECT_STREQ(options.data, "the/default");
  EXPECT_FALSE(options.losses);
  EXPECT_FALSE(options.help);
}

TEST(Options, AllOfThem) {
  const Options options = parse({"--device", "cuda", "--epochs=3", "--batch", "64", "--rate", "0.25", "--seed",
                                 "18446744073709551615", "--data", "some=where", "--steps=20", "--losses"});
  EXPECT_EQ(options.device, Options::Device::cuda);
  EXPECT_EQ(options.epochs, 3);
  EXPECT_EQ(options.batch, 64);
  EXPECT_EQ(options.rate, 0.25f);
  EXPECT_EQ(options.seed, UINT64_MAX);
  EXPECT_STREQ(options.data, "some=where");
  EXPECT_EQ(options.steps, 20);
  EXPECT_TRUE(options.losses);
  EXPECT_EQ(parse({"--device=cpu"}).device, Options::Device::cpu);
  EXPECT_STREQ(parse({"--data=a=b"}).data, "a=b");
  EXPECT_TRUE(parse({"--help"}).help);
}

TEST(Options, TheLastOneCounts) { EXPECT_EQ(parse({"--epochs", "3", "--epochs", "5"}).epochs, 5); }

TEST(Options, UnknownOption) {
  EXPECT_EQ(refusal({"--epoch", "3"}), "--epoch: unknown option, --help lists them all");
  EXPECT_EQ(refusal({"--epoch=3"}), "--epoch: unknown option, --help lists them all");
  EXPECT_EQ(refusal({"cuda"}), "cuda: unknown option, --help lists them all");
  EXPECT_EQ(refusal({"-h"}), "-h: unknown option, --help lists them all");
  EXPECT_EQ(refusal({"--"}), "--: unknown option, --help lists them all");
}

TEST(Options, MissingValue) {
  for (const char* option : {"--device", "--epochs", "--batch", "--rate", "--seed", "--data", "--steps"}) {
    EXPECT_EQ(refusal({option}), std::string(option) + ": a value is missing");
  }
}

TEST(Options, ValueForAFlag) { EXPECT_EQ(refusal({"--help=yes"}), "--help: this option takes no value"); }

TEST(Options, WrongValues) {
  EXPECT_EQ(refusal({"--device", "tpu"}), "--device: cpu or cuda was expected, not 'tpu'");
  for (const char* value : {"0", "-1", "", "3x", "3.5", " 3", "99999999999999999999", "ten"}) {
    EXPECT_EQ(refusal({"--epochs", value}),
              std::string("--epochs: a whole number from 1 on was expected, not '") + value + "'");
  }
  EXPECT_EQ(refusal({"--seed", "-1"}), "--seed: a whole number from 0 on was expected, not '-1'");
  for (const char* value : {"0", "-0.1", "", "fast", "0.1x", "nan", "inf", "1e99"}) {
    EXPECT_EQ(refusal({"--rate", value}), std::string("--rate: a positive number was expected, not '") + value + "'");
  }
}

TEST(Options, HelpNamesThemAll) {
  const std::string text = help_text;
  for (const char* option :
       {"--device", "--epochs", "--batch", "--rate", "--seed", "--data", "--steps", "--losses", "--help"}) {
    EXPECT_NE(text.find(std::string("\n  ") + option), std::string::npos) << option;
  }
}

}  // namespace
