// expect: Heddle needs C++20
// compile: cpp cu
// flags: -std=c++17
// R213
#include <heddle/config.hpp>
