#!/usr/bin/env bash
# clang as a CUDA compiler, device code: --ptxas-path, --cuda-path with an overlay, a name in PATH.
#   tools/hooks/try_clang.sh [clang-19]
. "$(dirname "$0")/lib.sh"
clang=${1:-clang}
need "$clang"
unset PTXASW_FLAGS
device() {
  "$clang" -x cuda --cuda-gpu-arch=sm_80 --cuda-device-only -nocudainc -nocudalib -O2 -c k.cu \
    -o k.o -Xcuda-ptxas --ptxasw-shuffle=all -Wno-unknown-cuda-version "$@"
}
device --cuda-path="$cuda" --ptxas-path="$ptxasw"
through "$clang --ptxas-path" "$rewritten"
device --cuda-path="$overlay"
through "$clang --cuda-path=overlay" "$rewritten"
PATH=$work/by_triple:$PATH device --cuda-path="$cuda"
through "$clang, x86_64-pc-linux-gnu-ptxas in PATH" "$rewritten"
