// expect: Heddle reports errors by exceptions
// flags: -fno-exceptions -fno-rtti
// R220
#include <heddle/config.hpp>
