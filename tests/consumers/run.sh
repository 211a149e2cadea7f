#!/usr/bin/env bash
# Builds and runs the projects of this folder as a user would, outside the source tree.
#
#   tests/consumers/run.sh installed|subdirectory [NAME...]
#
# installed: heddle is installed to a fresh prefix from a copy of the sources, and the copy is removed. CUDA projects
# are left out where there is no nvcc. HEDDLE_TEST_LAUNCHER: a command that the programs are started with.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

how=${1:?installed or subdirectory}
shift
names=("$@")
if [ ${#names[@]} -eq 0 ]; then
  names=()
  for folder in "$here"/*/; do names+=("$(basename "$folder")"); done
fi

# Prints what the command said only if it fails.
quietly() {
  if ! "$@" > "$scratch/log" 2>&1; then
    echo "failed: $*"
    tail -n 60 "$scratch/log"
    return 1
  fi
}

case $how in
  installed)
    mkdir "$scratch/source"
    cp -r "$root"/{CMakeLists.txt,cmake,include,LICENSE} "$scratch/source"
    quietly cmake -S "$scratch/source" -B "$scratch/build" -DHEDDLE_BUILD_TESTS=OFF -DHEDDLE_BUILD_EXAMPLES=OFF \
      -DHEDDLE_BUILD_BENCHMARKS=OFF
    quietly cmake --install "$scratch/build" --prefix "$scratch/prefix"
    rm -rf "$scratch/source" "$scratch/build"
    heddle=-DCMAKE_PREFIX_PATH="$scratch/prefix"
    ;;
  subdirectory) heddle=-DHEDDLE_SOURCE_DIR="$root" ;;
  *) echo "installed or subdirectory, not $how" >&2; exit 2 ;;
esac

nvcc=$(command -v nvcc || ls "${CUDA_HOME:-/usr/local/cuda}/bin/nvcc" 2> /dev/null || true)
failed=0
for name in "${names[@]}"; do
  start=$SECONDS
  options=()
  if [ "$name" != cpp_only ]; then
    if [ -z "$nvcc" ]; then
      echo "consumer $name ($how): left out, there is no nvcc"
      continue
    fi
    options=(-DCMAKE_CUDA_COMPILER="$nvcc" -DCUDAToolkit_ROOT="$(dirname "$(dirname "$nvcc")")"
      -DCMAKE_CUDA_RUNTIME_LIBRARY=Shared)
    # PTX, which a GPU emulator can run; the project that sets its own architectures keeps them.
    if [ "$name" = cuda_only ]; then options+=("-DCMAKE_CUDA_ARCHITECTURES=75-virtual;80-virtual"); fi
    if [ "$name" = mixed ]; then options+=(-DCMAKE_CUDA_ARCHITECTURES=80-virtual); fi
  fi
  if quietly cmake -S "$here/$name" -B "$scratch/$name" -DCMAKE_BUILD_TYPE=Release "$heddle" "${options[@]}" &&
    quietly cmake --build "$scratch/$name" &&
    quietly ${HEDDLE_TEST_LAUNCHER:-} ctest --test-dir "$scratch/$name" --output-on-failure --no-tests=error; then
    echo "consumer $name ($how): ok ($((SECONDS - start)) s)"
  else
    echo "consumer $name ($how): FAILED"
    failed=1
    continue
  fi
  # A program without CUDA must start on a machine without it.
  if [ "$name" = cpp_only ] && ldd "$scratch/$name/consumer" | grep -q cudart; then
    echo "consumer $name ($how): FAILED, it links the CUDA runtime"
    failed=1
  fi
done
exit $failed
