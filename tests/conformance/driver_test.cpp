// The driver's own parts, with operators of its own: a wrong result must never count as passed.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <fstream>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "conformance/call_parts.hpp"
#include "conformance/case.hpp"
#include "conformance/npy.hpp"
#include "conformance/run.hpp"

namespace conformance {
namespace {

template <class T>
Array array(ElementType type, Extents shape, const std::vector<T>& values) {
  Array made{type, std::move(shape), std::vector<std::byte>(values.size() * sizeof(T))};
  std::memcpy(made.bytes.data(), values.data(), made.bytes.size());
  return made;
}
Array floats(Extents shape, const std::vector<float>& values) {
  return array(ElementType::float32, std::move(shape), values);
}
Array int64s(const std::vector<std::int64_t>& values) {
  return array(ElementType::int64, {static_cast<std::int64_t>(values.size())}, values);
}

// ---- NPY ----

std::string npy_file(std::string_view header, std::string_view data) {
  std::string text("\x93NUMPY\x01\x00", 8);
  text += static_cast<char>(header.size() & 255);
  text += static_cast<char>(header.size() >> 8);
  return text.append(header).append(data);
}
Array parsed(const std::string& file) { return parse_npy(std::as_bytes(std::span(file))); }

TEST(Npy, ReadsShapeTypeAndElements) {
  const std::string data("\x01\x00\x02\x00\x03\x00\x04\x00\x05\x00\xff\xff", 12);
  const Array read = parsed(npy_file("{'descr': '<i2', 'fortran_order': False, 'shape': (2, 3), }   \n", data));
  EXPECT_EQ(read.type, ElementType::int16);
  EXPECT_EQ(read.shape, (Extents{2, 3}));
  EXPECT_EQ(element(read, 4), 5);
  EXPECT_EQ(element(read, 5), -1);
}

TEST(Npy, ReadsRankZeroAndExtentZero) {
  const Array scalar = parsed(npy_file("{'descr': '|u1', 'fortran_order': False, 'shape': (), }\n", "\x07"));
  EXPECT_EQ(scalar.rank(), 0);
  EXPECT_EQ(element(scalar, 0), 7);
  const Array empty = parsed(npy_file("{'descr': '<f8', 'fortran_order': False, 'shape': (0,), }\n", ""));
  EXPECT_EQ(empty.shape, Extents{0});
  EXPECT_EQ(empty.size(), 0);
}

TEST(Npy, RefusesWhatIsDamaged) {
  const std::string header = "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }\n";
  const std::string good = npy_file(header, "12345678");
  EXPECT_NO_THROW(parsed(good));
  for (std::size_t length = 0; length < good.size(); ++length) EXPECT_THROW(parsed(good.substr(0, length)), BadCase);
  EXPECT_THROW(parsed(good + "x"), BadCase);
  EXPECT_THROW(parsed(npy_file("{'descr': '>f4', 'fortran_order': False, 'shape': (2,), }\n", "12345678")), BadCase);
  EXPECT_THROW(parsed(npy_file("{'descr': '<f4', 'fortran_order': True, 'shape': (2,), }\n", "12345678")), BadCase);
  EXPECT_THROW(parsed(npy_file("{'descr': '<f4', 'fortran_order': False, 'shape': (-2,), }\n", "12345678")), BadCase);
  EXPECT_THROW(parsed(npy_file("{'descr': '<f4', 'shape': (2,), }\n", "12345678")), BadCase);
  EXPECT_THROW(parsed(npy_file("{'descr': '<f4', 'fortran_order': False, 'shape': (9223372036854775807, 8), }\n", "")),
               BadCase);
  EXPECT_THROW(parsed(npy_file("{'descr': '|b1', 'fortran_order': False, 'shape': (1,), }\n", "\x02")), BadCase);
}

// ---- comparing ----

TEST(Compare, SaysHowManyDifferAndWhereTheMost) {
  const Array want = floats({2, 2}, {1, 2, 3, 4});
  EXPECT_EQ(difference(want, want, {}), "");
  const std::string text = difference(floats({2, 2}, {1, 2.5F, 3, 6}), want, {0, 0.25});
  EXPECT_EQ(text, "2 of 4 differ; the greatest difference 2 at [1, 1]: got 6, wanted 4, allowed 0.25");
}

TEST(Compare, AllowsByTheValueWanted) {
  const Array want = floats({1}, {100});
  EXPECT_EQ(difference(floats({1}, {101}), want, {0.01, 0}), "");
  EXPECT_NE(difference(floats({1}, {101.5F}), want, {0.01, 0}), "");
  EXPECT_NE(difference(floats({1}, {std::nextafter(100.F, 101.F)}), want, {}), "");
}

TEST(Compare, NaNMatchesNaNAndAnInfinityItself) {
  constexpr float nan = std::numeric_limits<float>::quiet_NaN();
  constexpr float inf = std::numeric_limits<float>::infinity();
  const Array want = floats({3}, {nan, inf, -inf});
  EXPECT_EQ(difference(want, want, {1, 1}), "");
  EXPECT_NE(difference(floats({3}, {1, inf, -inf}), want, {1, 1}), "");
  EXPECT_NE(difference(floats({3}, {nan, -inf, -inf}), want, {1, 1}), "");
  EXPECT_NE(difference(floats({3}, {nan, 3e38F, -inf}), want, {1, 1}), "");
  EXPECT_NE(difference(want, floats({3}, {1, inf, -inf}), {1, 1}), "");
}

TEST(Compare, IntegersMustBeEqualHoweverLarge) {
  const Array want = int64s({(1LL << 62) + 1});
  EXPECT_EQ(difference(want, want, {1, 1}), "");
  EXPECT_NE(difference(int64s({1LL << 62}), want, {1, 1}), "");
}

TEST(Compare, ShapeAndTypeMustAgree) {
  EXPECT_EQ(difference(floats({4}, {1, 2, 3, 4}), floats({2, 2}, {1, 2, 3, 4}), {}), "shape (4,), wanted (2, 2)");
  EXPECT_EQ(difference(int64s({1}), floats({1}, {1}), {}), "element type int64, wanted float32");
}

TEST(Compare, ReadsHalves) {
  const auto value = [](std::uint16_t bits) {
    return element(array<std::uint16_t>(ElementType::float16, {}, {bits}), 0);
  };
  EXPECT_EQ(value(0x3c00), 1);
  EXPECT_EQ(value(0xc000), -2);
  EXPECT_EQ(value(0x7bff), 65504);
  EXPECT_EQ(value(0x0001), std::ldexp(1.0, -24));
  EXPECT_EQ(value(0xfc00), -std::numeric_limits<double>::infinity());
  EXPECT_TRUE(std::isnan(value(0x7e00)));
}

// ---- cases ----

class CaseFile : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::path(testing::TempDir()) / "heddle_conformance_case" / "Op" /
              testing::UnitTest::GetInstance()->current_test_info()->name();
    std::filesystem::create_directories(folder_);
    std::ofstream(folder_ / "a.npy", std::ios::binary)
        << npy_file("{'descr': '|u1', 'fortran_order': False, 'shape': (1,), }\n", "\x07");
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  Case read(const std::string& text) {
    std::ofstream(folder_ / "case.txt") << text;
    return read_case(folder_);
  }
  std::filesystem::path folder_;
};

TEST_F(CaseFile, ReadsEachKindOfLine) {
  const Case made = read(
      "name: n\nop: Op\nopset: 7\nattr.pads: 1,-2\nattr.empty:\nattr.value: @a.npy\ninputs: a.npy - a.npy\n"
      "outputs: - a.npy\nrtol: 1e-05\natol: 0\nsource: s\n");
  EXPECT_EQ(made.opset, 7);
  ASSERT_EQ(made.inputs.size(), 3U);
  EXPECT_FALSE(made.inputs[1]);
  ASSERT_EQ(made.outputs.size(), 2U);
  EXPECT_FALSE(made.outputs[0]);
  EXPECT_EQ(made.tolerance.relative, 1e-5);
  EXPECT_EQ(id_of(folder_), "Op/ReadsEachKindOfLine");

  CallParts parts;
  parts.attributes = &made.attributes;
  const Call call(parts);
  EXPECT_EQ(call.integers("pads"), (std::vector<std::int64_t>{1, -2}));
  EXPECT_TRUE(call.integers("empty").empty());
  EXPECT_EQ(call.tensor("value").size(), 1);
  EXPECT_EQ(call.integer("absent", 5), 5);
  EXPECT_THROW(call.integer("pads", 0), BadCase);
  EXPECT_THROW(call.integers("absent"), BadCase);
  EXPECT_THROW(call.input(0), BadCase);
}

TEST_F(CaseFile, RefusesWhatItDoesNotKnow) {
  const std::string good = "op: Op\ninputs: a.npy\noutputs: a.npy\n";
  EXPECT_NO_THROW(read(good));
  EXPECT_THROW(read("inputs: a.npy\noutputs: a.npy\n"), BadCase);
  EXPECT_THROW(read("op: Op\ninputs: a.npy\n"), BadCase);
  EXPECT_THROW(read(good + "tolerance: 1\n"), BadCase);
  EXPECT_THROW(read(good + "rtol: small\n"), BadCase);
  EXPECT_THROW(read("op: Op\ninputs: b.npy\noutputs: a.npy\n"), BadCase);
  EXPECT_THROW(read("op: graph\ninputs: a.npy\noutputs: a.npy\n"), BadCase);
}

// ---- running, with operators that need no library ----

struct Twice {
  template <class Device>
  Outputs operator()(const Call& call, Device) const {
    std::vector<float> values;
    const double factor = call.number("factor", 2);
    for (std::int64_t i = 0; i < call.input(0).size(); ++i)
      values.push_back(static_cast<float>(factor * element(call.input(0), i)));
    return {floats(call.input(0).shape, values)};
  }
};
struct Refusing {
  template <class Device>
  Outputs operator()(const Call&, Device) const {
    throw NotServed{"not for this"};
  }
};
struct Throwing {
  template <class Device>
  Outputs operator()(const Call&, Device) const {
    throw std::runtime_error("of nothing");
  }
};

class Run : public testing::Test {
 protected:
  void SetUp() override {
    serve(registry_, "Twice", Twice{});
    serve(registry_, "Refusing", Refusing{});
    serve(registry_, "Throwing", Throwing{});
  }
  static Case single(const std::string& op, Array want) {
    Case made;
    made.op = op;
    made.inputs.emplace_back(floats({2}, {1, 2}));
    made.outputs.emplace_back(std::move(want));
    return made;
  }
  Result run(const Case& given, const Exception* exception = nullptr) {
    return run_case(registry_, {}, given, exception);
  }
  Registry registry_;
};

TEST_F(Run, ARightResultPassesAndAWrongOneFails) {
  EXPECT_EQ(run(single("Twice", floats({2}, {2, 4}))).status, Status::passed);
  const Result wrong = run(single("Twice", floats({2}, {2, 5})));
  EXPECT_EQ(wrong.status, Status::failed);
  EXPECT_NE(wrong.message.find("1 of 2 differ"), std::string::npos);
  EXPECT_EQ(run(single("Twice", floats({1, 2}, {2, 4}))).status, Status::failed);
  EXPECT_EQ(run(single("Throwing", floats({2}, {2, 4}))).status, Status::failed);
}

TEST_F(Run, WhatIsRefusedIsNotServed) {
  EXPECT_EQ(run(single("Refusing", floats({2}, {2, 4}))).status, Status::not_served);
  EXPECT_EQ(run(single("Unknown", floats({2}, {2, 4}))).status, Status::not_served);
  Case two_outputs = single("Twice", floats({2}, {2, 4}));
  two_outputs.outputs.push_back(two_outputs.outputs[0]);
  EXPECT_EQ(run(two_outputs).status, Status::not_served);
  EXPECT_EQ(run_case(registry_, {Device::cuda, Layout::packed}, single("Twice", floats({2}, {2, 4})), nullptr).status,
            Status::not_served);
}

TEST_F(Run, AnExceptionMustHoldAsItIsListed) {
  Exception error{"*", Exception::Ours::error, ""};
  EXPECT_EQ(run(single("Throwing", floats({2}, {2, 4})), &error).status, Status::differs_on_purpose);
  EXPECT_EQ(run(single("Twice", floats({2}, {2, 4})), &error).status, Status::failed);
  EXPECT_EQ(run(single("Twice", floats({2}, {2, 5})), &error).status, Status::failed);
  Exception value{"*", Exception::Ours::value, ""};
  EXPECT_EQ(run(single("Twice", floats({2}, {2, 5})), &value).status, Status::differs_on_purpose);
  EXPECT_EQ(run(single("Throwing", floats({2}, {2, 4})), &value).status, Status::failed);
  Exception no_call{"*", Exception::Ours::no_such_call, ""};
  EXPECT_EQ(run(single("Refusing", floats({2}, {2, 4})), &no_call).status, Status::differs_on_purpose);
  EXPECT_EQ(run(single("Refusing", floats({2}, {2, 4})), &error).status, Status::not_served);
}

TEST_F(Run, AGraphPassesValuesOn) {
  Case graph = single("graph", floats({2}, {20, 40}));
  graph.input_names = {"x"};
  graph.output_names = {"y"};
  graph.nodes = {{"Twice", {"x"}, {"t"}, {}}, {"Twice", {"t"}, {"y"}, {{"factor", {"10", std::nullopt}}}}};
  EXPECT_EQ(run(graph).status, Status::passed);
  graph.outputs[0] = floats({2}, {20, 41});
  EXPECT_EQ(run(graph).status, Status::failed);
  graph.nodes[1].op = "Unknown";
  EXPECT_EQ(run(graph).status, Status::not_served);
  graph.nodes[1] = {"Twice", {"nowhere"}, {"y"}, {}};
  EXPECT_EQ(run(graph).status, Status::failed);
}

}  // namespace
}  // namespace conformance
