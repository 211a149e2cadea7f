// Every kernel of the library, for the build on all architectures.
#include "every_operation.hpp"

void every_kernel() { every_operation::main_types(heddle::Cuda{}); }
