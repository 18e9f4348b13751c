#!/usr/bin/env bash
# GCC's offload to nvptx. Its assembler calls the `ptxas` in PATH to verify only (-O0, output thrown
# away); the PTX text stays in the program for the driver. ptxasw lets such calls pass.
#   tools/hooks/try_gcc.sh [gcc-12]     Debian: gcc-12-offload-nvptx
. "$(dirname "$0")/lib.sh"
gcc=${1:-gcc}
need "$gcc"
need nvptx-none-as
PATH=$work/by_name:$cuda/bin:$PATH "$gcc" -fopenmp -foffload=nvptx-none \
  -foffload-options=nvptx-none=-misa=sm_80 -O2 omp.c -o omp 2> out || fail "$(cat out)"
through "$gcc, ptxas in PATH" '"reason":"optimization level 0"'
