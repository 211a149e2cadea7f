#!/usr/bin/env bash
# For the first minutes on a real GPU: builds tests and benchmarks for its architecture, runs the benchmarks, train_digits
# and ctest, each step under its own time limit, and goes on after a step that fails. The results are five files in one
# folder: summary.txt (a line a step), log.txt (all that the steps print), bench_cuda.json, bench_cpu.json, ctest.xml.
#
#   bench/device_check.sh [FOLDER]            FOLDER: where the results go (default: device_check_results)
#
# Environment:
#   HEDDLE_CHECK_SECONDS        the limit for all steps together (480); the limits of the steps grow and shrink with it
#   HEDDLE_CHECK_JOBS           how many compilers run at once (all processors)
#   HEDDLE_CHECK_BUILD          the build folder (build/device_check)
#   HEDDLE_CHECK_ARCHITECTURES  for CMake (native where nvidia-smi finds a GPU, else 80-virtual)
#   HEDDLE_CHECK_SOURCES        a folder with the sources of googletest, benchmark and zlib, in folders of these names, for
#                               a machine that has neither the packages nor a network (.dependencies, if there)
#   HEDDLE_CHECK_TARGETS        what to build after the benchmarks (all)
#   HEDDLE_CHECK_TESTS          a regular expression of ctest's (all CUDA tests)
#   HEDDLE_CHECK_STEPS          how many steps train_digits takes (670: ten epochs)
#   HEDDLE_TEST_LAUNCHER        a command that runs CUDA programs, as for ctest
#   HEDDLE_BENCH_SMALL=1        sizes for a rehearsal without a GPU
set -u
cd "$(dirname "$0")/.." || exit 1

out=${1:-device_check_results}
mkdir -p "$out" || exit 1
out=$(cd "$out" && pwd)
build=${HEDDLE_CHECK_BUILD:-build/device_check}
jobs=${HEDDLE_CHECK_JOBS:-$(nproc)}
seconds=${HEDDLE_CHECK_SECONDS:-480}
deadline=$((SECONDS + seconds))
read -r -a launcher <<< "${HEDDLE_TEST_LAUNCHER:-}"
sources=${HEDDLE_CHECK_SOURCES:-.dependencies}
failed=0
: > "$out/summary.txt"
: > "$out/log.txt"

if [ -n "${HEDDLE_CHECK_ARCHITECTURES:-}" ]; then
  architectures=$HEDDLE_CHECK_ARCHITECTURES
elif nvidia-smi -L > /dev/null 2>&1; then
  architectures=native
else
  architectures=80-virtual
fi
if command -v ninja > /dev/null; then
  generator=Ninja go_on=(-k 0)
else
  generator='Unix Makefiles' go_on=(-k)
fi
if ! command -v nvcc > /dev/null && [ -x "${CUDA_HOME:-/usr/local/cuda}/bin/nvcc" ]; then
  export PATH=${CUDA_HOME:-/usr/local/cuda}/bin:$PATH
fi

# step NAME SECONDS COMMAND…: runs it within its limit and within what is left of the whole.
step() {
  local name=$1 limit=$(($2 * seconds / 480 + 1)) left status started=$SECONDS
  shift 2
  left=$((deadline - SECONDS))
  if [ "$left" -le 5 ]; then
    echo "$name: no time left" | tee -a "$out/summary.txt"
    failed=1
    return 1
  fi
  [ "$limit" -gt "$left" ] && limit=$left
  printf '\n==== %s: %s\n' "$name" "$*" >> "$out/log.txt"
  timeout --kill-after=5 "$limit" "$@" > "$out/step.txt" 2>&1 < /dev/null
  status=$?
  cat "$out/step.txt" >> "$out/log.txt"
  case $status in
    0) echo "$name: ok, $((SECONDS - started)) s" ;;
    124 | 137) echo "$name: stopped at its limit of $limit s" ;;
    *) echo "$name: failed with status $status, $((SECONDS - started)) s" ;;
  esac | tee -a "$out/summary.txt"
  [ "$status" -eq 0 ] || { failed=1; tail -n 15 "$out/step.txt"; }
  rm -f "$out/step.txt"
  return "$status"
}

# run NAME SECONDS PROGRAM ARGUMENT…: a step that runs what the build has made.
run() {
  local name=$1 limit=$2 path
  path=$(find "$build" -name "$3" -type f -perm -u+x 2> /dev/null | head -n 1)
  shift 3
  if [ -z "$path" ]; then
    echo "$name: not built" | tee -a "$out/summary.txt"
    failed=1
    return
  fi
  step "$name" "$limit" "${on_device[@]}" "$path" "$@"
}

options=(-G "$generator" -DCMAKE_BUILD_TYPE=Release '-DCMAKE_CXX_FLAGS_RELEASE=-O2 -DNDEBUG' '-DCMAKE_CUDA_FLAGS_RELEASE=-O2 -DNDEBUG'
  -DHEDDLE_CUDA=ON -DHEDDLE_BUILD_BENCHMARKS=ON "-DCMAKE_CUDA_ARCHITECTURES=$architectures"
  "-DHEDDLE_TEST_LAUNCHER=${HEDDLE_TEST_LAUNCHER:-}")
for name in googletest benchmark zlib; do
  if [ -e "$sources/$name/CMakeLists.txt" ]; then
    options+=("-DFETCHCONTENT_SOURCE_DIR_${name^^}=$(cd "$sources/$name" && pwd)")
  fi
done

step machine 20 sh -c 'date -u; uname -a; nproc; g++ --version; cmake --version; git rev-parse HEAD; nvcc --version; nvidia-smi || echo "no nvidia-smi"'
# Without GoogleTest and zlib there are still the benchmarks.
step configure 60 cmake -S . -B "$build" "${options[@]}" -DHEDDLE_BUILD_TESTS=ON -DHEDDLE_BUILD_EXAMPLES=ON ||
  step configure_benchmarks 60 cmake -S . -B "$build" --fresh "${options[@]}" -DHEDDLE_BUILD_TESTS=OFF -DHEDDLE_BUILD_EXAMPLES=OFF
# Together, since each is one long compilation.
step build_programs 200 cmake --build "$build" --parallel "$jobs" --target operations device_info train_digits -- "${go_on[@]}"
on_device=("${launcher[@]}")
run bench_cuda 90 operations --benchmark_filter='^cuda' --benchmark_min_time=0.05 \
  "--benchmark_out=$out/bench_cuda.json" --benchmark_out_format=json
run device_info 20 device_info
run train_digits 40 train_digits --device cuda --steps "${HEDDLE_CHECK_STEPS:-670}"
step build_tests 300 cmake --build "$build" --parallel "$jobs" --target ${HEDDLE_CHECK_TARGETS:-all} -- "${go_on[@]}"
step ctest 150 ctest --test-dir "$build" -L cuda -R "${HEDDLE_CHECK_TESTS:-.}" --output-on-failure --parallel 4 --timeout 60 \
  --output-junit "$out/ctest.xml"
on_device=()
run bench_cpu 60 operations --benchmark_filter='^cpu' --benchmark_min_time=0.05 "--benchmark_out=$out/bench_cpu.json" \
  --benchmark_out_format=json
echo "results: $out"
exit $failed
