#include <every_header.hpp>

int first() { return 1; }
