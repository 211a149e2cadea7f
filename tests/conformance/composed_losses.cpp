// Losses that Heddle has no name for: each a formula of maps and one reduction.
#include <cmath>

#include "conformance/composed.hpp"

namespace conformance {
namespace {

Outputs reduced(const Value& each, const Call& call) {
  if (call.text_is("reduction", "none")) return {each.array};
  if (call.text_is("reduction", "sum")) return {step("sum", {each}).array};
  if (call.has("reduction") && !call.text_is("reduction", "mean")) throw NotServed{"a reduction is a type"};
  return {step("mean", {each}).array};
}

Value at_least(const Value& x, double least) { return map("maximum", x, like(x, least)); }
Value zeros_unless(const Value& condition, const Value& x) { return where(condition, x, like(x, 0)); }

Outputs soft_margin(const Composer& compose, const Call& call) {
  const Value x = compose.input(call, 0), y = compose.input(call, 1);
  return reduced(map("log1p", map("exp", -(y * x))), call);
}

Outputs hinge_embedding(const Composer& compose, const Call& call) {
  const Value x = compose.input(call, 0), y = compose.input(call, 1);
  const Value apart = at_least(call.number("margin", 1) - x, 0);
  return reduced(zeros_unless(!(y == like(y, 1)), apart) + zeros_unless(!(y == like(y, -1)), x), call);
}

Outputs margin_ranking(const Composer& compose, const Call& call) {
  const Value x = compose.real_input(call, 0), y = compose.real_input(call, 1), sign = compose.real_input(call, 2);
  return reduced(at_least(-(sign * (x - y)) + call.number("margin", 0), 0), call);
}

Outputs cosine_embedding(const Composer& compose, const Call& call) {
  const Value x = compose.real_input(call, 0), y = compose.real_input(call, 1), sign = compose.real_input(call, 2);
  const int axis = x.rank() - 1;
  const auto squared = [&](const Value& v) { return sum(v * v, axis) + 1e-12; };
  const Value cosine = sum(x * y, axis) / map("sqrt", squared(x) * squared(y));
  const Value apart = at_least(cosine - call.number("margin", 0), 0);
  return reduced(zeros_unless(sign == like(sign, 1), 1 - cosine) + zeros_unless(sign == like(sign, -1), apart), call);
}

Outputs poisson(const Composer& compose, const Call& call) {
  const Value x = compose.real_input(call, 0), y = compose.real_input(call, 1);
  Value loss = call.flag("log_input", true) ? map("exp", x) - y * x : x - y * map("log", x + call.number("eps", 1e-8));
  if (call.flag("full", false)) {
    const Value stirling = y * map("log", y) - y + 0.5 * map("log", 6.283185307179586 * y);
    loss = loss + where(like(y, 1) < y, stirling, like(y, 0));
  }
  return reduced(loss, call);
}

Outputs gaussian(const Composer& compose, const Call& call) {
  const Value x = compose.input(call, 0), y = compose.input(call, 1);
  const Value variance = at_least(compose.input(call, 2), call.number("eps", 1e-6));
  const Value error = x - y;
  const Value loss = 0.5 * (map("log", variance) + error * error / variance);
  return reduced(call.flag("full", false) ? loss + 0.9189385332046727 : loss, call);
}

Outputs binary_cross_entropy(const Composer& compose, const Call& call) {
  const Value x = compose.input(call, 0), y = compose.input(call, 1);
  return reduced(-(y * at_least(map("log", x), -100) + (1 - y) * at_least(map("log1p", -x), -100)), call);
}

Value distance(const Value& x, const Value& y, double order, double eps, bool keep_dims = false) {
  const Value apart = x - y + eps;
  return norm(apart, order, apart.rank() - 1, keep_dims);
}

Outputs triplet(const Composer& compose, const Call& call) {
  const Value x = compose.real_input(call, 0), near = compose.real_input(call, 1), far = compose.real_input(call, 2);
  Value to_far = distance(x, far, 2, 1e-6);
  if (call.flag("swap", false)) to_far = map("minimum", to_far, distance(near, far, 2, 1e-6));
  return reduced(at_least(distance(x, near, 2, 1e-6) - to_far + call.number("margin", 1), 0), call);
}

/// The classes' margins to the label's, but the label's own.
Outputs multi_margin(const Composer& compose, const Call& call) {
  const Value given = compose.input(call, 0), labels = compose.input(call, 1);
  const std::int64_t classes = given.rank() == 0 ? 1 : given.extent(given.rank() - 1);
  const std::int64_t rows = given.array.size() / classes;
  const Value x = reshape(given, {rows, classes}), label = reshape(labels, {rows, 1});
  const Value own = step("gather", {x, x, label}, {{"dim", 1}});
  Value apart = at_least(call.number("margin", 1) - (own - x), 0);
  if (call.integer("p", 1) == 2) apart = apart * apart;
  const Value is_own = label == unsqueeze(compose.arange(0, classes), 0);
  return reduced(step("mean", {where(is_own, like(x, 0), apart)}, {{"dim", 1}}), call);
}

Outputs multilabel_soft_margin(const Composer& compose, const Call& call) {
  const Value x = compose.input(call, 0), y = compose.input(call, 1);
  Value each = -(y * map("nn.functional.logsigmoid", x) + (1 - y) * map("nn.functional.logsigmoid", -x));
  if (call.has_input(2)) each = each * compose.input(call, 2);
  return reduced(step("mean", {each}, {{"dim", x.rank() - 1}}), call);
}

Outputs pairwise_distance(const Composer& compose, const Call& call) {
  return {distance(compose.input(call, 0), compose.input(call, 1), call.number("p", 2), call.number("eps", 1e-6),
                   call.flag("keepdim", false))
              .array};
}

Outputs dist(const Composer& compose, const Call& call) {
  const Value apart = compose.input(call, 0) - compose.input(call, 1);
  return {step("norm", {apart}, {{"p", call.number("p", 2)}}).array};
}

/// Of all pairs of rows.
Outputs cdist(const Composer& compose, const Call& call) {
  const Value x = compose.input(call, 0), y = compose.input(call, 1);
  const Value apart = unsqueeze(x, -2) - unsqueeze(y, -3);
  return {norm(apart, call.number("p", 2), apart.rank() - 1, false).array};
}

/// Of each pair of rows once.
Outputs pdist(const Composer& compose, const Call& call) {
  const Value x = compose.input(call, 0), place = compose.arange(0, x.extent(0));
  const Value apart = unsqueeze(x, -2) - unsqueeze(x, -3);
  const Value later = unsqueeze(place, -1) < place;
  return {step("masked_select", {norm(apart, call.number("p", 2), 2, false), later}).array};
}

Outputs cosine_similarity(const Composer& compose, const Call& call) {
  const Value x = compose.input(call, 0), y = compose.input(call, 1);
  const int axis = front_axis(call.integer("dim", 1), x.rank() == 0 ? 1 : x.rank());
  const double eps = call.number("eps", 1e-8);
  const auto scaled = [&](const Value& v) { return v / at_least(norm(v, 2, axis, true), eps); };
  return {sum(scaled(x) * scaled(y), axis).array};
}

/// In inference the slope is between the two bounds.
Outputs rrelu(const Composer& compose, const Call& call) {
  const double slope = (call.number("lower", 1.0 / 8) + call.number("upper", 1.0 / 3)) / 2;
  return {step("nn.functional.leaky_relu", {compose.input(call, 0)}, {{"alpha", slope}}).array};
}

Outputs normalize(const Composer& compose, const Call& call) {
  const Value x = compose.input(call, 0);
  const int axis = front_axis(call.integer("dim", 1), x.rank());
  return {(x / at_least(norm(x, call.number("p", 2), axis, true), call.number("eps", 1e-12))).array};
}

}  // namespace

void add_composed_losses(Registry& registry) {
  serve_composed<soft_margin>(registry, "nn.functional.soft_margin_loss");
  serve_composed<hinge_embedding>(registry, "nn.functional.hinge_embedding_loss");
  serve_composed<margin_ranking>(registry, "nn.functional.margin_ranking_loss");
  serve_composed<cosine_embedding>(registry, "nn.functional.cosine_embedding_loss");
  serve_composed<poisson>(registry, "nn.functional.poisson_nll_loss");
  serve_composed<gaussian>(registry, "nn.functional.gaussian_nll_loss");
  serve_composed<binary_cross_entropy>(registry, "nn.functional.binary_cross_entropy");
  serve_composed<triplet>(registry, "nn.functional.triplet_margin_loss");
  serve_composed<multi_margin>(registry, "nn.functional.multi_margin_loss");
  serve_composed<multilabel_soft_margin>(registry, "nn.functional.multilabel_soft_margin_loss");
  serve_composed<pairwise_distance>(registry, "nn.functional.pairwise_distance");
  serve_composed<dist>(registry, "dist");
  serve_composed<cdist>(registry, "cdist");
  serve_composed<pdist>(registry, "nn.functional.pdist");
  serve_composed<cosine_similarity>(registry, "nn.functional.cosine_similarity");
  serve_composed<rrelu>(registry, "nn.functional.rrelu");
  serve_composed<normalize>(registry, "nn.functional.normalize");
}

}  // namespace conformance
