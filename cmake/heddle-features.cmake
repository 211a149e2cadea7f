# What heddle::heddle gains from what the consuming project has: the CUDA runtime, and targets for the optional
# libraries. Read both by Heddle's own CMakeLists.txt (add_subdirectory, FetchContent) and by the installed package.
#
# Nothing here reads or sets architectures, and nothing adds a flag but the language's standard.
include_guard(DIRECTORY)

# Gives `target` the CUDA runtime: its headers, HEDDLE_HAS_CUDA=1, and for each program that links it the kind of
# runtime that the program's own CUDA_RUNTIME_LIBRARY names, so that no program ends up with two.
function(heddle_link_cuda target)
  get_target_property(linked ${target} HEDDLE_CUDA_LINKED)
  if(linked)
    return()
  endif()
  set(CMAKE_FIND_PACKAGE_TARGETS_GLOBAL ON)
  find_package(CUDAToolkit QUIET)
  if(NOT CUDAToolkit_FOUND)
    set(heddle_cuda_FOUND FALSE PARENT_SCOPE)
    return()
  endif()

  get_property(languages GLOBAL PROPERTY ENABLED_LANGUAGES)
  set(default "STATIC")
  if("CUDA" IN_LIST languages)
    if("cuda_std_20" IN_LIST CMAKE_CUDA_COMPILE_FEATURES)
      set_property(TARGET ${target} APPEND PROPERTY INTERFACE_COMPILE_FEATURES "$<BUILD_INTERFACE:cuda_std_20>")
    else()
      # CMake 3.25.1 doesn't know that nvcc has C++20: what the feature would have added.
      set_property(TARGET ${target} APPEND PROPERTY INTERFACE_COMPILE_OPTIONS
                   "$<BUILD_INTERFACE:$<$<COMPILE_LANG_AND_ID:CUDA,NVIDIA>:-std=c++20>>")
    endif()
    if(CMAKE_CUDA_RUNTIME_LIBRARY_DEFAULT)
      set(default "${CMAKE_CUDA_RUNTIME_LIBRARY_DEFAULT}")
    endif()
  endif()
  set(kind "$<UPPER_CASE:$<GENEX_EVAL:$<TARGET_PROPERTY:CUDA_RUNTIME_LIBRARY>>>")
  set(kind "$<IF:$<STREQUAL:${kind},>,${default},${kind}>")
  set(runtime "$<$<STREQUAL:${kind},SHARED>:CUDA::cudart>$<$<STREQUAL:${kind},STATIC>:CUDA::cudart_static>")
  set_property(TARGET ${target} APPEND PROPERTY INTERFACE_COMPILE_DEFINITIONS "$<BUILD_INTERFACE:HEDDLE_HAS_CUDA=1>")
  set_property(TARGET ${target} APPEND PROPERTY INTERFACE_LINK_LIBRARIES
               "$<BUILD_INTERFACE:CUDA::toolkit>" "$<BUILD_INTERFACE:${runtime}>")
  set_property(TARGET ${target} PROPERTY HEDDLE_CUDA_LINKED TRUE)
endfunction()

# Links CUDA where the project has CUDA as a language, however late it enabled it.
function(heddle_link_cuda_if_enabled target)
  get_property(languages GLOBAL PROPERTY ENABLED_LANGUAGES)
  if("CUDA" IN_LIST languages AND NOT "${HEDDLE_CUDA}" STREQUAL "OFF")
    heddle_link_cuda(${target})
  endif()
endfunction()

# The target heddle::<name> of one optional library: its definition, the policy if one was configured, the library.
function(heddle_add_library_target name scope)
  string(TOUPPER ${name} upper)
  add_library(heddle::${name} INTERFACE IMPORTED ${scope})
  set(definitions HEDDLE_HAS_${upper}=1)
  if(HEDDLE_${upper})
    list(APPEND definitions HEDDLE_${upper}=${HEDDLE_${upper}})
  elseif(DEFINED HEDDLE_${upper})
    list(APPEND definitions HEDDLE_${upper}=OFF)
  endif()
  set_target_properties(heddle::${name} PROPERTIES
    INTERFACE_COMPILE_DEFINITIONS "${definitions}"
    INTERFACE_LINK_LIBRARIES "heddle::heddle;${ARGN}")
