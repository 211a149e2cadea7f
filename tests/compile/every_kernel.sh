#!/usr/bin/env bash
# Compiles every_kernel.cu for all architectures that Heddle supports, and fails where a kernel spills registers.
#
#   tests/compile/every_kernel.sh [ARCHITECTURE...]      default: 75 80 86 89 90a 100 120
set -u
here=$(cd "$(dirname "$0")" && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
nvcc=$(command -v nvcc || ls "${CUDA_HOME:-/usr/local/cuda}/bin/nvcc" 2> /dev/null) || { echo "no nvcc" >&2; exit 1; }
architectures=("$@")
if [ $# -eq 0 ]; then architectures=(75 80 86 89 90a 100 120); fi

codes=()
for architecture in "${architectures[@]}"; do
  codes+=(-gencode "arch=compute_$architecture,code=sm_$architecture")
done
log=$scratch/log
if ! "$nvcc" -std=c++20 -I"$here/../../include" -Werror all-warnings -t "$(nproc)" "${codes[@]}" \
  -Xptxas -v,-warn-spills -c "$here/every_kernel.cu" -o "$scratch/every_kernel.o" > "$log" 2>&1; then
  grep -v '^ptxas info' "$log" | head -n 60
  exit 1
fi
kernels=$(grep -c 'Compiling entry function' "$log")
spills=$(grep -cE 'bytes spill stores' "$log")
spilling=$(grep -E 'bytes spill stores' "$log" | grep -cvE ' 0 bytes spill stores')
echo "every kernel: $kernels compiled for ${architectures[*]}, $spilling of them spill"
if [ "$kernels" -eq 0 ] || [ "$spills" -eq 0 ]; then
  echo "ptxas did not report its kernels" >&2
  exit 1
fi
if [ "$spilling" -gt 0 ]; then
  grep -B 2 -E 'bytes spill stores' "$log" | grep -vE ' 0 bytes spill stores' | head -n 40
  exit 1
fi
