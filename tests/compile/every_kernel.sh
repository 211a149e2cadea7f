#!/usr/bin/env bash
# Compiles every_kernel.cu for all architectures that Heddle supports, and fails where a kernel spills registers or keeps
# anything in local memory. Only maps may, where they call functions of the CUDA library: sin, cos and tan reduce great
# angles in an array, and formulas of many dear functions, of float too, spill up to 16 bytes; those are listed.
#
#   tests/compile/every_kernel.sh [ARCHITECTURE...]      default: 75 80 86 89 90a 100 120
set -u
here=$(cd "$(dirname "$0")" && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
nvcc=$(command -v nvcc || ls "${CUDA_HOME:-/usr/local/cuda}/bin/nvcc" 2> /dev/null) || { echo "no nvcc" >&2; exit 1; }
architectures=("$@")
if [ $# -eq 0 ]; then architectures=(75 80 86 89 90a 100 120); fi

# Heddle has the same source for all of a generation's architectures: their machine code is made of the same PTX. The
# host's code is other tests' matter.
codes=()
for architecture in "${architectures[@]}"; do
  case $architecture in
    86|89) generation=80 ;;
    120) generation=100 ;;
    *) generation=$architecture ;;
  esac
  codes+=(-gencode "arch=compute_$generation,code=sm_$architecture")
done
log=$scratch/log
if ! "$nvcc" -std=c++20 -I"$here/../../include" -t "$(nproc)" "${codes[@]}" -Xptxas -v,-warn-spills \
  -fatbin "$here/every_kernel.cu" -o "$scratch/every_kernel.fatbin" > "$log" 2>&1; then
  grep -vE '^ptxas info|bytes stack frame' "$log" | head -n 60
  exit 1
fi

# One line a kernel: architecture, bytes of its stack frame, bytes spilled, name.
awk -F "'" '/Compiling entry function/ {name = $2; architecture = $4}
            /bytes stack frame.*bytes spill stores/ {
              split($0, field, /[, ]+/)
              print architecture, field[2], field[6] + field[10], name
            }' "$log" > "$scratch/kernels"
kernels=$(wc -l < "$scratch/kernels")
calls='12(sin|cos|tan)_function'
awk -v calls="$calls" '$4 ~ calls {next} /on_cuda[0-9]+map_/ && $3 <= 32 && $2 <= 16 {next} $2 > 0 || $3 > 0' "$scratch/kernels" > "$scratch/failing"
awk -v calls="$calls" '$4 ~ calls && $3 > 32' "$scratch/kernels" >> "$scratch/failing"
failing=$(wc -l < "$scratch/failing")
spilling=$(awk '$3 > 0' "$scratch/kernels" | wc -l)
echo "every kernel: $kernels for ${architectures[*]}, $spilling of them spill, $failing more than they may"
awk '$3 > 0 {print $1 ": spills: " $4}' "$scratch/kernels" | cut -c 1-300
if [ "$kernels" -eq 0 ]; then
  echo "ptxas did not report its kernels" >&2
  exit 1
fi
if [ "$failing" -gt 0 ]; then
  awk '{print $1 ": " $2 " bytes of local memory, " $3 " spilled: " $4}' "$scratch/failing" | {
    if command -v c++filt > /dev/null; then c++filt; else cat; fi
  } | cut -c 1-600 | head -n 40
  exit 1
fi
