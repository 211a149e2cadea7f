#include <heddle/heddle.hpp>

namespace hd = heddle;

float @name @_sum() {
  return hd::with_device(hd::best_device(),
                         [](auto device) { return hd::sum(hd::ones<float>({1000}, device)).item(); });
}

// An exception of this library is caught by type in the program.
void @name @_throw() { throw hd::ShapeError(hd::Message{} << "thrown in @name@"); }
