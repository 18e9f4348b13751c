#!/usr/bin/env bash
# A CMake project in CUDA: CMAKE_CUDA_FLAGS, and CUDACXX with an overlay toolkit.
. "$(dirname "$0")/lib.sh"
need cmake
need "$cuda/bin/nvcc"
cat > CMakeLists.txt <<'END'
cmake_minimum_required(VERSION 3.18)
project(user CUDA)
add_library(user k.cu)
END
build() {
  cmake -B "$1" -DCMAKE_CUDA_ARCHITECTURES=90 "${@:2}" > out 2>&1 || fail "$(cat out)"
  rm -f log # the compiler check goes through as well
  cmake --build "$1" > out 2>&1 || fail "$(cat out)"
}
CUDACXX=$cuda/bin/nvcc build flags -DCMAKE_CUDA_FLAGS="--ptxas-prefix=$ptxasw"
through "CMAKE_CUDA_FLAGS" "$rewritten"
CUDACXX=$overlay/bin/nvcc build overlaid
through "CUDACXX=overlay/bin/nvcc" "$rewritten"
