// How shapes are brought to few ranks, what attributes mean, and the driver's lists, table and command line.
#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <string>
#include <vector>

#include "conformance/axes.hpp"
#include "conformance/broadcast.hpp"
#include "conformance/call_parts.hpp"
#include "conformance/lists.hpp"
#include "conformance/npy.hpp"
#include "conformance/options.hpp"
#include "conformance/shapes.hpp"
#include "conformance/table.hpp"

namespace conformance {

std::vector<std::byte> reversed_axes(const Array& array, const Extents& shape);
std::vector<std::byte> spread_last_axis(const Array& array, const Extents& shape);

namespace {

Array bytes(const Extents& shape, const std::vector<unsigned char>& values) {
  Array made{ElementType::uint8, shape, std::vector<std::byte>(values.size())};
  std::memcpy(made.bytes.data(), values.data(), values.size());
  return made;
}

// ---- broadcasting ----

TEST(Align, EqualShapesBecomeOneAxis) {
  const Aligned aligned = align({{3, 4, 5}, {3, 4, 5}});
  EXPECT_EQ(aligned.collapsed, Extents{60});
  EXPECT_EQ(aligned.shape, (Extents{3, 4, 5}));
}

TEST(Align, MergesWhatEachOperandHasOrRepeats) {
  const Aligned tail = align({{3, 4, 5, 6}, {5, 6}});
  EXPECT_EQ(tail.shapes[0], (Extents{12, 30}));
  EXPECT_EQ(tail.shapes[1], (Extents{1, 30}));
  const Aligned mixed = align({{1, 4, 1, 6}, {3, 1, 5, 6}});
  EXPECT_EQ(mixed.shapes[0], (Extents{1, 4, 1, 6}));
  EXPECT_EQ(mixed.shapes[1], (Extents{3, 1, 5, 6}));
  EXPECT_EQ(mixed.shape, (Extents{3, 4, 5, 6}));
  const Aligned three = align({{2, 3}, {2, 1}, {2, 3}});
  EXPECT_EQ(three.shapes[1], (Extents{2, 1}));
}

TEST(Align, RanksZeroAndExtentsZero) {
  EXPECT_EQ(align({{}, {}}).shape, Extents{});
  EXPECT_EQ(align({{}, {}}).collapsed, Extents{1});
  EXPECT_EQ(align({{2, 3}, {}}).shapes[1], Extents{1});
  EXPECT_EQ(align({{0, 1}, {1, 2}}).shape, (Extents{0, 2}));
}

TEST(Align, LeavesWhatDoesNotFitToTheLibrary) {
  const Aligned aligned = align({{2, 3}, {4, 3}});
  EXPECT_EQ(aligned.shapes[0], (Extents{2, 3}));
  EXPECT_EQ(aligned.shapes[1], (Extents{4, 3}));
}

TEST(Align, PadsInFront) {
  const Aligned aligned = padded(align({{3, 4}, {4}}), 4);
  EXPECT_EQ(aligned.shapes[0], (Extents{1, 1, 3, 4}));
  EXPECT_EQ(aligned.collapsed, (Extents{1, 1, 3, 4}));
  EXPECT_EQ(aligned.shape, (Extents{3, 4}));
}

TEST(MapAligned, KeepsAxesWhereTheRankIsEnough) {
  const Aligned four = map_aligned({{2, 3}, {3}, {}}, 4);
  EXPECT_EQ(four.shapes[0], (Extents{1, 1, 2, 3}));
  EXPECT_EQ(four.shapes[1], (Extents{1, 1, 1, 3}));
  EXPECT_EQ(four.shapes[2], (Extents{1, 1, 1, 1}));
  EXPECT_EQ(four.collapsed, (Extents{1, 1, 2, 3}));
  EXPECT_EQ(four.shape, (Extents{2, 3}));
  const Aligned merged = map_aligned({{2, 3, 4, 5, 6}}, 4);
  EXPECT_EQ(merged.shapes[0], (Extents{1, 1, 1, 720}));
  EXPECT_EQ(merged.shape, (Extents{2, 3, 4, 5, 6}));
  EXPECT_THROW(map_aligned({{2, 2, 2, 2, 2}, {1, 2, 1, 2, 1}}, 4), NotServed);
}

TEST(Reshaped, ChecksTheShapeThatCame) {
  EXPECT_EQ(reshaped(bytes({4}, {1, 2, 3, 4}), {4}, {2, 2}).shape, (Extents{2, 2}));
  EXPECT_ANY_THROW(reshaped(bytes({4}, {1, 2, 3, 4}), {2, 2}, {4}));
}

TEST(Layouts, MoveTheBytes) {
  const Array packed = bytes({2, 3}, {1, 2, 3, 4, 5, 6});
  EXPECT_EQ(reversed_axes(packed, packed.shape), bytes({6}, {1, 4, 2, 5, 3, 6}).bytes);
  const std::vector<std::byte> spread = spread_last_axis(packed, packed.shape);
  ASSERT_EQ(spread.size(), 14U);
  EXPECT_EQ(spread[1], std::byte{1});
  EXPECT_EQ(spread[5], std::byte{3});
  EXPECT_EQ(spread[8], std::byte{4});
}

// ---- reductions ----

TEST(PlanReduction, MergesNeighbours) {
  const ReductionPlan middle = plan_reduction({2, 3, 4, 5}, {1, 2}, true);
  EXPECT_EQ(middle.merged, (Extents{2, 12, 5}));
  EXPECT_FALSE(middle.starts_reduced);
  EXPECT_EQ(middle.merged_result, (Extents{2, 5}));
  EXPECT_EQ(middle.shape, (Extents{2, 1, 1, 5}));
  const ReductionPlan ends = plan_reduction({2, 3, 4}, {0, 2}, false);
  EXPECT_TRUE(ends.starts_reduced);
  EXPECT_EQ(ends.merged, (Extents{2, 3, 4}));
  EXPECT_EQ(ends.shape, Extents{3});
  const ReductionPlan all = plan_reduction({2, 0, 4}, {0, 1, 2}, true);
  EXPECT_EQ(all.merged, Extents{0});
  EXPECT_EQ(all.merged_result, Extents{});
  EXPECT_EQ(all.shape, (Extents{1, 1, 1}));
  EXPECT_FALSE(plan_reduction({2, 3}, {}, true).reduces);
  EXPECT_EQ(middle.all_three(), (Extents{2, 12, 5}));
  EXPECT_EQ(ends.all_three(), Extents{});
  EXPECT_EQ(all.all_three(), (Extents{1, 0, 1}));
  EXPECT_EQ(plan_reduction({2, 3}, {1}, true).all_three(), (Extents{2, 3, 1}));
  EXPECT_EQ(plan_reduction({2, 3}, {0}, true).all_three(), (Extents{1, 2, 3}));
  EXPECT_EQ(plan_reduction({}, {}, true).all_three(), (Extents{1, 1, 1}));
}

TEST(ReducedLast, MovesTheKeptAxesToTheFront) {
  const Array array = bytes({2, 3, 2}, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11});
  const Array middle = reduced_last(array, {1});
  EXPECT_EQ(middle.shape, (Extents{4, 3}));
  EXPECT_EQ(middle.bytes, bytes({12}, {0, 2, 4, 1, 3, 5, 6, 8, 10, 7, 9, 11}).bytes);
  const Array ends = reduced_last(array, {0, 2});
  EXPECT_EQ(ends.shape, (Extents{3, 4}));
  EXPECT_EQ(ends.bytes, bytes({12}, {0, 1, 6, 7, 2, 3, 8, 9, 4, 5, 10, 11}).bytes);
  EXPECT_EQ(reduced_last(array, {2}).bytes, array.bytes);
}

TEST(PlanAxis, KeepsBeforeAndAfter) {
  EXPECT_EQ(plan_axis({2, 3, 4, 5}, 2).merged, (Extents{6, 4, 5}));
  EXPECT_EQ(plan_axis({2, 3, 4}, 2).merged, (Extents{6, 4}));
  EXPECT_EQ(plan_axis({2, 3, 4}, 2).axis, 1);
  EXPECT_EQ(plan_axis({2, 3, 4}, 0).merged, (Extents{2, 12}));
  EXPECT_EQ(plan_axis({2, 3, 4}, 0).axis, 0);
  EXPECT_EQ(plan_axis({7}, 0).merged, Extents{7});
  EXPECT_EQ(plan_axis({7}, 0).all_three(), (Extents{1, 7, 1}));
  EXPECT_EQ(plan_axis({7, 2}, 0).all_three(), (Extents{1, 7, 2}));
  EXPECT_EQ(plan_axis({2, 7}, 1).all_three(), (Extents{2, 7, 1}));
  EXPECT_EQ(plan_axis({2, 7, 3}, 1).all_three(), (Extents{2, 7, 3}));
  EXPECT_EQ(plan_axis({}, 0).all_three(), (Extents{1, 1, 1}));
}

// ---- shape operators ----

class ShapeCall : public testing::Test {
 protected:
  explicit ShapeCall(Extents shape = {2, 3, 4}) : x_(bytes(shape, std::vector<unsigned char>(24))) {
    parts_.attributes = &attributes_;
    parts_.inputs = {&x_};
  }
  void attribute(const char* name, const char* text) { attributes_[name] = Attribute{text, std::nullopt}; }
  Call call() const { return Call(parts_); }
  Array x_;
  Attributes attributes_;
  CallParts parts_;
};

TEST_F(ShapeCall, Reshape) {
  attribute("shape", "0,-1,2,1");
  EXPECT_EQ(reshape_target(call()), (Extents{2, -1, 2, 1}));
  attribute("shape", "1,1,1,0");
  EXPECT_THROW(reshape_target(call()), BadCase);
  attribute("allowzero", "1");
  EXPECT_EQ(reshape_target(call()), (Extents{1, 1, 1, 0}));
}

TEST_F(ShapeCall, Flatten) {
  EXPECT_EQ(flatten_target(call()), (Extents{2, 12}));
  attribute("axis", "0");
  EXPECT_EQ(flatten_target(call()), (Extents{1, 24}));
  attribute("axis", "-1");
  EXPECT_EQ(flatten_target(call()), (Extents{6, 4}));
  attribute("axis", "3");
  EXPECT_EQ(flatten_target(call()), (Extents{24, 1}));
}

TEST_F(ShapeCall, SqueezeAndUnsqueeze) {
  attribute("axes", "0,-1");
  EXPECT_EQ(squeezed_axes(call()), (std::vector<int>{2, 0}));
  EXPECT_EQ(unsqueezed_axes(call()), (std::vector<int>{0, 4}));
  attributes_.clear();
  x_.shape = {1, 24, 1};
  EXPECT_EQ(squeezed_axes(call()), (std::vector<int>{2, 0}));
}

TEST_F(ShapeCall, SliceAndTranspose) {
  attribute("starts", "1,-2");
  attribute("ends", "2,100");
  const std::vector<AxisSlice> slices = slices_of(call());
  ASSERT_EQ(slices.size(), 2U);
  EXPECT_EQ(slices[1].axis, 1);
  EXPECT_EQ(slices[1].start, -2);
  EXPECT_EQ(slices[1].step, 1);
  attribute("axes", "-1");
  EXPECT_THROW(slices_of(call()), BadCase);
  EXPECT_EQ(permutation_of(call()), (std::vector<int>{2, 1, 0}));
  attribute("perm", "1,1,0");
  EXPECT_THROW(permutation_of(call()), BadCase);
}

TEST_F(ShapeCall, SplitAndPad) {
  parts_.output_count = 3;
  EXPECT_EQ(split_sizes(call(), 8), (std::vector<std::int64_t>{3, 3, 2}));
  EXPECT_EQ(split_sizes(call(), 0), (std::vector<std::int64_t>{0, 0, 0}));
  attribute("split", "1,7");
  EXPECT_EQ(split_sizes(call(), 8), (std::vector<std::int64_t>{1, 7}));
  attribute("pads", "1,2,3,4,5,6");
  EXPECT_EQ(pad_widths(call())[1].begin, 2);
  EXPECT_EQ(pad_widths(call())[1].end, 5);
  attribute("axes", "-1");
  EXPECT_THROW(pad_widths(call()), BadCase);
  attribute("pads", "7,8");
  EXPECT_EQ(pad_widths(call())[0].end, 0);
  EXPECT_EQ(pad_widths(call())[2].end, 8);
}

TEST(ExpandedShape, BothWays) {
  EXPECT_EQ(expanded_shape({3, 1}, {2, 1, 6}), (Extents{2, 3, 6}));
  EXPECT_EQ(expanded_shape({1, 3, 1}, {3, 1}), (Extents{1, 3, 1}));
}

TEST(PartOf, ClampsAsPython) {
  EXPECT_EQ(part_of({3, 4, 5}, 1, -1), (std::vector<std::int64_t>{4}));
  EXPECT_EQ(part_of({3, 4, 5}, -10, 10), (std::vector<std::int64_t>{3, 4, 5}));
  EXPECT_TRUE(part_of({3, 4, 5}, 2, 1).empty());
}

TEST(SecondShape, OldOpsetsAlignAtAnAxis) {
  const Array x = bytes({2, 3, 4}, std::vector<unsigned char>(24));
  const Array y = bytes({3}, {1, 2, 3});
  const Attributes attributes{{"axis", {"1", std::nullopt}}};
  CallParts parts;
  parts.attributes = &attributes;
  parts.inputs = {&x, &y};
  parts.opset = 6;
  EXPECT_EQ(second_shape(Call(parts)), (Extents{3, 1}));
  parts.opset = 7;
  EXPECT_EQ(second_shape(Call(parts)), Extents{3});
}

// ---- lists, table, options ----

std::filesystem::path file(const char* name, const char* text) {
  const std::filesystem::path path = std::filesystem::path(testing::TempDir()) / name;
  std::ofstream(path) << text;
  return path;
}

TEST(Lists, Served) {
  const Served served = read_served(file("heddle_served.txt", "# what passes\nAdd 7\n\nSub 4  # all\n"));
  EXPECT_EQ(served, (Served{{"Add", 7}, {"Sub", 4}}));
  EXPECT_THROW(read_served(file("heddle_served.txt", "Add\n")), BadCase);
  EXPECT_THROW(read_served(file("heddle_served.txt", "Add 0\n")), BadCase);
  EXPECT_THROW(read_served(file("heddle_served.txt", "Add 1\nAdd 2\n")), BadCase);
  EXPECT_THROW(read_served("no such file"), BadCase);
}

TEST(Lists, Exceptions) {
  const std::vector<Exception> list =
      read_exceptions(file("heddle_differs.txt", "Max/*empty* | error | ours; theirs\nDiv/one | value | why\n"));
  ASSERT_EQ(list.size(), 2U);
  EXPECT_EQ(list[0].reason, "ours; theirs");
  EXPECT_EQ(find_exception(list, "Max/an_empty_set"), &list[0]);
  EXPECT_EQ(find_exception(list, "Max/empty"), &list[0]);
  EXPECT_EQ(find_exception(list, "Div/one"), &list[1]);
  EXPECT_EQ(find_exception(list, "Div/one_more"), nullptr);
  EXPECT_EQ(find_exception(list, "ArgMax/empty"), nullptr);
  EXPECT_THROW(read_exceptions(file("heddle_differs.txt", "Max/a | error\n")), BadCase);
  EXPECT_THROW(read_exceptions(file("heddle_differs.txt", "Max/a | fails | why\n")), BadCase);
}

TEST(TableText, CountsAndCompares) {
  Table table;
  table["Add"].count(Status::passed);
  table["Add"].count(Status::passed);
  table["Mul"].count(Status::not_served);
  table["Max"].count(Status::differs_on_purpose);
  table["Max"].count(Status::passed);
  EXPECT_EQ(shortfall(table, {{"Add", 2}}), "");
  EXPECT_EQ(shortfall(table, {{"Add", 3}, {"Mul", 1}, {"Sub", 1}}),
            "Add passes 2 cases, but passed 3 before\nMul passes 0 cases, but passed 1 before\n"
            "Sub passes 0 cases, but passed 1 before\n");
  EXPECT_EQ(growth(table, {{"Add", 1}}), "Add 2\nMax 1\n");
  EXPECT_EQ(to_string(table),
            "operator      passed  failed  not yet served  differs on purpose\n"
            "Add                2       0               0                   0\n"
            "Max                1       0               0                   1\n"
            "Mul                0       0               1                   0\n"
            "total              3       0               1                   1\n");
}

TEST(CommandLine, IsRead) {
  const Options options =
      parse_options({"--device", "cuda", "--only", "Add", "--only", "Mul", "cases", "--layout", "strided"});
  EXPECT_EQ(options.settings.device, Device::cuda);
  EXPECT_EQ(options.settings.layout, Layout::strided);
  EXPECT_EQ(options.only, (std::vector<std::string>{"Add", "Mul"}));
  EXPECT_EQ(options.cases, "cases");
}

TEST(CommandLine, RefusesWhatItDoesNotKnow) {
  EXPECT_THROW(parse_options({"--device", "tpu"}), BadOption);
  EXPECT_THROW(parse_options({"--device"}), BadOption);
  EXPECT_THROW(parse_options({"--fast"}), BadOption);
  EXPECT_THROW(parse_options({"a", "b"}), BadOption);
}

}  // namespace
}  // namespace conformance
