// Every operation on the CPU; headers.sh compiles it with the warnings that a careful project has on.
#include "every_operation.hpp"

void every_operation_on_the_cpu() {
  every_operation::main_types(heddle::Cpu{});
  every_operation::further_types(heddle::Cpu{});
}
