#!/usr/bin/env bash
# For the first minutes on a real GPU: builds tests and benchmarks for its architecture, runs ctest, then the benchmarks, each
# step under its own time limit, and goes on after a step that fails. Everything goes as text and JSON into one folder.
#
#   bench/device_check.sh [FOLDER]            FOLDER: where the results go (default: device_check_results)
#
# Environment: HEDDLE_CHECK_SECONDS (480: the limit for all steps together), HEDDLE_CHECK_JOBS (all processors),
# HEDDLE_CHECK_BUILD (the build folder; default: FOLDER.build), HEDDLE_CHECK_ARCHITECTURES (default: native where nvidia-smi
# finds a GPU, else 80-virtual), HEDDLE_TEST_LAUNCHER (a command that runs CUDA programs, as for ctest),
# HEDDLE_CHECK_TARGETS (default: all), HEDDLE_CHECK_TESTS (a regular expression of ctest's), HEDDLE_BENCH_SMALL=1 (sizes for a rehearsal without a GPU).
set -u
cd "$(dirname "$0")/.." || exit 1

out=${1:-device_check_results}
mkdir -p "$out" || exit 1
out=$(cd "$out" && pwd)
build=${HEDDLE_CHECK_BUILD:-$out.build}
jobs=${HEDDLE_CHECK_JOBS:-$(nproc)}
deadline=$((SECONDS + ${HEDDLE_CHECK_SECONDS:-480}))
launcher=${HEDDLE_TEST_LAUNCHER:-}
failed=0

if [ -n "${HEDDLE_CHECK_ARCHITECTURES:-}" ]; then
  architectures=$HEDDLE_CHECK_ARCHITECTURES
elif nvidia-smi -L > /dev/null 2>&1; then
  architectures=native
else
  architectures=80-virtual
fi

# step NAME SECONDS COMMAND…: runs it within its limit and within what is left of the whole.
step() {
  local name=$1 limit=$2 left status started=$SECONDS
  shift 2
  left=$((deadline - SECONDS))
  if [ "$left" -le 5 ]; then
    echo "$name: no time left" | tee -a "$out/summary.txt"
    failed=1
    return
  fi
  [ "$limit" -gt "$left" ] && limit=$left
  timeout --kill-after=5 "$limit" "$@" > "$out/$name.txt" 2>&1 < /dev/null
  status=$?
  case $status in
    0) echo "$name: ok, $((SECONDS - started)) s" ;;
    124 | 137) echo "$name: stopped at its limit of $limit s" ;;
    *) echo "$name: failed with status $status, $((SECONDS - started)) s" ;;
  esac | tee -a "$out/summary.txt"
  [ "$status" -eq 0 ] || { failed=1; tail -n 15 "$out/$name.txt"; }
}

: > "$out/summary.txt"
step machine 20 sh -c 'date -u; uname -a; nproc; nvidia-smi; nvcc --version; g++ --version; cmake --version; git rev-parse HEAD'
step configure 60 cmake -S . -B "$build" -DCMAKE_BUILD_TYPE=Release -DHEDDLE_CUDA=ON -DHEDDLE_BUILD_TESTS=ON -DHEDDLE_BUILD_EXAMPLES=ON \
  -DHEDDLE_BUILD_BENCHMARKS=ON "-DCMAKE_CUDA_ARCHITECTURES=$architectures" "-DHEDDLE_TEST_LAUNCHER=$launcher"
step build_bench 200 cmake --build "$build" --parallel "$jobs" --target operations device_info
# shellcheck disable=SC2086: the launcher is a command with arguments.
step device_info 20 $launcher "$(find "$build" -name device_info -type f -perm -u+x | head -n 1)"
operations=$(find "$build" -name operations -type f -perm -u+x | head -n 1)
# shellcheck disable=SC2086
step bench_cuda 90 $launcher "$operations" --benchmark_filter='^cuda' --benchmark_min_time=0.05 "--benchmark_out=$out/bench_cuda.json" \
  --benchmark_out_format=json
step build_tests 300 cmake --build "$build" --parallel "$jobs" --target ${HEDDLE_CHECK_TARGETS:-all}
step ctest 150 ctest --test-dir "$build" -L cuda -R "${HEDDLE_CHECK_TESTS:-.}" --output-on-failure --parallel 4 --timeout 60 \
  --output-junit "$out/ctest.xml"
step bench_cpu 60 "$operations" --benchmark_filter='^cpu' --benchmark_min_time=0.05 "--benchmark_out=$out/bench_cpu.json" \
  --benchmark_out_format=json
echo "results: $out"
exit $failed
