# What every shell test of the driver starts with: a directory of its own, a PTX file, and the
# programs to test: $PTXASW (the driver with the stub optimizer) and $FAKE (the recording ptxas).
set -u
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
unset PTXASW_FLAGS PTXASW_LOG PTXASW_PTXAS PTXASW_TRIED
export FAKE_RECORD=$work/record
export XDG_CACHE_HOME=$work/.cache

fail() { echo "FAIL: $*" >&2; exit 1; }
skip() { echo "SKIP: $*"; exit 77; }
same() { [ "$1" = "$2" ] || fail "${3:-values differ}: '$1' is not '$2'"; }
same_file() { cmp "$1" "$2" || fail "${3:-files differ}"; }
contains() { case "$1" in *"$2"*) ;; *) fail "${3:-text}: '$2' is not in '$1'" ;; esac; }

# The real ptxas, or the end of this test.
need_ptxas() {
  for real in "${CUDA_HOME:-/usr/local/cuda}/bin/ptxas" "$(command -v ptxas)"; do
    [ -x "$real" ] && "$real" --version 2>/dev/null | grep -q 'optimizing assembler' && return
  done
  skip "no ptxas here"
}
need_nvcc() {
  for nvcc in "${CUDA_HOME:-/usr/local/cuda}/bin/nvcc" "$(command -v nvcc)"; do
    [ -x "$nvcc" ] && "$nvcc" --version >/dev/null 2>&1 && return
  done
  skip "no nvcc here"
}

# ptx NAME [COMMENT...]: a module with one kernel, k, and comments for the stub and the fake.
ptx() {
  file=$1; shift
  {
    printf '.version 7.0\n.target sm_75\n.address_size 64\n'
    for comment in "$@"; do printf '%s\n' "$comment"; done
    printf '.visible .entry k(.param .u64 p)\n{\n.reg .b64 %%rd<3>;\n.reg .f32 %%f<3>;\n'
    printf 'ld.param.u64 %%rd1, [p];\nld.global.f32 %%f1, [%%rd1];\nadd.f32 %%f2, %%f1, %%f1;\n'
    printf 'st.global.f32 [%%rd1], %%f2;\nret;\n}\n'
  } > "$file"
}

# Ours in the place of the fake ptxas, with rewriting on.
on_fake() { rm -f record; PTXASW_PTXAS=$FAKE "$PTXASW" --ptxasw-shuffle=all "$@"; }
calls() { grep -c '^$' record; }
