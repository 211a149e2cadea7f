// Softmax LogSoftmax
#include "conformance/operators/along_axis.hpp"
#include "conformance/operators/families.hpp"

namespace conformance {
namespace {

template <class F>
struct RowWise {
  template <class Device>
  Outputs operator()(const Call& call, Device device) const {
    const Array& array = call.input(0);
    const auto computed = [&](const auto& x, auto axis) -> Outputs {
      return {reshaped(result(F{}(x, axis)), extents_of(x), array.shape)};
    };
    return with_type(Floats{}, array.type, [&](auto type) {
      return along_axis<type_of<decltype(type)>>(call, array, plan_rows(call), device, computed);
    });
  }
};
template <class F>
RowWise<F> row_wise(F) {
  return {};
}

}  // namespace

void add_softmax(Registry& registry) {
  serve(registry, "Softmax", row_wise([](const auto& x, auto axis) { return hd::softmax(x, axis); }));
  serve(registry, "LogSoftmax", row_wise([](const auto& x, auto axis) { return hd::log_softmax(x, axis); }));
}

}  // namespace conformance
