#!/usr/bin/env bash
# Shows that the CPU's loops vectorise at -O2 without any flag of the consumer's: compiles vectorised.cpp and looks for
# packed arithmetic on ymm registers in each loop's AVX2 form and on zmm registers in its AVX-512 form.
#
#   tests/compile/vectorised.sh [COMPILER...]      default: g++ clang++; a path that ends in nvcc compiles it as CUDA
set -u
here=$(cd "$(dirname "$0")" && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
compilers=("$@")
if [ $# -eq 0 ]; then compilers=(g++ clang++); fi
loops=(relu_function exp_function log_function tanh_function erf_function sigmoid_function silu_function gelu_function
       gelu_tanh_function elu_function softplus_function reduce_range softmax_row)

failed=0
for compiler in "${compilers[@]}"; do
  case $compiler in
    *nvcc) flags=(-x cu -gencode "arch=compute_80,code=compute_80") ;;
    *) flags=() ;;
  esac
  "$compiler" -O2 -std=c++20 -I"$here/../../include" "${flags[@]}" -c "$here/vectorised.cpp" -o "$scratch/vectorised.o" || exit 1
  # One line a function that has any: its name, how many packed operations on ymm and on zmm registers.
  objdump -d --no-show-raw-insn -C "$scratch/vectorised.o" |
    awk '/^[0-9a-f]+ <.*>:$/ {name = $0}
         /v(add|sub|mul|fn?m(add|sub)[0-9]+|max|min|div)ps .*%ymm/ {ymm[name]++}
         /v(add|sub|mul|fn?m(add|sub)[0-9]+|max|min|div)ps .*%zmm/ {zmm[name]++}
         END {for (name in ymm) print "ymm " ymm[name] " " name; for (name in zmm) print "zmm " zmm[name] " " name}' > "$scratch/found"
  for loop in "${loops[@]}"; do
    for form in avx2:ymm avx512:zmm; do
      if ! grep -E "^${form#*:} [0-9]+ .*run_${form%:*}<.*[:<]$loop[<,]" "$scratch/found" > "$scratch/hits"; then
        echo "$compiler: $loop does not vectorise for ${form%:*}" >&2
        failed=1
      fi
    done
  done
  echo "vectorised by $compiler: ${#loops[@]} loops for AVX2 and AVX-512"
done
exit $failed
