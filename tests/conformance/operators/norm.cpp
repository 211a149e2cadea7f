// LayerNormalization RMSNormalization; layer_norm rms_norm
#include "heddle/ops/norm.hpp"
#include "conformance/broadcast.hpp"
#include "conformance/dispatch.hpp"
#include "conformance/operators/families.hpp"
#include "heddle/ops/arithmetic.hpp"
#include "heddle/ops/math.hpp"
#include "heddle/ops/reduce.hpp"

namespace conformance {
namespace {

/// The operand as (rows, columns): the columns are the last axes, as many as PyTorch's `normalized_shape` has, or those
/// from ONNX's `axis` on.
struct Rows {
  explicit Rows(const Call& call) : array(call.input(0)) {
    const int rank = array.rank();
    first = call.is_pytorch() ? rank - static_cast<int>(call.integers("normalized_shape").size())
                              : front_axis(call.integer("axis", -1), rank);
    if (first < 0) throw NotServed{"not for this rank"};
    columns = size_of(Extents(array.shape.begin() + first, array.shape.end()));
    shape = {size_of(Extents(array.shape.begin(), array.shape.begin() + first)), columns};
    statistics = array.shape;
    for (std::size_t axis = static_cast<std::size_t>(first); axis < statistics.size(); ++axis) statistics[axis] = 1;
  }
  const Array& array;
  int first = 0;
  std::int64_t columns = 0;
  Extents shape;
  Extents statistics;
};

template <class T, class Device>
auto weight_of(const Call& call, int position, const Rows& rows, Device device) {
  const Array& weight = call.input(position);
  if (weight.size() != rows.columns) throw NotServed{"not for a weight that is repeated"};
  return tensor<T, 1>(call, weight, {rows.columns}, device);
}

/// Where the weight stands: PyTorch's follows the shape of the axes.
int weight_at(const Call& call) { return call.is_pytorch() ? 2 : 1; }

double epsilon(const Call& call, double fallback) {
  return call.number(call.is_pytorch() ? "eps" : "epsilon", fallback);
}

struct LayerNorm {
  template <class Device>
  Outputs operator()(const Call& call, Device device) const {
    const Rows rows(call);
    const double eps = epsilon(call, 1e-5);
    const int at = weight_at(call);
    return with_type(Reals{}, rows.array.type, [&](auto type) -> Outputs {
      using T = type_of<decltype(type)>;
      const auto x = tensor<T, 2>(call, rows.array, rows.shape, device);
      const auto done = [&](auto&& formula, const Extents& seen, const Extents& shape) {
        return reshaped(result(std::move(formula)), seen, shape);
      };
      if (!call.has_input(at)) return {done(hd::layer_norm(x, hd::axis<-1>, eps), rows.shape, rows.array.shape)};
      const auto weight = weight_of<T>(call, at, rows, device);
      const auto bias = weight_of<T>(call, at + 1, rows, device);
      Outputs outputs{done(hd::layer_norm(x, weight, bias, eps), rows.shape, rows.array.shape)};
      // ONNX's may give the mean and the inverse of the standard deviation too.
      if constexpr (std::is_same_v<T, float>) {
        if (call.output_count() > 1) {
          const Extents seen{rows.shape[0], 1};
          outputs.push_back(done(hd::mean(x, hd::axis<1>, hd::keep_dims), seen, rows.statistics));
          outputs.push_back(
              done(hd::rsqrt(hd::var(x, hd::axis<1>, hd::keep_dims, hd::correction{0}) + eps), seen, rows.statistics));
        }
      }
      return outputs;
    });
  }
};

struct LayerNormGradient {
  template <class Device>
  Outputs operator()(const Call& call, Device device) const {
    const Rows rows(call);
    if (!call.has_input(2)) throw NotServed{"not without a weight"};
    return with_type(Reals{}, rows.array.type, [&](auto type) -> Outputs {
      using T = type_of<decltype(type)>;
      const auto x = tensor<T, 2>(call, rows.array, rows.shape, device);
      const auto dy = tensor<T, 2>(call, call.cotangent(0), rows.shape, device);
      const auto [dx, dw, db] = hd::layer_norm_grad(dy, x, weight_of<T>(call, 2, rows, device), epsilon(call, 1e-5));
      const Extents flat{rows.columns};
      return {reshaped(result(dx), rows.shape, rows.array.shape), no_gradient(),
              reshaped(result(dw), flat, call.input(2).shape), reshaped(result(db), flat, call.input(3).shape)};
    });
  }
};

/// By default eps is the element type's own in PyTorch, and 1e-5 in ONNX.
struct RmsNorm {
  template <class Device>
  Outputs operator()(const Call& call, Device device) const {
    const Rows rows(call);
    return with_type(Reals{}, rows.array.type, [&](auto type) -> Outputs {
      using T = type_of<decltype(type)>;
      const auto x = tensor<T, 2>(call, rows.array, rows.shape, device);
      const auto done = [&](auto&& formula) {
        return reshaped(result(std::move(formula)), rows.shape, rows.array.shape);
      };
      const bool own = call.is_pytorch() && !call.has("eps");
      if (!call.has_input(weight_at(call))) {
        if (own) return {done(hd::rms_norm(x, hd::axis<-1>))};
        return {done(hd::rms_norm(x, hd::axis<-1>, epsilon(call, 1e-5)))};
      }
      const auto weight = weight_of<T>(call, weight_at(call), rows, device);
      return {own ? done(hd::rms_norm(x, weight)) : done(hd::rms_norm(x, weight, epsilon(call, 1e-5)))};
    });
  }
};

struct RmsNormGradient {
  template <class Device>
  Outputs operator()(const Call& call, Device device) const {
    const Rows rows(call);
    if (!call.has_input(2)) throw NotServed{"not without a weight"};
    return with_type(Types<float>{}, rows.array.type, [&](auto type) -> Outputs {
      using T = type_of<decltype(type)>;
      const auto x = tensor<T, 2>(call, rows.array, rows.shape, device);
      const auto dy = tensor<T, 2>(call, call.cotangent(0), rows.shape, device);
      const auto weight = weight_of<T>(call, 2, rows, device);
      const auto got =
          call.has("eps") ? hd::rms_norm_grad(dy, x, weight, epsilon(call, 0)) : hd::rms_norm_grad(dy, x, weight);
      return {reshaped(result(got.input), rows.shape, rows.array.shape), no_gradient(),
              reshaped(result(got.weight), {rows.columns}, call.input(2).shape)};
    });
  }
};

}  // namespace

void add_norm(Registry& registry) {
  serve(registry, {"LayerNormalization", "nn.functional.layer_norm"}, LayerNorm{});
  serve(registry, {"RMSNormalization", "nn.functional.rms_norm"}, RmsNorm{});
  serve_gradient(registry, "nn.functional.layer_norm", LayerNormGradient{});
  serve_gradient(registry, "nn.functional.rms_norm", RmsNormGradient{});
}

}  // namespace conformance
