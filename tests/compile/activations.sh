#!/usr/bin/env bash
# No activation in float, half or bfloat16 divides as IEEE asks for it, which takes a GPU many instructions.
#   tests/compile/activations.sh NVCC
set -eu
here=$(cd "$(dirname "$0")" && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
"$1" -std=c++20 -I"$here/../../include" -arch=compute_80 -ptx -o "$scratch/activations.ptx" "$here/activations.cu"
kernels=$(grep -c '\.entry' "$scratch/activations.ptx")
divisions=$(grep -c 'div\.rn' "$scratch/activations.ptx" || true)
echo "$kernels kernels of activations, $divisions divisions"
[ "$kernels" -gt 0 ] && [ "$divisions" -eq 0 ]
