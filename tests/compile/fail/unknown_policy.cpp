// expect: HEDDLE_CUBLAS must be OFF, FALLBACK or PREFER
#ifdef HEDDLE_MISUSE
#define HEDDLE_CUBLAS SOMETIMES
#endif
#include <heddle/config.hpp>
