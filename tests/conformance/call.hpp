// What an operator's handler gets and gives. Neither <string> nor <map> here: the operator files are compiled by nvcc.
#pragma once

#include <cstdint>
#include <vector>

#include "conformance/array.hpp"

namespace conformance {

struct CallParts;

/// How operands lie in memory. The cases know packed ones only; the others must give the same results.
enum class Layout { packed, transposed, strided };

/// One operator with its inputs and attributes. Reading what isn't there, or isn't what it should be, throws BadCase.
class Call {
 public:
  explicit Call(const CallParts& parts) : parts_(&parts) {}

  int opset() const;        ///< a large number where the case names none
  bool is_pytorch() const;  ///< attributes have PyTorch's names, meaning and defaults
  Layout layout() const;

  int input_count() const;
  bool has_input(int position) const;
  const Array& input(int position) const;
  int output_count() const;
  const Array& cotangent(int output) const;  ///< of gradient functions: the gradient with respect to that output

  bool has(const char* attribute) const;
  std::int64_t integer(const char* attribute, std::int64_t fallback) const;
  double number(const char* attribute, double fallback) const;
  bool flag(const char* attribute, bool fallback) const { return integer(attribute, fallback ? 1 : 0) != 0; }
  std::vector<std::int64_t> integers(const char* attribute) const;
  bool text_is(const char* attribute, const char* text) const;  ///< false where there is none
  const Array& tensor(const char* attribute) const;
  ElementType element_type(const char* attribute) const;

 private:
  const CallParts* parts_;
};

using Outputs = std::vector<Array>;

/// Stands among the outputs of a gradient function for the gradient of an input that it doesn't give.
inline Array no_gradient() { return {ElementType::float32, {-1}, {}}; }

/// What a handler throws where Heddle has no such call, or its types refuse it.
struct NotServed {
  const char* why;
};

/// The integers in an array of any integer type, as "axes" and "shape" inputs hold them.
std::vector<std::int64_t> integers_of(const Array& array);

/// An axis counted from the front; throws BadCase where it is out of range.
int front_axis(std::int64_t axis, int rank);

}  // namespace conformance
