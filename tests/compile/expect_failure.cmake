# Compiles SOURCE, which must fail with the message that its first line names:
#
#   // expect: <text that the compiler's message contains> [|| <or this one, another compiler's words>]
#   // compile: cpp | cu | cpp cu     (default: by the file's name), or cpp_with_cuda: cpp where there is CUDA
#   // flags: <further flags>         (optional)
#
# Where the source tests HEDDLE_MISUSE, the file must compile once that macro is not defined: so the misuse alone is
# what the compiler refuses.
#
# Variables: SOURCE, LANGUAGE (cpp or cu), COMPILER, FLAGS, SCRATCH (a folder)
file(STRINGS "${SOURCE}" directives REGEX "^// (expect|flags): ")
set(expected)
set(own_flags)
foreach(directive IN LISTS directives)
  if(directive MATCHES "^// expect: (.*)$")
    list(APPEND expected "${CMAKE_MATCH_1}")
  elseif(directive MATCHES "^// flags: (.*)$")
    separate_arguments(own_flags UNIX_COMMAND "${CMAKE_MATCH_1}")
  endif()
endforeach()
if(NOT expected)
  message(FATAL_ERROR "${SOURCE} has no line '// expect: ...'")
endif()

separate_arguments(flags UNIX_COMMAND "${FLAGS}")
cmake_path(GET SOURCE STEM name)
file(MAKE_DIRECTORY "${SCRATCH}")
set(command "${COMPILER}" ${flags} ${own_flags})
if(LANGUAGE STREQUAL "cu")
  list(APPEND command -x cu -c -o "${SCRATCH}/${name}.o")
else()
  list(APPEND command -fsyntax-only)
endif()

file(READ "${SOURCE}" text)
if(text MATCHES "HEDDLE_MISUSE")
  execute_process(COMMAND ${command} "${SOURCE}" RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT result EQUAL 0)
    message(FATAL_ERROR "does not compile even without HEDDLE_MISUSE:\n${output}")
  endif()
endif()

execute_process(COMMAND ${command} -DHEDDLE_MISUSE "${SOURCE}"
                RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)
if(result EQUAL 0)
  message(FATAL_ERROR "compiles, but must be refused with: ${expected}")
endif()
foreach(line IN LISTS expected)
  string(REPLACE " || " ";" alternatives "${line}")
  set(found FALSE)
  foreach(text IN LISTS alternatives)
    string(FIND "${output}" "${text}" place)
    if(NOT place EQUAL -1)
      set(found TRUE)
    endif()
  endforeach()
  if(NOT found)
    message(FATAL_ERROR "the compiler's message lacks '${line}':\n${output}")
  endif()
endforeach()
