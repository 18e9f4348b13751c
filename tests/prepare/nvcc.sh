# Programs as nvcc makes them: what is prepared of them, and that their own kernels stay as they are.
# Needs nvcc and ptxas; without, exit code 77.
#   bash tests/prepare/nvcc.sh BUILD-FOLDER
set -euo pipefail
ptxasw=$(realpath "$1")/ptxasw
export PATH=/usr/local/cuda/bin:$PATH
command -v nvcc >/dev/null && command -v ptxas >/dev/null || { echo "no nvcc"; exit 77; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
export XDG_CACHE_HOME=$folder/cache
unset PTXASW_STORE PTXASW_FLAGS
fail() { echo "FAIL: $*"; cat out.json 2>/dev/null || true; exit 1; }

cat >program.cu <<'END'
__constant__ float weights[25];
extern "C" __global__ void blur(const float* __restrict__ in, float* __restrict__ out, int w, int h) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < 2 || y < 2 || x >= w - 2 || y >= h - 2) return;
  float sum = 0;
  for (int j = -2; j <= 2; ++j)
    for (int i = -2; i <= 2; ++i) sum += in[(y + j) * w + x + i] * weights[(j + 2) * 5 + i + 2];
  out[y * w + x] = sum;
}
__device__ int count;
__global__ void tally(const int* p) {
  if (p[threadIdx.x] > 0) atomicAdd(&count, 1);
}
int main() {
  blur<<<1, 1>>>(nullptr, nullptr, 0, 0);
  tally<<<1, 1>>>(nullptr);
}
END

# NAME FLAGS...: builds it, prepares it, and leaves the report of its images with kernels in out.json.
prepared() {
  local name=$1
  shift
  nvcc "$@" "${source:-program.cu}" -o "$name" 2>/dev/null || fail "nvcc $*"
  "$ptxasw" prepare --no-libraries --chip=sm_90 --format=json "./$name" >out.json ||
    fail "prepare $name"
}
# WHAT: of the image with the most kernels, of these the largest.
ask() {
  python3 -c "
import json, sys
image = max(json.load(open('out.json'))['images'], key=lambda i: (len(i['kernels']), i['bytes']))
print($1)"
}

for flags in "" "--compress-mode=speed -lineinfo" "--compress-mode=none -maxrregcount=64" \
  "--compress-mode=size --use_fast_math -cudart=shared" \
  "-gencode arch=compute_80,code=sm_80 -gencode arch=compute_90,code=[sm_90,compute_90]"; do
  case $flags in *-gencode*) arch= ;; *) arch=-arch=sm_90 ;; esac
  prepared program $arch $flags
  [ "$(ask "image['replaced']")" = True ] || fail "'$flags' is not replaced"
  [ "$(ask "[len(k['versions']) > 0 for k in image['kernels'] if k['name'] == 'blur'][0]")" = True ] ||
    fail "'$flags' has no versions of blur"
  [ "$(ask "[v['does'] for k in image['kernels'] for v in k['versions'] if v['names'] == ['y:4']]")" = \
    "['one block does the work of 4 along y']" ] || fail "'$flags' does not tell its versions"
  echo "ok: $arch $flags: $(ask "image['versions']") versions"
done

# Divisions and square roots: ptxas makes helpers for each kernel, versions included, and numbers them all.
cat >division.cu <<'END'
extern "C" __global__ void mean(const float* __restrict__ in, float* __restrict__ out, float by, int w, int h) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < 2 || y < 2 || x >= w - 2 || y >= h - 2) return;
  float sum = 0;
  for (int j = -2; j <= 2; ++j)
    for (int i = -2; i <= 2; ++i) sum += in[(y + j) * w + x + i];
  out[y * w + x] = sum / by;
}
extern "C" __global__ void root(double* p) { p[threadIdx.x] = sqrt(p[threadIdx.x]) / p[0]; }
int main() {
  mean<<<1, 1>>>(nullptr, nullptr, 1, 0, 0);
  root<<<1, 1>>>(nullptr);
}
END
for flags in "-lineinfo"; do
  source=division.cu prepared division -arch=sm_90 $flags
  [ "$(ask "image['replaced']")" = True ] || fail "divisions $flags are not replaced: $(ask "image['words']")"
  [ "$(ask "[len(k['versions']) > 0 for k in image['kernels'] if k['name'] == 'mean'][0]")" = True ] ||
    fail "divisions $flags: no versions of mean"
  echo "ok: divisions $flags: $(ask "image['versions']") versions"
