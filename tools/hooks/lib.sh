# What each tools/hooks/try_*.sh starts with: the program to try ($PTXASW, or build/ptxasw), the CUDA
# Toolkit, a folder of its own with an overlay toolkit and a small kernel, and the check that a
# command went through ptxasw. Exit codes: 0 it did, 1 it did not, 77 something is not installed.
set -u
source=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
skip() { echo "skipped: $* not installed"; exit 77; }
fail() { echo "FAIL: $*" >&2; exit 1; }
need() { command -v "$1" > /dev/null || skip "$1"; }

ptxasw=$(readlink -f "${PTXASW:-$source/build/ptxasw}")
[ -x "$ptxasw" ] || skip "$ptxasw (build it first)"
cuda=
for file in "${CUDA_HOME:-/usr/local/cuda}/bin/ptxas" "$(command -v ptxas)"; do
  [ -z "$cuda" ] && [ -x "$file" ] && cuda=$(dirname "$(dirname "$(readlink -f "$file")")")
done
[ -n "$cuda" ] || skip "ptxas (it comes with the CUDA Toolkit)"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
unset PTXASW_PTXAS NVCC_PREPEND_FLAGS NVCC_APPEND_FLAGS
export PTXASW_LOG=$work/log PTXASW_FLAGS=--shuffle=all
"$source/tools/overlay" overlay "$cuda" "$ptxasw" > /dev/null || fail "tools/overlay"
overlay=$work/overlay
# Under the names that LLVM looks for in PATH before it looks into a toolkit.
mkdir by_triple by_name
cp "$ptxasw" by_triple/x86_64-pc-linux-gnu-ptxas
cp "$ptxasw" by_triple/nvptx64-nvidia-cuda-ptxas
cp "$ptxasw" by_name/ptxas

# Three loads in a row, of which two are covered; no header, so that any compiler of CUDA takes it.
cat > k.cu <<'END'
__attribute__((global)) void k(const float* __restrict__ in, float* __restrict__ out) {
  int i;
  asm("mov.u32 %0, %%tid.x;" : "=r"(i));
  out[i] = in[i] + in[i + 1] + in[i + 2];
}
END
cat > omp.c <<'END'
void k(const float* restrict in, float* restrict out, int n) {
#pragma omp target teams distribute parallel for map(to : in[0 : n]) map(from : out[0 : n])
  for (int i = 1; i < n - 1; ++i) out[i] = in[i - 1] + in[i] + in[i + 1];
}
int main(void) {
  float a[64] = {0}, b[64];
  k(a, b, 64);
  return 0;
}
END

# Must the log show calls, and in it this text? Then the next hook starts with no log.
through() {
  [ -s log ] || fail "$1: did not go through ptxasw"
  grep -q -- "${2:-\"action\":}" log || fail "$1: the log lacks '$2': $(cat log)"
  echo "$1: $(wc -l < log) call(s), $(sed -n 's/.*"action":"\([^"]*\)"\(,"reason":"\([^"]*\)"\)\?.*/\1 \3/p' log | sort -u | paste -sd,)"
  rm log
}
not_through() { [ ! -e log ] || fail "$1: went through ptxasw, which was not expected"; }
rewritten='"changed":true'
