// Cases of PyTorch's tests: how their text is read, and what the kinds of case ask of a call.
#include <gtest/gtest.h>

#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "conformance/axes.hpp"
#include "conformance/call_parts.hpp"
#include "conformance/dispatch.hpp"
#include "conformance/npy.hpp"
#include "conformance/opinfo.hpp"
#include "conformance/registry.hpp"
#include "conformance/run.hpp"
#include "conformance/shapes.hpp"

namespace conformance {
namespace {

std::vector<double> elements(const Array& array) {
  std::vector<double> values;
  for (std::int64_t i = 0; i < array.size(); ++i) values.push_back(element(array, i));
  return values;
}
Case parsed(const std::string& lines) { return parse_opinfo("case: op/00\n" + lines); }

TEST(Opinfo, ReadsArgumentsByTheirPlaces) {
  const Case made = parsed(
      "op: clamp\nkind: gradient\narg.0: tensor:float32[2] 1 -inf\narg.1: none:\nkwarg.max: tensor:float64[] 0.5\n"
      "strides.0: 3\noutput.0: float32[2] 0.5 nan\ncotangent.0: float32[2] 1 2\ngradient.1: float64[] 3\n"
      "rtol: 0.1\natol: 0\ngrad_rtol: 0.25\ngrad_atol: 0.5\nsource: s\n");
  EXPECT_TRUE(made.is_pytorch);
  EXPECT_EQ(made.kind, Kind::gradient);
  ASSERT_EQ(made.inputs.size(), 3U);
  EXPECT_EQ(made.inputs[0]->strides, Extents{3});
  EXPECT_FALSE(made.inputs[1]);
  EXPECT_EQ(made.inputs[2]->type, ElementType::float64);
  EXPECT_EQ(made.inputs[2]->shape, Extents{});
  EXPECT_EQ(made.attributes.count("min"), 0U);
  // The tensor with number 1 is the third parameter.
  ASSERT_EQ(made.gradients.size(), 3U);
  EXPECT_FALSE(made.gradients[0]);
  EXPECT_EQ(elements(*made.gradients[2]), std::vector<double>{3});
  EXPECT_EQ(made.tolerance.relative, 0.1);
  EXPECT_EQ(made.gradient_tolerance.absolute, 0.5);
}

TEST(Opinfo, ReadsEachTypeOfArgument) {
  const Case made = parsed(
      "op: var\nkind: special\narg.0: tensor:bool[1,2] 1 0\narg.1: bool:true\nkwarg.correction: int:2\n"
      "kwarg.p: float:inf\nkwarg.dim: ints:0,-1\nkwarg.mode: text:mean\nkwarg.dtype: dtype:float16\n"
      "output.0: float16[] 0.5\nupdate.0: int64[1] 7\n");
  CallParts parts;
  parts.attributes = &made.attributes;
  const Call call(parts);
  EXPECT_EQ(elements(*made.inputs[0]), (std::vector<double>{1, 0}));
  EXPECT_TRUE(call.flag("unbiased", false));  // not the axis, which is no bool
  EXPECT_EQ(call.integer("correction", 0), 2);
  EXPECT_EQ(call.number("p", 0), std::numeric_limits<double>::infinity());
  EXPECT_EQ(call.integers("dim"), (std::vector<std::int64_t>{0, -1}));
  EXPECT_TRUE(call.text_is("mode", "mean"));
  EXPECT_EQ(call.element_type("dtype"), ElementType::float16);
  ASSERT_EQ(made.outputs.size(), 2U);
  EXPECT_EQ(elements(*made.outputs[0]), std::vector<double>{0.5});
  EXPECT_EQ(elements(*made.outputs[1]), std::vector<double>{7});
}

TEST(Opinfo, AListOfTensorsIsSeveralInputs) {
  const Case made =
      parsed("op: cat\nkind: forward\narg.0: tensors:int8[1] -5;int8[2] 1 2\narg.1: int:0\noutput.0: int8[3] -5 1 2\n");
  ASSERT_EQ(made.inputs.size(), 2U);
  EXPECT_EQ(made.inputs[1]->shape, Extents{2});
  EXPECT_EQ(made.attributes.at("dim").text, "0");
}

TEST(Opinfo, RefusesWhatIsDamaged) {
  const std::string good = "op: abs\nkind: forward\narg.0: tensor:uint8[2] 1 2\noutput.0: uint8[2] 1 2\n";
  EXPECT_NO_THROW(parsed(good));
  for (const char* text :
       {"kind: forward\noutput.0: bool[] 1\n", "op: abs\nkind: forward\n", "op: abs\nkind: odd\noutput.0: bool[] 1\n",
        "op: abs\nkind: forward\noutput.0: bool[] 2\n", "op: abs\nkind: forward\noutput.0: uint8[] 256\n",
        "op: abs\nkind: forward\noutput.0: int[] 1\n", "op: abs\nkind: forward\noutput.0: int8[2] 1\n",
        "op: abs\nkind: forward\noutput.0: int8[x] 1\n", "op: abs\nkind: forward\noutput.0: int8[1] 1\nstrides.0: 1\n",
        "op: abs\nkind: forward\noutput.0: int8[1] 1\ntolerance: 1\n"})
    EXPECT_THROW(parsed(text), BadCase) << text;
}

TEST(Opinfo, FindsTheCasesOfAFile) {
  const auto path = std::filesystem::path(testing::TempDir()) / "heddle_opinfo_cases.txt";
  std::ofstream(path) << "case: a/0\nop: abs\nkind: forward\narg.0: tensor:int8[] 1\noutput.0: int8[] 1\n\n\n"
                         "case: a/1\nop: neg\nkind: error\n";
  const std::vector<CasePlace> places = find_cases(path);
  ASSERT_EQ(places.size(), 2U);
  EXPECT_EQ(places[0].id, "a/0");
  EXPECT_EQ(places[1].id, "a/1");
  EXPECT_EQ(read_case(places[0]).op, "abs");
  EXPECT_EQ(read_case(places[1]).kind, Kind::error);
  std::ofstream(path) << "op: abs\n";
  EXPECT_THROW(find_cases(path), BadCase);
  std::filesystem::remove(path);
}

// ---- what PyTorch's arguments mean ----

/// A call that lives as long as its case.
struct Parsed {
  explicit Parsed(const std::string& lines) : given(parsed(lines + "output.0: bool[] 1\n")) {
    parts.attributes = &given.attributes;
    parts.is_pytorch = true;
    for (const std::optional<Array>& input : given.inputs) parts.inputs.push_back(input ? &*input : nullptr);
  }
  Call call() const { return Call(parts); }
  Case given;
  CallParts parts;
};
const std::string rank_3 = "kind: forward\narg.0: tensor:int8[1,2,3] 0 1 2 3 4 5\n";
const std::string rank_0 = "kind: forward\narg.0: tensor:int8[] 0\n";

TEST(Meaning, OfAxes) {
  EXPECT_EQ(reduced_axes(Parsed("op: sum\n" + rank_3 + "arg.1: ints:0,-1\n").call()), (std::vector<int>{0, 2}));
  EXPECT_EQ(reduced_axes(Parsed("op: sum\n" + rank_3).call()), (std::vector<int>{0, 1, 2}));
  EXPECT_TRUE(reduced_axes(Parsed("op: sum\n" + rank_0 + "arg.1: int:-1\n").call()).empty());
  EXPECT_THROW(reduced_axes(Parsed("op: sum\n" + rank_0 + "arg.1: int:1\n").call()), BadCase);
  EXPECT_THROW(reduced_axes(Parsed("op: sum\n" + rank_3 + "arg.1: ints:0,-3\n").call()), NotServed);
  EXPECT_FALSE(keeps_axes(Parsed("op: sum\n" + rank_3).call()));
  EXPECT_EQ(axis_of(Parsed("op: sort\n" + rank_0).call(), "dim", -1, 0), 0);
  EXPECT_EQ(squeezed_axes(Parsed("op: squeeze\n" + rank_3 + "arg.1: int:-3\n").call()), std::vector<int>{0});
  EXPECT_EQ(unsqueezed_axes(Parsed("op: unsqueeze\n" + rank_3 + "arg.1: int:-1\n").call()), std::vector<int>{3});
}

TEST(Meaning, OfShapes) {
  EXPECT_EQ(reshape_target(Parsed("op: reshape\n" + rank_3 + "arg.1: ints:0,-1\n").call()), (Extents{0, -1}));
  EXPECT_EQ(reshape_target(Parsed("op: ravel\n" + rank_3).call()), Extents{6});
  EXPECT_EQ(reshape_target(Parsed("op: unflatten\n" + rank_3 + "arg.1: int:1\narg.2: ints:2,1\n").call()),
            (Extents{1, 2, 1, 3}));
  EXPECT_EQ(reshape_target(Parsed("op: view_as\n" + rank_3 + "arg.1: tensor:int8[1] 0\n").call()), Extents{1});
  EXPECT_EQ(flatten_target(Parsed("op: flatten\n" + rank_3 + "arg.1: int:0\narg.2: int:-2\n").call()), (Extents{2, 3}));
  EXPECT_EQ(expanded_target(Parsed("op: expand\n" + rank_3 + "arg.1: ints:7,4,-1,3\n").call()), (Extents{7, 4, 2, 3}));
  const std::vector<AxisWidth> widths =
      pad_widths(Parsed("op: nn.functional.pad\n" + rank_3 + "arg.1: ints:1,2,3,4\n").call());
  EXPECT_EQ(widths[2].end, 2);
  EXPECT_EQ(widths[1].begin, 3);
  EXPECT_EQ(widths[0].begin, 0);
}

TEST(Meaning, OfOrders) {
  const auto order = [](const std::string& op, const std::string& arguments) {
    return permutation_of(Parsed("op: " + op + "\n" + rank_3 + arguments).call());
  };
  EXPECT_EQ(order("permute", "arg.1: ints:1,-1,0\n"), (std::vector<int>{1, 2, 0}));
  EXPECT_EQ(order("transpose", "arg.1: int:0\narg.2: int:-1\n"), (std::vector<int>{2, 1, 0}));
  EXPECT_EQ(order("mT", ""), (std::vector<int>{0, 2, 1}));
  EXPECT_EQ(order("movedim", "arg.1: int:0\narg.2: int:2\n"), (std::vector<int>{1, 2, 0}));
  EXPECT_EQ(order("movedim", "arg.1: ints:2,0\narg.2: ints:0,1\n"), (std::vector<int>{2, 0, 1}));
  EXPECT_THROW(order("movedim", "arg.1: ints:0,0\narg.2: ints:0,1\n"), NotServed);
  EXPECT_THROW(order("movedim", "arg.1: ints:0,1\narg.2: ints:0\n"), NotServed);
}

// ---- operands that lie as their case says ----

Array counted(Extents shape, Extents strides) {
  Array made{ElementType::float32, std::move(shape), {}, std::move(strides)};
  made.bytes.resize(static_cast<std::size_t>(made.size()) * sizeof(float));
  for (std::int64_t i = 0; i < made.size(); ++i) {
    const auto value = static_cast<float>(i);
    std::memcpy(made.bytes.data() + static_cast<std::size_t>(i) * sizeof(float), &value, sizeof(float));
  }
  return made;
}

TEST(Strides, AreSeenUnderOtherShapes) {
  EXPECT_EQ(strides_under(counted({2, 3}, {6, 2}), {1, 2, 3}), (Extents{12, 6, 2}));
  EXPECT_EQ(strides_under(counted({2, 3}, {6, 2}), {6}), Extents{2});
  EXPECT_EQ(strides_under(counted({2, 3}, {1, 2}), {6}), Extents{});
  EXPECT_EQ(strides_under(counted({4, 3}, {1, 4}), {2, 2, 3}), (Extents{2, 1, 4}));
  EXPECT_EQ(strides_under(counted({4, 3}, {1, 4}), {2, 6}), Extents{});
  EXPECT_EQ(strides_under(counted({2, 1, 3}, {3, 50, 1}), {2, 3}), (Extents{3, 1}));
  EXPECT_EQ(strides_under(counted({2, 3}, {0, 1}), {1, 2, 3}), (Extents{0, 0, 1}));
  EXPECT_EQ(strides_under(counted({2, 3}, {}), {6}), Extents{});
}

TEST(Strides, MakeAnOperand) {
  const Attributes none;
  CallParts parts;
  parts.attributes = &none;
  const Array array = counted({2, 3}, {1, 4});
  const auto x = tensor<float, 3>(Call(parts), array, {1, 2, 3}, heddle::cpu);
  EXPECT_EQ(x.strides()[1], 1);
  EXPECT_EQ(x.strides()[2], 4);
  EXPECT_EQ(elements(result(x)), elements(array));
  parts.layout = Layout::transposed;
  EXPECT_EQ((tensor<float, 2>(Call(parts), array, heddle::cpu).strides()[1]), 2);
}

// ---- kinds ----

template <int Mistake>
struct Twice {
  template <class Device>
  Outputs operator()(const Call& call, Device) const {
    Array twice = call.input(0);
    for (std::int64_t i = 0; i < twice.size(); ++i) {
      const auto value = static_cast<float>(2 * element(twice, i) + Mistake);
      std::memcpy(twice.bytes.data() + static_cast<std::size_t>(i) * sizeof(float), &value, sizeof(float));
    }
    return {twice};
  }
};
struct Slope {
  template <class Device>
  Outputs operator()(const Call& call, Device) const {
    Array slope = call.cotangent(0);
    return {no_gradient(), slope};
  }
};
struct Throwing {
  template <class Device>
  Outputs operator()(const Call&, Device) const {
    throw std::runtime_error("of nothing");
  }
};

class Kinds : public testing::Test {
 protected:
  void SetUp() override {
    serve(registry_, {"twice", "double"}, Twice<0>{});
    serve(registry_, "wrong", Twice<1>{});
    serve(registry_, "throwing", Throwing{});
    serve_gradient(registry_, "twice", Slope{});
  }
  Result run(const std::string& op, const std::string& lines, const Exception* exception = nullptr) {
    return run_case(registry_, {}, parsed("op: " + op + "\narg.0: tensor:float32[2] 1 2\n" + lines), exception);
  }
  Registry registry_;
};

TEST_F(Kinds, ACallThatMustFail) {
  EXPECT_EQ(run("throwing", "kind: error\n").status, Status::passed);
  EXPECT_EQ(run("twice", "kind: error\n").status, Status::failed);
  EXPECT_EQ(run("unknown", "kind: error\n").status, Status::not_served);
  const Exception value{"*", Exception::Ours::value, ""};
  EXPECT_EQ(run("twice", "kind: error\n", &value).status, Status::differs_on_purpose);
  EXPECT_EQ(run("throwing", "kind: error\n", &value).status, Status::failed);
  const Exception no_call{"*", Exception::Ours::no_such_call, ""};
  EXPECT_EQ(run("unknown", "kind: error\n", &no_call).status, Status::differs_on_purpose);
  EXPECT_EQ(run("twice", "kind: error\n", &no_call).status, Status::failed);
}

TEST_F(Kinds, AGradientIsComparedWhereThereIsAFunction) {
  const std::string lines =
      "kind: gradient\narg.1: tensor:float32[1] 0\noutput.0: float32[2] 2 4\ncotangent.0: float32[1] 3\n"
      "gradient.0: float32[2] 7 7\n";
  const Result right = run("twice", lines + "gradient.1: float32[1] 3\n");
  EXPECT_EQ(right.status, Status::passed);
  EXPECT_TRUE(right.checked_gradients);
  const Result wrong = run("twice", lines + "gradient.1: float32[1] 4\n");
  EXPECT_EQ(wrong.status, Status::failed);
  EXPECT_NE(wrong.message.find("gradient of input 1"), std::string::npos);
  const Result without = run("double", lines + "gradient.1: float32[1] 4\n");
  EXPECT_EQ(without.status, Status::passed);
  EXPECT_TRUE(without.has_gradients);
  EXPECT_FALSE(without.checked_gradients);
  EXPECT_EQ(run("wrong", lines).status, Status::failed);
}

}  // namespace
}  // namespace conformance
