#!/usr/bin/env bash
# nvcc: --ptxas-prefix (nvcc 13), NVCC_PREPEND_FLAGS for a whole build, an overlay toolkit for any.
. "$(dirname "$0")/lib.sh"
need "$cuda/bin/nvcc"
unset PTXASW_FLAGS
own=-Xptxas=--ptxasw-shuffle=all
"$cuda/bin/nvcc" -arch=sm_90 -cubin k.cu -o k.cubin || fail "nvcc itself"
not_through "nvcc alone"
if "$cuda/bin/nvcc" --help | grep -q 'release 1[0-2]\.'; then
  echo "nvcc before 13: --ptxas-prefix not tried"
else
  "$cuda/bin/nvcc" --ptxas-prefix="$ptxasw" $own -arch=sm_90 -cubin k.cu -o k.cubin
  through "nvcc --ptxas-prefix" "$rewritten"
  NVCC_PREPEND_FLAGS="--ptxas-prefix=$ptxasw" "$cuda/bin/nvcc" $own -arch=sm_90 -c k.cu -o k.o
  through "NVCC_PREPEND_FLAGS" "$rewritten"
  "$cuda/bin/nvcc" --ptxas-prefix="$ptxasw" $own -t 2 -gencode arch=compute_80,code=sm_80 \
    -gencode arch=compute_90,code=[sm_90,compute_90] -c k.cu -o k.o
  [ "$(grep -c "$rewritten" log)" = 2 ] || fail "two targets: $(cat log)"
  through "nvcc for two targets at once" "$rewritten"
fi
"$overlay/bin/nvcc" $own -arch=sm_90 -cubin k.cu -o k.cubin
through "overlay/bin/nvcc" "$rewritten"