done

reason() { [ "$(ask "image['reason']")" = "$1" ] || fail "$2: $(ask "image['reason']"), not $1"; }
# The driver would compile it.
prepared older -gencode arch=compute_80,code=compute_80
[ "$(ask "image['replaced']")" = True ] || fail "PTX for an older chip is not replaced: $(ask "image['words']")"
prepared older-options -gencode arch=compute_80,code=compute_80 -maxrregcount=64
reason jit-options older-options
prepared alone -gencode arch=compute_90,code=sm_90
reason no-ptx alone
prepared separate -arch=sm_90 -rdc=true
reason relocatable separate
prepared debug -arch=sm_90 -G
reason debug debug
prepared both -gencode arch=compute_90,code=[sm_90,compute_90] \
  -gencode arch=compute_90a,code=[sm_90a,compute_90a]
reason several both

# Machine code without a note, as that of CUDA before 12.8: the options are those beside the PTX, if they give
# the very machine code.
without_note() { # NAME OPTION OPTION-INSTEAD
  nvcc -arch=sm_90 --compress-mode=none $2 program.cu -o "$1" 2>/dev/null || fail "nvcc $2"
  LC_ALL=C sed -i "s/[.]note[.]nv[.]tkinfo/.note.nv.xxinfo/g; s/$2/$3/g" "$1"
  "$ptxasw" prepare --no-libraries --chip=sm_90 --format=json "./$1" >out.json || fail "prepare $1"
}
without_note bare -maxrregcount=24 -maxrregcount=24
[ "$(ask "image['replaced']")" = True ] || fail "without a note it is not replaced: $(ask "image['words']")"
without_note bare-other -maxrregcount=24 -maxrregcount=96
reason no-note bare-other

# Another release of ptxas: PTXASW_OTHER_PTXAS names one that takes PTX 7.8 (CUDA 11.8 and later). An image of one is
# left alone by the other, and taken by its own.
if [ -x "${PTXASW_OTHER_PTXAS:-}" ]; then
  nvcc -arch=sm_90 -ptx program.cu -o text.ptx && sed -i 's/^.version .*/.version 7.8/' text.ptx
  for of in ptxas "$PTXASW_OTHER_PTXAS"; do
    "$of" -arch=sm_90 text.ptx -o text.cubin || fail "$of"
    fatbinary -64 --create=text.fatbin --image3=kind=elf,sm=90,file=text.cubin --image3=kind=ptx,sm=90,file=text.ptx
    for here in ptxas "$PTXASW_OTHER_PTXAS"; do
      rm -rf cache
      PTXASW_PTXAS=$(command -v "$here") "$ptxasw" prepare --chip=sm_90 --image=text.fatbin || fail "prepare by $here"
      replaced=$(find cache -size +8k -path '*/ptxasw/??/*' | wc -l)
      [ "$replaced" = "$([ "$of" = "$here" ] && echo 1 || echo 0)" ] || fail "made by $of, here is $here: $replaced"
    done
  done
  rm -rf cache
  echo "ok: another release of ptxas"
fi

# What the drop-in rewrote is not what its PTX gives, and no kernel is left without a reason.
cat >>program.cu <<'END'
__global__ void sum(const float* in, float* out) {
  __shared__ float s[256];
  const int t = threadIdx.x;
  s[t] = in[blockIdx.x * 256 + t];
  __syncthreads();
  for (int k = 128; k > 0; k >>= 1) {
    if (t < k) s[t] += s[t + k];
    __syncthreads();
  }
  if (t == 0) out[blockIdx.x] = s[0];
}
END
prepared rewritten -arch=sm_90 --ptxas-prefix="$ptxasw"
reason machine-code rewritten
[ "$(ask "'build without, or with --ptxasw-variants' in image['words']")" = True ] || fail "what to do"
[ "$(ask "all(k['reason'] and k['words'] for k in image['kernels'])")" = True ] || fail "an empty reason"
"$ptxasw" prepare --no-libraries --chip=sm_90 ./rewritten >out.json || fail "prepare, as text"
! grep -E ': *$|\(\)' out.json || fail "an empty reason, as text"
# With versions of its own there is nothing to do, and they are told.
prepared carries -arch=sm_90 --ptxas-prefix="$ptxasw" -Xptxas --ptxasw-variants,--ptxasw-steps=auto
reason built-in carries
[ "$(ask "sorted(k['name'] for k in image['kernels']) == ['_Z3sumPKfPf', '_Z5tallyPKi', 'blur']")" = True ] ||
  fail "entries that are taken for kernels"
