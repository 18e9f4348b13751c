# The ways in which a compiler is led to us, each with the real compiler and the real ptxas.
. "$(dirname "$0")/lib.sh"
need_ptxas
need_nvcc
cat > k.cu <<'END'
__global__ void k(float* a) { a[threadIdx.x] += 1; }
END
went_through() {
  [ -s log ] || fail "$1: did not go through us"
  contains "$(cat log)" '"ptxasw":"0.0 --shuffle=all"' "$1: settings"
  rm log
}
export PTXASW_LOG=$work/log
cp "$PTXASW" ptxasw
own=-Xptxas=--ptxasw-shuffle=all

"$nvcc" -arch=sm_90 -cubin k.cu -o plain.cubin || fail "nvcc itself"
[ ! -e log ] || fail "nvcc alone goes through us"
if "$nvcc" --ptxas-prefix="$work/ptxasw" $own -arch=sm_90 -cubin k.cu -o k.cubin; then
  went_through --ptxas-prefix; same_file plain.cubin k.cubin
  NVCC_PREPEND_FLAGS="--ptxas-prefix=$work/ptxasw" "$nvcc" $own -arch=sm_90 -cubin k.cu -o k.cubin
  went_through NVCC_PREPEND_FLAGS; same_file plain.cubin k.cubin
  "$nvcc" --ptxas-prefix="$work/ptxasw" $own -t 2 -gencode arch=compute_80,code=sm_80 \
    -gencode arch=compute_90,code=[sm_90,compute_90] -c k.cu -o k.o
  same "$(wc -l < log)" 2 "calls of a build for two targets"
  went_through "two targets at once"
  for code in 3 255; do
    printf '#!/bin/sh\nexit %s\n' $code > failing; chmod +x failing
    PTXASW_PTXAS=$work/failing "$nvcc" --ptxas-prefix="$work/ptxasw" $own -cubin k.cu -o k.cubin
    same $? $code "nvcc's exit code"
  done
  rm log
fi

"$SOURCE/tools/overlay" overlay "" "$work/ptxasw" > /dev/null || fail "overlay"
[ -f overlay/bin/ptxas ] && [ ! -L overlay/bin/ptxas ] || fail "overlay/bin/ptxas is no regular file"
"$SOURCE/tools/overlay" overlay "" "$work/ptxasw" > /dev/null || fail "overlay, a second time"
overlay/bin/nvcc $own -arch=sm_90 -cubin k.cu -o k.cubin
went_through "overlay"; same_file plain.cubin k.cubin
mkdir full; touch full/file
"$SOURCE/tools/overlay" full "" "$work/ptxasw" 2> /dev/null && fail "overlay over somebody's folder"

clang=$(command -v clang) || { echo "no clang here: its hooks were skipped"; exit 0; }
mkdir cross; cp ptxasw cross/x86_64-pc-linux-gnu-ptxas
echo '__attribute__((global)) void k(float* a) { a[1] = a[0]; }' > k.cu
device="-x cuda --cuda-gpu-arch=sm_75 --cuda-device-only -nocudainc -nocudalib -O2 -c k.cu -o k.o"
device="$device -Xcuda-ptxas --ptxasw-shuffle=all -Wno-unknown-cuda-version"
# shellcheck disable=SC2086
{
  "$clang" --cuda-path="$work/overlay" $device && went_through "clang --cuda-path"
  real_root=$(dirname "$(dirname "$(readlink -f overlay/bin/ptxas.real)")")
  "$clang" --cuda-path="$real_root" --ptxas-path="$work/ptxasw" $device &&
    went_through "clang --ptxas-path"
  PATH=$work/cross:$PATH "$clang" --cuda-path="$real_root" $device && went_through "clang, triple"
}
