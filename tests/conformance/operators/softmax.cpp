// Softmax LogSoftmax; softmin glu
#include "heddle/ops/softmax.hpp"
#include "conformance/operators/along_axis.hpp"
#include "conformance/operators/families.hpp"
#include "heddle/ops/arithmetic.hpp"

namespace conformance {
namespace {

template <class F, class TypeList>
struct RowWise {
  template <class Device>
  Outputs operator()(const Call& call, Device device) const {
    const Array& array = call.input(0);
    const auto computed = [&](const auto& x, auto axis) -> Outputs {
      using T = typename std::remove_cvref_t<decltype(x)>::value_type;
      if (call.has("dtype") && call.element_type("dtype") != element_type_v<T>) {
        if (call.element_type("dtype") != ElementType::float64) throw NotServed{"not for this dtype"};
        return {reshaped(result(F{}(hd::cast<double>(x), axis)), extents_of(x), array.shape)};
      }
      if constexpr (std::is_floating_point_v<T>)
        return {reshaped(result(F{}(x, axis)), extents_of(x), array.shape)};
      else
        throw NotServed{"not without a dtype"};
    };
    return with_type(TypeList{}, array.type, [&](auto type) {
      return along_axis<type_of<decltype(type)>>(call, array, plan_rows(call), device, computed);
    });
  }
};
template <class TypeList = Reals, class F>
RowWise<F, TypeList> row_wise(F) {
  return {};
}

/// f(dy, x, axis) of operands and gradients of one type.
template <class F>
struct RowWiseGradient {
  template <class Device>
  Outputs operator()(const Call& call, Device device) const {
    const Array& array = call.input(0);
    return with_type(Reals{}, array.type, [&](auto type) {
      using T = type_of<decltype(type)>;
      return along_axis<T>(call, array, plan_rows(call), device, [&](const auto& x, auto axis) -> Outputs {
        constexpr int rank = std::remove_cvref_t<decltype(x)>::rank;
        const auto dy = tensor<T, rank>(call, call.cotangent(0), extents_of(x), device);
        return {reshaped(result(F{}(dy, x, axis)), extents_of(x), array.shape)};
      });
    });
  }
};
template <class F>
RowWiseGradient<F> row_wise_gradient(F) {
  return {};
}

}  // namespace

void add_softmax(Registry& registry) {
  serve(registry, {"Softmax", "softmax"}, row_wise([](const auto& x, auto axis) { return hd::softmax(x, axis); }));
  serve(registry, {"LogSoftmax", "log_softmax"},
        row_wise([](const auto& x, auto axis) { return hd::log_softmax(x, axis); }));
  serve(registry, "nn.functional.softmin",
        row_wise<Types<float, U8>>([](const auto& x, auto axis) { return hd::softmax(-x, axis); }));
  serve_gradient(registry, "softmax", row_wise_gradient([](const auto& dy, const auto& x, auto axis) {
                   return hd::softmax_grad(dy, hd::eval(hd::softmax(x, axis)), axis);
                 }));
  serve_gradient(registry, "nn.functional.softmin", row_wise_gradient([](const auto& dy, const auto& x, auto axis) {
                   return -hd::softmax_grad(dy, hd::eval(hd::softmax(-x, axis)), axis);
                 }));
  serve_gradient(registry, "log_softmax", row_wise_gradient([](const auto& dy, const auto& x, auto axis) {
                   return hd::log_softmax_grad(dy, hd::eval(hd::log_softmax(x, axis)), axis);
                 }));
}

}  // namespace conformance