[ "$(ask "any('y:4' in v['names'] for k in image['kernels'] for v in k['versions'])")" = True ] ||
  fail "the versions that it was built with"
"$ptxasw" prepare --no-libraries --chip=sm_90 ./carries >out.json || fail "prepare, as text"
grep -q 'versions: run the program as ptxasw launch' out.json || fail "built with versions, as text"

# A second time it is found; a changed entry is made anew.
prepared program -arch=sm_90
prepared program -arch=sm_90
[ "$(ask "image['state']")" = found ] || fail "it was not found again"
for file in $(find cache -type f -size +8k); do truncate -s -1 "$file"; done
prepared program -arch=sm_90
[ "$(ask "image['state']")" = prepared ] || fail "a cut entry was taken"

"$ptxasw" prepare --no-libraries --chip=sm_90 ./program >out.txt || fail "prepare, as text"
grep -Eq '^      y:4  +one block does the work of 4 along y  +predicted: up to [1-9]\.[0-9]+ \(blocks of [0-9]+\), gains from [0-9]+ threads on$' out.txt ||
  fail "the versions, as text: $(cat out.txt)"
! grep -q 'it has no kernels' out.txt || fail "an image without kernels is told"

# Many processes and an empty store: one prepares.
rm -rf cache
python3 - program image.fatbin <<'END'
import struct, sys
data = open(sys.argv[1], 'rb').read()
images = []
at = data.find(b'\x50\xed\x55\xba')
while at >= 0:
    header, size = struct.unpack_from('<HQ', data, at + 6)
    if header == 16:
        images.append(data[at:at + 16 + size])
    at = data.find(b'\x50\xed\x55\xba', at + 4)
open(sys.argv[2], 'wb').write(max(images, key=len))
END
for n in $(seq 16); do
  "$ptxasw" prepare --background --chip=sm_90 --image=image.fatbin &
done
wait
[ "$(find cache/ptxasw -mindepth 2 -type f -path '*/ptxasw/??/*' | wc -l)" = 1 ] ||
  fail "not one entry: $(find cache)"
[ -z "$(ls cache/ptxasw/preparing | grep -v '^one$')" ] || fail "a turn is left over"
"$ptxasw" prepare --no-libraries --chip=sm_90 --format=json ./program >out.json
[ "$(ask "image['state']")" = found ] || fail "what they prepared was not found"

# Ended while it prepares: nothing is broken, and the next one prepares it.
rm -rf cache
"$ptxasw" prepare --chip=sm_90 --image=image.fatbin & pid=$!
sleep 0.3
kill -9 $pid 2>/dev/null || true
wait $pid 2>/dev/null || true
"$ptxasw" prepare --no-libraries --chip=sm_90 --format=json ./program >out.json
[ "$(ask "image['replaced']")" = True ] || fail "it is not prepared after a kill"

# A disk that is full while the store is written: an error, and nothing of it is there.
mkdir small
cat >full.sh <<'END'
mount -t tmpfs -o size=24k none small || exit 77
code=0
XDG_CACHE_HOME=$PWD/small "$1" prepare --chip=sm_90 --image=image.fatbin || code=$?
find small -type f -size +0 -path '*/ptxasw/??/*' >left.txt
exit $code
END
code=0
unshare -rm bash full.sh "$ptxasw" 2>full.txt || code=$?
case $code in
  1) [ ! -s left.txt ] || fail "left on a full disk: $(cat left.txt)" ;;
  77) echo "no small disk: skipped" ;;
  *) grep -q unshare full.txt || fail "exit code $code on a full disk: $(cat full.txt)" ;;
esac

# A store that cannot be written is an error, and a file that is not there.
code=0
XDG_CACHE_HOME=/proc/none "$ptxasw" prepare --chip=sm_90 --image=image.fatbin 2>/dev/null || code=$?
[ $code = 1 ] || fail "exit code $code of a store that cannot be written"
code=0
"$ptxasw" prepare ./none 2>/dev/null || code=$?
[ $code = 4 ] || fail "exit code $code of a program that is not there"
code=0
"$ptxasw" prepare 2>/dev/null || code=$?
[ $code = 2 ] || fail "exit code $code of no program"
echo "all ok"
