#!/usr/bin/env bash
# ccache in front of nvcc: CCACHE_EXTRAFILES makes it see that the hook was switched on.
. "$(dirname "$0")/lib.sh"
need ccache
need "$cuda/bin/nvcc"
export CCACHE_DIR=$work/cache
compile() { ccache "$cuda/bin/nvcc" -arch=sm_90 -c k.cu -o k.o || fail "ccache nvcc"; }
compile
not_through "ccache nvcc alone"
export NVCC_PREPEND_FLAGS=--ptxas-prefix=$ptxasw
compile
if [ -e log ]; then rm log; else echo "ccache without CCACHE_EXTRAFILES: the old object stays in use"; fi
CCACHE_EXTRAFILES=$ptxasw compile
through "ccache with CCACHE_EXTRAFILES" "$rewritten"
