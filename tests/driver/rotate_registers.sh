# A star that marches along z: ptxas gives the rotated loop 40 registers, and in a trip it waits for a few of
# its loads at a time. The limit that lets it take more is written down where as many blocks may
# be resident afterwards, or where that is not asked for.
. "$(dirname "$0")/lib.sh"
need_ptxas
need_nvcc
[ -x "${TOOL:-}" ] || skip "the program is not built"
cat > star.cu <<'CU'
extern "C" __global__ void star(const float* __restrict__ in, float* __restrict__ out, int nx,
                                int ny, int nz) {
  constexpr int R = 4;
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < R || x >= nx - R || y < R || y >= ny - R) return;
#pragma unroll 1
  for (int z = R; z < nz - R; z++) {
    size_t i = ((size_t)z * ny + y) * nx + x;
    size_t sx = nx, sp = (size_t)nx * ny;
    float s = in[i] * 0.4f;
#pragma unroll
    for (int r = 1; r <= R; r++)
      s += (0.1f / r) * ((in[i - r] + in[i + r]) + (in[i - r * sx] + in[i + r * sx]) +
                         (in[i - r * sp] + in[i + r * sp]));
    out[i] = s;
  }
}
CU
"$nvcc" -O3 -arch=sm_90 -ptx star.cu -o star.ptx || fail "nvcc"
rotated() { "$TOOL" opt --loop-carry=auto "$@" -o out.ptx > report 2> stderr || fail "opt: $(cat stderr)"; }
lines() { grep -c "$1" out.ptx; }

rotated star.ptx --fewer-blocks
same "$(lines '\.maxnreg 64')" 1 "the limit"
contains "$(cat report)" "in at most 64 registers"
cp out.ptx first.ptx
rotated star.ptx --fewer-blocks
same_file out.ptx first.ptx "twice the same"
used=$("$real" -arch=sm_90 -v out.ptx -o cubin 2>&1 | sed -n 's/.*Used \([0-9]*\) registers.*/\1/p')
[ "$used" -gt 40 ] || fail "ptxas took $used registers"

# Six blocks of 256 have to stay: as many registers as the original's, and no more.
rotated star.ptx
used=$("$real" -arch=sm_90 -v out.ptx -o cubin 2>&1 | sed -n 's/.*Used \([0-9]*\) registers.*/\1/p')
[ "$used" -le 40 ] || fail "fewer blocks would be resident with $used registers"
# One block of 1024 stays one block.
rotated star.ptx --block=1024x1x1
same "$(lines '\.maxnreg 64')" 1 "the limit in blocks of 1024"

# What the kernel or the user has said of its registers stays what it is.
for own in '.maxnreg 48' '.maxntid 256, 1, 1' '.minnctapersm 1'; do
  sed "s/^{/$own\n{/" star.ptx > own.ptx
  rotated own.ptx --fewer-blocks
  same "$(lines '\.maxnreg')" "$(grep -c '\.maxnreg' own.ptx)" "beside $own"
done
PTXASW_FLAGS="--loop-carry=auto --fewer-blocks" "$TOOL" "$real" -arch=sm_90 -maxrregcount=48 -v star.ptx \
  -o cubin 2> stderr || fail "drop-in: $(cat stderr)"
used=$(sed -n 's/.*Used \([0-9]*\) registers.*/\1/p' stderr)
[ "$used" -le 48 ] || fail "-maxrregcount=48 and $used registers"

# What was decided is found again, without a question.
for n in 1 2; do
  PTXASW_LOG=$work/log$n PTXASW_FLAGS="--loop-carry=auto --fewer-blocks" \
    "$TOOL" "$real" -arch=sm_90 star.ptx -o cubin$n 2> stderr || fail "drop-in: $(cat stderr)"
done
same_file cubin1 cubin2 "what was remembered"
