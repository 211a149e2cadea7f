// CumSum CumProd TopK; cumsum cumprod sort argsort topk
#include "conformance/operators/along_axis.hpp"
#include "conformance/operators/families.hpp"
#include "heddle/ops/join.hpp"
#include "heddle/ops/scan.hpp"
#include "heddle/ops/sort.hpp"

namespace conformance {
namespace {

/// f(x, axis) along the axis that `plan(call)` names. The result has the type that the call says, or ONNX's: the
/// operand's.
template <class F, class TypeList>
struct Scan {
  template <class Device>
  Outputs operator()(const Call& call, Device device) const {
    const Array& array = call.input(0);
    const hd::scan_options options{.exclusive = call.flag("exclusive", false), .reverse = call.flag("reverse", false)};
    return with_type(TypeList{}, array.type, [&](auto type) {
      using T = type_of<decltype(type)>;
      const bool as_operand = !call.is_pytorch() || call.has("dtype");
      if (call.has("dtype") && call.element_type("dtype") != element_type_v<T>) throw NotServed{"not for this dtype"};
      return along_axis<T>(
          call, array, plan_axis(array.shape, axis(call)), device, [&](const auto& x, auto along) -> Outputs {
            const hd::Tensor scanned =
                options.exclusive || options.reverse ? F{}(x, along, options) : hd::eval(F{}(x, along));
            return {reshaped(as_operand ? result(hd::cast<T>(scanned)) : result(scanned), extents_of(x), array.shape)};
          });
    });
  }
  static int axis(const Call& call) {
    const int rank = call.input(0).rank();
    if (call.is_pytorch()) return axis_of(call, "dim", 0, rank);
    return front_axis(integers_of(call.input(1)).at(0), rank);
  }
};
template <class TypeList, class F>
Scan<F, TypeList> scan(F) {
  return {};
}

/// The extremes so far and their places, of an operand seen as (before, axis, after).
template <class F, class TypeList>
struct Extremes {
  template <class Device>
  Outputs operator()(const Call& call, Device device) const {
    const Array& array = call.input(0);
    const Extents three = plan_axis(array.shape, axis_of(call, "dim", 0, array.rank())).all_three();
    return with_type(TypeList{}, array.type, [&](auto type) -> Outputs {
      const auto found = F{}(tensor<type_of<decltype(type)>, 3>(call, array, three, device));
      return {reshaped(result(found.first), three, array.shape), reshaped(result(found.second), three, array.shape)};
    });
  }
};
template <class TypeList, class F>
Extremes<F, TypeList> extremes(F) {
  return {};
}

struct LogCumSumExp {
  template <class Device>
  Outputs operator()(const Call& call, Device device) const {
    const Array& array = call.input(0);
    const Extents three = plan_axis(array.shape, axis_of(call, "dim", 0, array.rank())).all_three();
    const auto x = tensor<float, 3>(call, array, three, device);
    return {reshaped(result(hd::logcumsumexp(x, hd::axis<1>)), three, array.shape)};
  }
};

struct CumSumGradient {
  template <class Device>
  Outputs operator()(const Call& call, Device device) const {
    const Array& dy = call.cotangent(0);
    return with_type(Reals{}, dy.type, [&](auto type) {
      const AxisPlan plan = plan_axis(dy.shape, axis_of(call, "dim", 0, dy.rank()));
      return along_axis<type_of<decltype(type)>>(call, dy, plan, device, [&](const auto& x, auto along) -> Outputs {
        return {reshaped(result(hd::cumsum_grad(x, along)), extents_of(x), dy.shape)};
      });
    });
  }
};

/// The sorted elements and their places, or the places alone.
template <bool Places>
struct Sort {
  template <class Device>
  Outputs operator()(const Call& call, Device device) const {
    const Array& array = call.input(0);
    const bool descending = call.flag("descending", false);
    return with_type(TypesOf{}, array.type, [&](auto type) {
      const AxisPlan plan = plan_axis(array.shape, axis_of(call, "dim", -1, array.rank()));
      return along_axis<type_of<decltype(type)>>(call, array, plan, device, [&](const auto& x, auto along) -> Outputs {
        Outputs outputs;
        if constexpr (!Places)
          outputs.push_back(reshaped(result(hd::sort(x, along, descending)), extents_of(x), array.shape));
        outputs.push_back(reshaped(result(hd::argsort(x, along, descending)), extents_of(x), array.shape));
        return outputs;
      });
    });
  }
  using TypesOf = std::conditional_t<Places, Types<float, double, I32>, Types<float, double, I32, bool>>;
};

struct TopK {
  template <class Device>
  Outputs operator()(const Call& call, Device device) const {
    const Array& array = call.input(0);
    const std::int64_t k = call.is_pytorch() ? call.integer("k", 1) : integers_of(call.input(1)).at(0);
    const int axis = axis_of(call, call.is_pytorch() ? "dim" : "axis", -1, array.rank());
    Extents shape = array.shape;
    if (!shape.empty()) shape[static_cast<std::size_t>(axis)] = k;
    return with_type(Types<float, I32, I64, U64>{}, array.type, [&](auto type) {
      return along_axis<type_of<decltype(type)>>(
          call, array, plan_axis(array.shape, axis), device, [&](const auto& x, auto along) -> Outputs {
            Extents expected = extents_of(x);
            expected[static_cast<std::size_t>(front_axis_of<std::remove_cvref_t<decltype(x)>>(along))] = k;
            const auto found = hd::topk(x, k, along, call.flag("largest", true));
            return {reshaped(result(found.first), expected, shape), reshaped(result(found.second), expected, shape)};
          });
    });
  }
};

}  // namespace

void add_scan_sort(Registry& registry) {
  serve(registry, {"CumSum", "cumsum"},
        scan<Types<float, double, I32, U8>>([](const auto& x, auto... how) { return hd::cumsum(x, how...); }));
  serve(registry, {"CumProd", "cumprod"},
        scan<Types<float, double, I32, I64>>([](const auto& x, auto... how) { return hd::cumprod(x, how...); }));
  serve_gradient(registry, "cumsum", CumSumGradient{});
  serve(registry, "cummax",
        extremes<Types<float, double, U8>>([](const auto& x) { return hd::cummax(x, hd::axis<1>); }));
  serve(registry, "cummin", extremes<Types<U8, bool>>([](const auto& x) { return hd::cummin(x, hd::axis<1>); }));
  serve(registry, "logcumsumexp", LogCumSumExp{});
  serve(registry, "sort", Sort<false>{});
  serve(registry, "argsort", Sort<true>{});
  serve(registry, {"TopK", "topk"}, TopK{});
}

}  // namespace conformance
