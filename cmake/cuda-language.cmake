# Enables the CUDA language for Heddle's own tests, examples and benchmarks, where it is wanted and works.
if(NOT HEDDLE_CUDA MATCHES "^(AUTO|ON|OFF)$")
  message(FATAL_ERROR "HEDDLE_CUDA is AUTO, ON or OFF, not '${HEDDLE_CUDA}'")
endif()
if(HEDDLE_CUDA STREQUAL "OFF")
  return()
endif()

# nvcc is often installed without being on the PATH.
if(NOT DEFINED CMAKE_CUDA_COMPILER AND "$ENV{CUDACXX}" STREQUAL "")
  find_program(HEDDLE_NVCC nvcc PATHS "$ENV{CUDA_HOME}/bin" "$ENV{CUDA_PATH}/bin" /usr/local/cuda/bin /opt/cuda/bin)
  mark_as_advanced(HEDDLE_NVCC)
  if(HEDDLE_NVCC)
    set(ENV{CUDACXX} "${HEDDLE_NVCC}")
  endif()
endif()

include(CheckLanguage)
check_language(CUDA)
if(NOT CMAKE_CUDA_COMPILER)
  if(HEDDLE_CUDA STREQUAL "ON")
    message(FATAL_ERROR "HEDDLE_CUDA is ON, but no CUDA compiler works here. Set CUDACXX to the path of nvcc, "
                        "or HEDDLE_CUDA to OFF. CMakeFiles/CMakeError.log says what was tried.")
  endif()
  message(STATUS "Heddle: no CUDA compiler, building for the CPU only")
  return()
endif()

# The architectures of this machine's GPUs; without one, PTX that any newer GPU can run.
if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES AND "$ENV{CUDAARCHS}" STREQUAL "")
  set(heddle_architectures)
  find_program(HEDDLE_NVIDIA_SMI nvidia-smi)
  mark_as_advanced(HEDDLE_NVIDIA_SMI)
  if(HEDDLE_NVIDIA_SMI)
    execute_process(COMMAND "${HEDDLE_NVIDIA_SMI}" --query-gpu=compute_cap --format=csv,noheader
                    OUTPUT_VARIABLE heddle_capabilities ERROR_QUIET TIMEOUT 20)
    string(REGEX MATCHALL "[0-9]+\\.[0-9]" heddle_capabilities "${heddle_capabilities}")
    foreach(capability IN LISTS heddle_capabilities)
      string(REPLACE "." "" capability "${capability}")
      if(capability STREQUAL "90")
        set(capability 90a) # wgmma and TMA
      endif()
      list(APPEND heddle_architectures ${capability})
    endforeach()
    list(REMOVE_DUPLICATES heddle_architectures)
  endif()
  if(NOT heddle_architectures)
    set(heddle_architectures 80-virtual)
  endif()
  set(CMAKE_CUDA_ARCHITECTURES "${heddle_architectures}" CACHE STRING "Architectures of Heddle's own programs")
endif()

# Shared, so that another libcudart (a GPU emulator, a test's own) can take its place when a program starts.
set(CMAKE_CUDA_RUNTIME_LIBRARY Shared CACHE STRING "CUDA runtime of Heddle's own programs")
enable_language(CUDA)
message(STATUS "Heddle: CUDA ${CMAKE_CUDA_COMPILER_VERSION} for architectures ${CMAKE_CUDA_ARCHITECTURES}")
