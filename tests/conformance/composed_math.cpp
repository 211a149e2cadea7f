// Maps, reductions and products that are a few of Heddle's in a row.
#include <algorithm>
#include <cmath>

#include "conformance/composed.hpp"

namespace conformance {
namespace {

Outputs ldexp(const Composer& compose, const Call& call) {
  return {(compose.real_input(call, 0) * map("exp2", compose.real_input(call, 1))).array};
}

Outputs float_power(const Composer& compose, const Call& call) {
  const Value x = map("double", compose.input(call, 0));
  return {map("pow", x, call.has_input(1) ? map("double", compose.input(call, 1)) : like(x, call.number("other", 1)))
              .array};
}

Outputs sinc(const Composer& compose, const Call& call) {
  const Value x = 3.141592653589793 * compose.real_input(call, 0);
  return {where(x == like(x, 0), like(x, 1), map("sin", x) / x).array};
}

Outputs angle(const Composer& compose, const Call& call) {
  const Value x = compose.real_input(call, 0);
  return {where(x < like(x, 0), like(x, 3.141592653589793), like(x, 0)).array};
}

/// Of p dimensions: a constant, and p of lgamma.
Outputs mvlgamma(const Composer& compose, const Call& call) {
  const Value x = compose.input(call, 0);
  const std::int64_t p = call.integer("p", 1);
  Value total = like(x, 0.25 * static_cast<double>(p * (p - 1)) * std::log(3.141592653589793));
  for (std::int64_t i = 0; i < p; ++i) total = total + map("lgamma", x - 0.5 * static_cast<double>(i));
  return {total.array};
}

Value without_nan(const Value& x) { return where(x == x, x, like(x, 0)); }
std::vector<Option> reduction_options(const Call& call) {
  std::vector<Option> options{{"keepdim", call.flag("keepdim", false)}};
  if (call.has("dim")) options.emplace_back("dim", call.integers("dim"));
  return options;
}
Outputs nansum(const Composer& compose, const Call& call) {
  const Value x = compose.input(call, 0);
  return {step("sum", {is_floating(x.array.type) ? without_nan(x) : x}, reduction_options(call)).array};
}
Outputs nanmean(const Composer& compose, const Call& call) {
  const Value x = compose.input(call, 0);
  const std::vector<Option> options = reduction_options(call);
  const Value counted = where(x == x, like(x, 1), like(x, 0));
  return {(step("sum", {without_nan(x)}, options) / step("sum", {counted}, options)).array};
}

Outputs mean_variance(const Composer& compose, const Call& call) {
  const Value x = compose.input(call, 0);
  const std::vector<Option> options{{"dim", std::vector<std::int64_t>{0, 2, 3}}, {"keepdim", true}};
  const Value mean = step("mean", {x}, options);
  const Value squares = step("mean", {x * x}, options);
  return {((x - mean) / (map("sqrt", squares - mean * mean) + 1e-9)).array};
}

/// With running statistics, which follow those of the input: their mean over the batch, of samples.
Outputs instance_norm(const Composer& compose, const Call& call) {
  const Value x = compose.input(call, 0);
  const std::int64_t channels = x.extent(1);
  const Value seen = reshape(x, {x.extent(0), channels, x.array.size() / (x.extent(0) * channels)});
  const auto each = [&](int i, double number) {
    return call.has_input(i) ? compose.input(call, i) : step("expand", {like(x, number)}, {{"size", channels}});
  };
  const Value scaled =
      step("InstanceNormalization", {seen, each(3, 1), each(4, 0)}, {{"epsilon", call.number("eps", 1e-5)}});
  const double momentum = call.number("momentum", 0.1);
  const auto followed = [&](int i, const char* statistic) {
    const Value own = step("mean", {step(statistic, {seen}, {{"dim", 2}})}, {{"dim", 0}});
    return (1 - momentum) * compose.input(call, i) + momentum * own;
  };
  return {reshape(scaled, x.array.shape).array, followed(1, "mean").array, followed(2, "var").array};
}

/// The element of that rank along an axis, and its place.
Outputs picked(const Value& x, const Call& call, std::int64_t k) {
  const int axis = front_axis(call.integer("dim", -1), x.rank() == 0 ? 1 : x.rank());
  std::vector<Array> outputs;
  for (const Value& all : steps("sort", {x}, {{"dim", axis}})) {
    if (x.rank() == 0) {
      outputs.push_back(all.array);
      continue;
    }
    const Value one = narrow(all, axis, k, 1);
    outputs.push_back(call.flag("keepdim", false) ? one.array : step("squeeze", {one}, {{"dim", axis}}).array);
  }
  return outputs;
}
Outputs kthvalue(const Composer& compose, const Call& call) {
  return picked(compose.input(call, 0), call, call.integer("k", 1) - 1);
}
Outputs median(const Composer& compose, const Call& call) {
  const Value x = compose.input(call, 0);
  const int axis = front_axis(call.integer("dim", -1), x.rank() == 0 ? 1 : x.rank());
  return picked(x, call, x.rank() == 0 ? 0 : (x.extent(axis) - 1) / 2);
}

/// Between the two neighbours of a place among the sorted elements of a vector.
Outputs quantile(const Composer& compose, const Call& call) {
  const Value x = compose.input(call, 0);
  if (x.rank() != 1 || call.has_input(1) || call.has("dim")) throw NotServed{"not for this rank or axis"};
  const Value sorted = step("sort", {x}, {{"dim", 0}});
  const double place = call.number("q", 0) * static_cast<double>(x.extent(0) - 1);
  const auto below = static_cast<std::int64_t>(place);
  const Value low = narrow(sorted, 0, below, 1);
  const Value high = narrow(sorted, 0, std::min(below + 1, x.extent(0) - 1), 1);
  return {reshape(step("lerp", {low, high}, {{"weight", place - static_cast<double>(below)}}), {}).array};
}

/// Slices along an axis, of at most that norm.
Outputs renorm(const Composer& compose, const Call& call) {
  const Value x = compose.input(call, 0);
  const int axis = front_axis(call.integer("dim", 0), x.rank());
  std::vector<std::int64_t> others;
  for (int i = 0; i < x.rank(); ++i)
    if (i != axis) others.push_back(i);
  const double greatest = call.number("maxnorm", 1);
  const Value length =
      step("linalg.vector_norm", {x}, {{"ord", call.number("p", 2)}, {"dim", others}, {"keepdim", true}});
  return {(x * where(like(x, greatest) < length, like(x, greatest) / (length + 1e-7), like(x, 1))).array};
}

Outputs logspace(const Composer& compose, const Call& call) {
  const Value exponent = compose.linspace(call.number("start", 0), call.number("end", 0), call.integer("steps", 0));
  return {map("pow", like(exponent, 10), exponent).array};
}

// ---- integrals and differences along an axis ----

/// Sums of neighbours times half the distance between their places.
Value strips(const Composer& compose, const Call& call, int& axis) {
  const Value y = compose.input(call, 0);
  axis = front_axis(call.integer("dim", -1), y.rank());
  const auto shifted = [&](const Value& v, int along, std::int64_t start) {
    return narrow(v, along, start, v.extent(along) - 1);
  };
  const Value pairs = shifted(y, axis, 1) + shifted(y, axis, 0);
  if (!call.has_input(1)) return call.number("dx", 1) / 2 * pairs;
  const Value x = compose.input(call, 1);
  const int along = axis - y.rank() + x.rank();
  return (shifted(x, along, 1) - shifted(x, along, 0)) * pairs / 2;
}
Outputs trapezoid(const Composer& compose, const Call& call) {
  int axis = 0;
  const Value areas = strips(compose, call, axis);
  return {sum(areas, axis).array};
}
Outputs cumulative_trapezoid(const Composer& compose, const Call& call) {
  int axis = 0;
  const Value areas = strips(compose, call, axis);
  return {step("cumsum", {areas}, {{"dim", axis}}).array};
}

Outputs diff(const Composer& compose, const Call& call) {
  Value x = compose.input(call, 0);
  const int axis = front_axis(call.integer("dim", -1), x.rank());
  const std::int64_t times = call.integer("n", 1);
  if (times > 0 && call.has_input(3)) x = concat({compose.input(call, 3), x}, axis);
  if (times > 0 && call.has_input(4)) x = concat({x, compose.input(call, 4)}, axis);
  for (std::int64_t i = 0; i < times; ++i)
    x = narrow(x, axis, 1, x.extent(axis) - 1) - narrow(x, axis, 0, x.extent(axis) - 1);
  return {map("positive", x).array};
}

// ---- products ----

Value product(const Value& a, const Value& b) {
  return a.array.type == ElementType::boolean ? map("logical_and", a, b) : a * b;
}
Value outer_of(const Value& a, const Value& b) { return product(unsqueeze(a, 1), unsqueeze(b, 0)); }
Outputs outer(const Composer& compose, const Call& call) {
  return {outer_of(compose.input(call, 0), compose.input(call, 1)).array};
}
Outputs addr(const Composer& compose, const Call& call) {
  const Value base = compose.input(call, 0);
  const Value added = outer_of(compose.input(call, 1), compose.input(call, 2));
  if (base.array.type == ElementType::boolean) return {map("add", base, added).array};
  const Value scaled = call.number("beta", 1) * base;
  if (!is_floating(base.array.type)) return {step("add", {scaled, added}, {{"alpha", call.integer("alpha", 1)}}).array};
  return {(scaled + call.number("alpha", 1) * added).array};
}
Outputs inner(const Composer& compose, const Call& call) {
  const Value a = compose.input(call, 0), b = compose.input(call, 1);
  return {a.rank() == 0 || b.rank() == 0 ? (a * b).array : map("matmul", a, b).array};
}
Outputs vecdot(const Composer& compose, const Call& call) {
  const Value product = compose.input(call, 0) * compose.input(call, 1);
  return {sum(product, front_axis(call.integer("dim", -1), product.rank())).array};
}

/// The sum of a batch of products is one product: of the matrices side by side.
Outputs addbmm(const Composer& compose, const Call& call) {
  const Value base = compose.input(call, 0), a = compose.input(call, 1), b = compose.input(call, 2);
  const Value left = reshape(permute(a, {1, 0, 2}), {a.extent(1), a.extent(0) * a.extent(2)});
  const Value right = reshape(b, {b.extent(0) * b.extent(1), b.extent(2)});
  return {(call.number("beta", 1) * base + call.number("alpha", 1) * map("matmul", left, right)).array};
}

Outputs tensordot(const Composer& compose, const Call& call) {
  if (!call.text_is("dims", "0,1;2,0")) throw NotServed{"not for these axes"};
  const Value a = compose.input(call, 0), b = compose.input(call, 1);
  const Value left = reshape(permute(a, {2, 0, 1}), {a.extent(2), a.extent(0) * a.extent(1)});
  const Value right = reshape(permute(b, {2, 0, 1}), {b.extent(2) * b.extent(0), b.extent(1)});
  return {map("matmul", left, right).array};
}

Outputs kron(const Composer& compose, const Call& call) {
  const Value a = compose.input(call, 0), b = compose.input(call, 1);
  const std::size_t rank = static_cast<std::size_t>(std::max(a.rank(), b.rank()));
  Extents left = a.array.shape, right = b.array.shape;
  left.insert(left.begin(), rank - left.size(), 1);
  right.insert(right.begin(), rank - right.size(), 1);
  Extents left_apart, right_apart, shape;
  for (std::size_t i = 0; i < rank; ++i) {
    left_apart.insert(left_apart.end(), {left[i], 1});
    right_apart.insert(right_apart.end(), {1, right[i]});
    shape.push_back(left[i] * right[i]);
  }
  return {reshape(reshape(a, left_apart) * reshape(b, right_apart), shape).array};
}

Outputs cross(const Composer& compose, const Call& call) {
  const Value a = compose.input(call, 0);
  Value b = compose.input(call, 1);
  if (b.array.size() < a.array.size()) b = map("positive", step("expand", {b}, {{"size", a.array.shape}}));
  const int back = static_cast<int>(call.integer("dim", -1));
  const auto rolled = [&](const Value& x, std::int64_t by) {
    return step("roll", {x}, {{"dims", back < 0 ? back : back - a.rank()}, {"shifts", by}});
  };
  const Value plus = rolled(a, -1) * rolled(b, -2), minus = rolled(a, -2) * rolled(b, -1);
  if (!is_floating(a.array.type)) return {step("sub", {plus, minus}, {{"alpha", 1}}).array};
  return {(plus - minus).array};
}

}  // namespace

void add_composed_math(Registry& registry) {
  serve_composed<ldexp>(registry, "ldexp");
  serve_composed<float_power>(registry, "float_power");
  serve_composed<sinc>(registry, "sinc");
  serve_composed<angle>(registry, "angle");
  serve_composed<mvlgamma>(registry, "mvlgamma");
  serve_composed<nansum>(registry, "nansum");
  serve_composed<nanmean>(registry, "nanmean");
  serve_composed<mean_variance>(registry, "MeanVarianceNormalization");
  serve_composed<instance_norm>(registry, "nn.functional.instance_norm");
  serve_composed<kthvalue>(registry, "kthvalue");
  serve_composed<median>(registry, "median");
  serve_composed<quantile>(registry, "quantile");
  serve_composed<quantile>(registry, "nanquantile");
  serve_composed<renorm>(registry, "renorm");
  serve_composed<logspace>(registry, "logspace");
  serve_composed<trapezoid>(registry, "trapezoid");
  serve_composed<cumulative_trapezoid>(registry, "cumulative_trapezoid");
  serve_composed<diff>(registry, "diff");
  serve_composed<outer>(registry, "outer");
  serve_composed<addr>(registry, "addr");
  serve_composed<inner>(registry, "inner");
  serve_composed<vecdot>(registry, "linalg.vecdot");
  serve_composed<addbmm>(registry, "addbmm");
  serve_composed<tensordot>(registry, "tensordot");
  serve_composed<kron>(registry, "kron");
  serve_composed<cross>(registry, "cross");
}

}  // namespace conformance