endfunction()

# heddle_add_features(<target of the headers> <GLOBAL or nothing> <required components>...)
# Sets heddle_<component>_FOUND for cuda, cublas, cudnn, cblas and openmp in the caller's scope.
macro(heddle_add_features target scope)
  heddle_find_features(${target} "${scope}" "${ARGN}")
  if("${scope}" STREQUAL "GLOBAL")
    cmake_language(DEFER DIRECTORY "${CMAKE_SOURCE_DIR}" CALL heddle_link_cuda_if_enabled ${target})
  else()
    cmake_language(DEFER CALL heddle_link_cuda_if_enabled ${target})
  endif()
endmacro()

function(heddle_find_features target scope components)
  string(REPLACE "GLOBAL" "ON" CMAKE_FIND_PACKAGE_TARGETS_GLOBAL "${scope}")
  if("cuda" IN_LIST components OR "cublas" IN_LIST components OR "cudnn" IN_LIST components)
    heddle_link_cuda(${target})
  else()
    heddle_link_cuda_if_enabled(${target})
  endif()
  get_target_property(has_cuda ${target} HEDDLE_CUDA_LINKED)

  if(has_cuda)
    set(heddle_cuda_FOUND TRUE PARENT_SCOPE)
    find_package(CUDAToolkit QUIET)
    if(TARGET CUDA::cublas AND NOT TARGET heddle::cublas)
      heddle_add_library_target(cublas "${scope}" CUDA::cublas CUDA::cublasLt)
    endif()
    find_path(HEDDLE_CUDNN_INCLUDE_DIR cudnn.h HINTS ${CUDAToolkit_INCLUDE_DIRS} ENV CUDNN_ROOT PATH_SUFFIXES include)
    find_library(HEDDLE_CUDNN_LIBRARY cudnn HINTS "${CUDAToolkit_LIBRARY_DIR}" ENV CUDNN_ROOT
                 PATH_SUFFIXES lib lib64)
    mark_as_advanced(HEDDLE_CUDNN_INCLUDE_DIR HEDDLE_CUDNN_LIBRARY)
    if(HEDDLE_CUDNN_INCLUDE_DIR AND HEDDLE_CUDNN_LIBRARY AND NOT TARGET heddle::cudnn)
      heddle_add_library_target(cudnn "${scope}" "${HEDDLE_CUDNN_LIBRARY}")
      set_target_properties(heddle::cudnn PROPERTIES INTERFACE_INCLUDE_DIRECTORIES "${HEDDLE_CUDNN_INCLUDE_DIR}")
    endif()
  endif()

  find_path(HEDDLE_CBLAS_INCLUDE_DIR cblas.h PATH_SUFFIXES openblas blis)
  find_library(HEDDLE_CBLAS_LIBRARY NAMES openblas blis cblas blas)
  mark_as_advanced(HEDDLE_CBLAS_INCLUDE_DIR HEDDLE_CBLAS_LIBRARY)
  if(HEDDLE_CBLAS_INCLUDE_DIR AND HEDDLE_CBLAS_LIBRARY AND NOT TARGET heddle::cblas)
    heddle_add_library_target(cblas "${scope}" "${HEDDLE_CBLAS_LIBRARY}")
    set_target_properties(heddle::cblas PROPERTIES INTERFACE_INCLUDE_DIRECTORIES "${HEDDLE_CBLAS_INCLUDE_DIR}")
  endif()

  if(CMAKE_CXX_COMPILER_LOADED)
    find_package(OpenMP QUIET COMPONENTS CXX)
  endif()
  if(TARGET OpenMP::OpenMP_CXX AND NOT TARGET heddle::openmp)
    heddle_add_library_target(openmp "${scope}" OpenMP::OpenMP_CXX)
  endif()

  foreach(name IN ITEMS cublas cudnn cblas openmp)
    if(TARGET heddle::${name})
      set(heddle_${name}_FOUND TRUE PARENT_SCOPE)
    endif()
  endforeach()
endfunction()
