#include <every_header.hpp>

int second() { return 2; }
