// expect: Heddle reports errors by exceptions
// flags: -fno-exceptions -fno-rtti
#include <heddle/config.hpp>
