// An index out of range on a device is told by whichever synchronisation comes first, once.
#include <heddle/cuda/event.hpp>
#include <heddle/ops/index.hpp>

#include "harness/expect.hpp"

namespace {

namespace hd = heddle;
using namespace heddle_test;
using reference::list;

class IndexFault : public testing::Test {
 protected:
  /// Puts an operation with a bad index on the current stream.
  void put_bad_index(double bad = 7) { result_ = hd::gather<0>(table_, to_tensor<std::int64_t, 1>(list({1, bad, 0}))); }
  template <class F>
  void expect_fault(F wait) {
    EXPECT_TRUE(mentions(message_of<hd::DeviceError>(wait), {"gather on cuda:0", "index 7", "axis 0", "extent 3"}));
    EXPECT_NO_THROW(wait()) << "it is told once";
  }
  TestTensor<float, 1> table_ = to_tensor<float, 1>(list({5, 6, 7}));
  TestTensor<float, 1> result_;
};

TEST_F(IndexFault, by_the_device) {
  put_bad_index();
  expect_fault([] { hd::cuda::synchronize(); });
}

TEST_F(IndexFault, by_a_stream) {
  const hd::cuda::Stream stream;
  hd::cuda::synchronize();
  {
    const hd::cuda::StreamGuard guard(stream);
    put_bad_index();
  }
  expect_fault([&] { stream.synchronize(); });
}

TEST_F(IndexFault, by_an_event) {
  hd::cuda::Event event;
  put_bad_index();
  event.record();
  expect_fault([&] { event.synchronize(); });
}

TEST_F(IndexFault, by_a_copy_and_by_an_element) {
  put_bad_index();
  expect_fault([&] { (void)result_.to(hd::cpu); });
  put_bad_index();
  expect_fault([&] { (void)result_(1).item(); });
  put_bad_index();
  expect_fault([&] { (void)result_.to_vector(); });
}

TEST_F(IndexFault, one_of_several_is_told) {
  const auto seven = to_tensor<int, 1>(list({7})), nine = to_tensor<int, 1>(list({9}));
  const hd::Tensor first = hd::gather<0>(table_, seven);
  const hd::Tensor second = hd::gather<0>(table_, nine);
  EXPECT_THROW(hd::cuda::synchronize(), hd::DeviceError);
  EXPECT_NO_THROW(hd::cuda::synchronize());
}

TEST_F(IndexFault, leaves_the_device_usable) {
  put_bad_index();
  EXPECT_THROW(hd::cuda::synchronize(), hd::DeviceError);
  const Array got = to_array(result_);
  EXPECT_TRUE(equal(got, list({6, 0, 5})));
  EXPECT_TRUE(equal(value_of(hd::gather<0>(table_, to_tensor<int, 1>(list({2, 2})))), list({7, 7})));
}

}  // namespace
