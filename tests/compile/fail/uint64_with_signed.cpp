// expect: uint64 and a signed integer have no common type: cast<...> one of them
// compile: cpp cu
#include <heddle/core/dtype.hpp>

heddle::tensor_result_t<std::uint64_t, std::uint8_t> unsigned_pair = 1;
heddle::tensor_result_t<std::uint64_t, float> with_float = 1;
#ifdef HEDDLE_MISUSE
heddle::tensor_result_t<std::int8_t, std::uint64_t> mixed_pair = 1;
#endif
