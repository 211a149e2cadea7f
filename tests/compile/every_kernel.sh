#!/usr/bin/env bash
# Compiles every_kernel.cu for all architectures that Heddle supports, and fails where a kernel spills more than `allowed`
# bytes of registers: the large matrix products with several epilogue operands are held to 128 registers for two blocks
# a multiprocessor and spill up to 16, in their epilogue; they are listed.
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
if ! "$nvcc" -std=c++20 -I"$here/../../include" -t "$(nproc)" "${codes[@]}" -Xptxas -v,-warn-spills \
  -c "$here/every_kernel.cu" -o "$scratch/every_kernel.o" > "$log" 2>&1; then
  grep -vE '^ptxas info|bytes stack frame' "$log" | head -n 60
  exit 1
fi

# One line a kernel: architecture, bytes spilled, name.
awk -F "'" '/Compiling entry function/ {name = $2; architecture = $4}
            /bytes stack frame.*bytes spill stores/ {split($0, field, /[, ]+/); print architecture, field[6], name}' "$log" > "$scratch/kernels"
kernels=$(wc -l < "$scratch/kernels")
allowed=16
spilling=$(awk '$2 > 0' "$scratch/kernels" | wc -l)
too_many=$(awk -v allowed=$allowed '$2 > allowed' "$scratch/kernels" | wc -l)
echo "every kernel: $kernels for ${architectures[*]}, $spilling of them spill"
if [ "$kernels" -eq 0 ]; then
  echo "ptxas did not report its kernels" >&2
  exit 1
fi
if [ "$spilling" -gt 0 ]; then
  awk '$2 > 0 {print $2 " bytes spilled for " $1 ": " $3}' "$scratch/kernels" | if command -v c++filt > /dev/null; then
    c++filt
  else
    cat
  fi | cut -c 1-600 | head -n 40
fi
[ "$too_many" -eq 0 ]
