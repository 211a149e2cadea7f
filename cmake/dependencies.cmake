# What Heddle's own programs need: the installed package if there is one, else its sources.
include(FetchContent)
set(FETCHCONTENT_QUIET ON)

macro(heddle_find_googletest)
  find_package(GTest QUIET)
  if(NOT TARGET GTest::gtest)
    message(STATUS "Heddle: GoogleTest is not installed, fetching it")
    set(INSTALL_GTEST OFF)
    FetchContent_Declare(googletest SYSTEM
      URL https://github.com/google/googletest/archive/refs/tags/v1.14.0.tar.gz
      URL_HASH SHA256=8ad598c73ad796e0d8280b082cebd82a630d73e73cd3c70057938a6501bba5d7)
    FetchContent_MakeAvailable(googletest)
  endif()
endmacro()

macro(heddle_find_benchmark)
  find_package(benchmark QUIET)
  if(NOT TARGET benchmark::benchmark)
    message(STATUS "Heddle: Google Benchmark is not installed, fetching it")
    set(BENCHMARK_ENABLE_TESTING OFF)
    set(BENCHMARK_ENABLE_INSTALL OFF)
    FetchContent_Declare(benchmark SYSTEM
      URL https://github.com/google/benchmark/archive/refs/tags/v1.8.3.tar.gz
      URL_HASH SHA256=6bc180a57d23d4d9515519f92b0c83d61b05b5bab188961f36ac7b06b0d9e9ce)
    FetchContent_MakeAvailable(benchmark)
  endif()
endmacro()

macro(heddle_find_zlib)
  find_package(ZLIB QUIET)
  if(NOT TARGET ZLIB::ZLIB)
    message(STATUS "Heddle: zlib is not installed, fetching it")
    set(ZLIB_BUILD_EXAMPLES OFF)
    set(SKIP_INSTALL_ALL ON)
    FetchContent_Declare(zlib SYSTEM
      URL https://github.com/madler/zlib/archive/refs/tags/v1.3.1.tar.gz
      URL_HASH SHA256=17e88863f3600672ab49182f217281b6fc4d3c762bde361935e436a95214d05c)
    FetchContent_MakeAvailable(zlib)
    target_include_directories(zlibstatic SYSTEM INTERFACE "${zlib_SOURCE_DIR}" "${zlib_BINARY_DIR}")
    add_library(ZLIB::ZLIB ALIAS zlibstatic)
  endif()
endmacro()
