# Functions that make Heddle's own tests, examples and benchmarks.
include("${CMAKE_CURRENT_LIST_DIR}/dependencies.cmake")

set(HEDDLE_TEST_LAUNCHER "" CACHE STRING "A command that every CUDA test and example is started with")
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_CUDA_EXTENSIONS OFF)
separate_arguments(heddle_launcher UNIX_COMMAND "${HEDDLE_TEST_LAUNCHER}")
get_property(heddle_languages GLOBAL PROPERTY ENABLED_LANGUAGES)
set(heddle_has_cuda FALSE)
set(heddle_best_language) # of programs that compute on the best device
if("CUDA" IN_LIST heddle_languages)
  set(heddle_has_cuda TRUE)
  set(heddle_best_language CUDA)
endif()

add_library(heddle_warnings INTERFACE)
target_compile_options(heddle_warnings INTERFACE
  "$<$<COMPILE_LANGUAGE:CXX>:-Wall;-Wextra;-Wpedantic;-Wconversion;-Wshadow;-Werror>"
  "$<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wno-restrict>" # g++ 12 warns of its own std::string's operator+
  "$<$<COMPILE_LANGUAGE:CUDA>:-Werror=all-warnings>")

# Sets `variable` to a file through which `source` is compiled as CUDA. One source serves both languages this way;
# the LANGUAGE property of a file would hold for every target of its directory.
function(heddle_cuda_source variable source)
  set(base "${PROJECT_SOURCE_DIR}")
  cmake_path(IS_PREFIX PROJECT_BINARY_DIR "${source}" generated)
  if(generated)
    set(base "${PROJECT_BINARY_DIR}")
  endif()
  file(RELATIVE_PATH name "${base}" "${source}")
  string(REGEX REPLACE "\\.cpp$" ".cu" name "${name}")
  set(generated "${PROJECT_BINARY_DIR}/as_cuda/${name}")
  file(CONFIGURE OUTPUT "${generated}" CONTENT "#include \"${source}\"\n")
  set(${variable} "${generated}" PARENT_SCOPE)
endfunction()

# heddle_add_program(<target> [CUDA] SOURCES <file.cpp>... [HOST_SOURCES <file.cpp>...] [LIBRARIES <library>...])
# With CUDA, nvcc compiles the sources; the host sources are the C++ compiler's in any case.
function(heddle_add_program target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "CUDA" "" "SOURCES;HOST_SOURCES;LIBRARIES")
  set(sources ${arg_HOST_SOURCES})
  foreach(source IN LISTS arg_SOURCES)
    if(arg_CUDA)
      heddle_cuda_source(source "${source}")
    endif()
    list(APPEND sources "${source}")
  endforeach()
  add_executable(${target} ${sources})
  target_link_libraries(${target} PRIVATE heddle::heddle heddle_warnings ${arg_LIBRARIES})
endfunction()

# heddle_with_clusters(<target>): where code is PTX for an older architecture alone, adds PTX for one that has clusters
# of blocks, so that both ways of its kernels are there.
function(heddle_with_clusters target)
  if(CMAKE_CUDA_ARCHITECTURES MATCHES "^[78][0-9]-virtual$")
    set_target_properties(${target} PROPERTIES CUDA_ARCHITECTURES "${CMAKE_CUDA_ARCHITECTURES};90-virtual")
  endif()
endfunction()
