#!/usr/bin/env bash
# OpenMP offload by clang: --ptxas-path, an overlay, a name in PATH; and link-time offload, which only
# the latter two reach. Debian: clang-19 clang-tools-19, for link-time offload libomp-19-dev as well.
#   tools/hooks/try_openmp.sh [clang-19]
. "$(dirname "$0")/lib.sh"
clang=${1:-clang}
need "$clang"
[ -x "$("$clang" -print-prog-name=clang-offload-packager)" ] ||
  skip "clang-offload-packager of $clang (Debian: clang-tools-N)"
offload() {
  "$clang" -fopenmp --offload-arch=sm_80 -O2 omp.c -o omp.out -Wno-unknown-cuda-version "$@"
}
offload -c -nogpulib --cuda-path="$cuda" --ptxas-path="$ptxasw"
through "$clang -fopenmp --ptxas-path"
offload -c -nogpulib --cuda-path="$overlay"
through "$clang -fopenmp --cuda-path=overlay"
PATH=$work/by_triple:$PATH offload -c -nogpulib --cuda-path="$cuda"
through "$clang -fopenmp, x86_64-pc-linux-gnu-ptxas in PATH"

library=$(dirname "$("$clang" -print-file-name=libomptarget.devicertl.a)")
[ "$library" != . ] || { echo "link-time offload: no libomptarget.devicertl.a, not tried"; exit 0; }
offload -foffload-lto --cuda-path="$overlay" -L"$library"
through "$clang -foffload-lto --cuda-path=overlay"
PATH=$work/by_triple:$PATH offload -foffload-lto --cuda-path="$cuda" -L"$library"
through "$clang -foffload-lto, nvptx64-nvidia-cuda-ptxas in PATH"
