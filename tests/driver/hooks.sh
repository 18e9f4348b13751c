# nvcc in front of us: with nothing rewritten the same cubin, and its exit code is ours. That each way
# to lead a compiler here works is for tools/hooks/try_*.sh.
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
if "$SOURCE/tools/overlay" full "" "$work/ptxasw" 2> /dev/null; then
  fail "overlay over somebody's folder"
fi
