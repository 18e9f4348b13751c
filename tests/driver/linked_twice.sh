# A template's kernel is in each file that launches it, and the linker keeps one (-rdc=true): it has no
# more shared memory for that, whatever is added.
. "$(dirname "$0")/lib.sh"
need_ptxas
need_nvcc
cat > both.cuh <<'END'
template <int R> __global__ void box(const float* in, float* out, int w, int h) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < R || y < R || x >= w - R || y >= h - R) return;
  float s = 0;
  for (int j = -R; j <= R; ++j)
    for (int i = -R; i <= R; ++i) s += in[(y + j) * w + x + i];
  out[y * w + x] = s;
}
template <int R> __global__ void __launch_bounds__(256)
mixed(const float* in, const float* c, float* out, int w) {
  __shared__ float tile[256 * R];
  int t = threadIdx.x, x = blockIdx.x * 256 + t, y = blockIdx.y;
  tile[t * R] = in[y * w + x];
  __syncthreads();
  float a = tile[(t ^ 1) * R];
  for (int i = 0; i < 9; ++i) a += c[x + i * w] * a;
  if (x < w) out[y * w + x] = a;
}
END
for n in 1 2; do
  printf '#include "both.cuh"\nvoid f%s(float* p) { box<2><<<1, 32>>>(p, p, 3, 3); mixed<4><<<1, 32>>>(p, p, p, 3); }\n' $n > $n.cu
done
echo 'int main() {}' >> 2.cu
export NVCC_PREPEND_FLAGS="--ptxas-prefix=$TOOL"
largest() { sed -n 's/.* \([0-9]*\) bytes smem.*/\1/p' "$1" | sort -n | tail -1; }
# RESULT OPTION...: of one file, and of both
linked() {
  name=$1; shift
  for n in 1 2; do
    "$nvcc" -arch=sm_90 -rdc=true "$@" -c $n.cu -o $n.o || fail "$name"
  done
  "$nvcc" -arch=sm_90 -Xnvlink -v 2.o -o program > one 2>&1 || fail "$name: $(cat one)"
  "$nvcc" -arch=sm_90 -Xnvlink -v 1.o 2.o -o program > two 2>&1 || fail "$name: $(cat two)"
  same "$(largest two)" "$(largest one)" "shared memory with $name"
}
linked steps -Xptxas --ptxasw-steps=auto
grep -q 'box.*__ptxasw_steps' two || fail "no entry was added: $(cat two)"
linked coarsened -Xptxas --ptxasw-coarsen=y:8 -Xptxas --ptxasw-fewer-blocks
