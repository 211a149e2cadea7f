#!/usr/bin/env bash
# R201, R206: compiles every header of include/heddle alone, each included twice, without a warning; and by the C++ compilers
# every_operation.cpp, which instantiates what the headers only define.
#
#   tests/compile/headers.sh COMPILER [COMPILER...]     COMPILER: a C++ compiler, or nvcc
#
# A C++ compiler does it without CUDA and, where the toolkit's headers are found, with it. HEADERS="core/shape.hpp ..."
# limits the run to some headers, JOBS sets how many compile at once.
set -u
root=$(cd "$(dirname "$0")/../.." && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
jobs=${JOBS:-$(nproc)}
warnings="-Wall -Wextra -Wpedantic -Wconversion -Wsign-conversion -Wshadow -Werror"

if [ -n "${HEADERS:-}" ]; then
  headers=$(printf '%s\n' $HEADERS)
else
  headers=$(cd "$root/include/heddle" && find . \( -name '*.hpp' -o -name '*.cuh' \) | sed 's|^\./||' | LC_ALL=C sort)
fi
[ -n "$headers" ] || { echo "no headers in $root/include/heddle" >&2; exit 1; }

nvcc=$(command -v nvcc || ls "${CUDA_HOME:-/usr/local/cuda}/bin/nvcc" 2> /dev/null)
toolkit=
if [ -n "$nvcc" ]; then toolkit=$(dirname "$(dirname "$(readlink -f "$nvcc")")")/include; fi

# one <name of the kind> <command...> -- <header>: compiles, and leaves what the compiler said in a file on failure.
one() {
  local kind=$1 header=$2 source
  shift 2
  source=$scratch/$kind/${header//\//_}.${kind##*.}
  printf '#include <heddle/%s>\n#include <heddle/%s>\n' "$header" "$header" > "$source"
  if ! "$@" "$source" > "$source.log" 2>&1; then
    { echo "--- $header by $kind"; head -n 30 "$source.log"; } > "$source.failed"
  fi
}
export -f one
export scratch

failed=0
# all <kind, ending in .cpp or .cu> <headers> <command...>
all() {
  local kind=$1 list=$2 start=$SECONDS
  shift 2
  mkdir -p "$scratch/$kind"
  printf '%s\n' "$list" | xargs -P "$jobs" -I{} bash -c 'one "$@"' one "$kind" {} "$@"
  local count bad
  count=$(printf '%s\n' "$list" | wc -l)
  bad=$(find "$scratch/$kind" -name '*.failed' | wc -l)
  echo "$kind: $((count - bad)) of $count headers compile alone ($((SECONDS - start)) s)"
  if [ "$bad" -gt 0 ]; then cat "$scratch/$kind"/*.failed; failed=1; fi
}

# operations <kind> <command...>
operations() {
  local kind=$1 start=$SECONDS
  shift
  if "$@" "$root/tests/compile/every_operation.cpp" > "$scratch/log" 2>&1; then
    echo "$kind: every operation compiles ($((SECONDS - start)) s)"
  else
    echo "--- every operation by $kind"
    head -n 60 "$scratch/log"
    failed=1
  fi
}

plain=$(printf '%s\n' "$headers" | grep -v '\.cuh$')
for compiler in "$@"; do
  case $(basename "$compiler") in
    nvcc*)
      # PTX of one architecture: the headers are what is tested, not ptxas.
      all "nvcc.cu" "$headers" "$compiler" -std=c++20 -I"$root/include" -Werror all-warnings \
        -gencode arch=compute_80,code=compute_80 -c -o /dev/null
      ;;
    *)
      name=$(basename "$compiler")
      command=("$compiler" -std=c++20 -fsyntax-only $warnings -I"$root/include")
      all "$name.cpp" "$plain" "${command[@]}"
      if [ -z "${HEADERS:-}" ]; then operations "$name" "${command[@]}"; fi
      if [ -n "$toolkit" ]; then
        all "$name-with-cuda.cpp" "$plain" "${command[@]}" -DHEDDLE_HAS_CUDA=1 -isystem "$toolkit"
      fi
      ;;
  esac
done
exit $failed
