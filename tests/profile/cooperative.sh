#!/usr/bin/env bash
# A kernel whose fastest version leaves room for fewer blocks on an SM: a build makes it where a run launched the
# kernel, and never cooperatively.
set -u
fail() { echo "FAIL: $*"; exit 1; }
for ptxas in "${CUDA_HOME:-/usr/local/cuda}/bin/ptxas" "$(command -v ptxas)"; do [ -x "$ptxas" ] && break; done
[ -x "$ptxas" ] || { echo "no ptxas: skipped"; exit 77; }
work=$(mktemp -d) && trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
unset PTXASW_FLAGS PTXASW_LOG PTXASW_STORE
export XDG_CACHE_HOME=$work/cache PTXASW_PTXAS=$ptxas
"$TOOL" opt -q --variants "$SOURCE" -o versions.ptx || fail "with versions"
text=$(python3 -c '
import re
bytes_of = re.search(r"__ptxasw_launch_matmul_tiled\[\d+\] = \{([\d,]+)\}", open("versions.ptx").read())[1]
print(re.search(r"\"text\":\"(\w+)\"", bytes(map(int, bytes_of.split(","))).decode())[1])')
target=$(sed -n 's/^\.target \(sm_[0-9]*\).*/\1/p' "$SOURCE")
build() { # LAUNCHES: so many cooperative ones
  cat > run.json << END
{"ptxasw_profile": 2, "chip": {"name": "a GPU", "architecture": "$target"}, "runs": 1, "kernels": [
 {"name": "matmul_tiled", "text": "$text", "launches": 0, "cooperative": $1, "shapes": [
  {"grid": [64, 512, 1], "block": [32, 8, 1], "shared": 0, "launches": 10, "chosen": "y:4", "versions": {
   "original": {"samples": 3, "least": 100, "mean": 100}, "y:4": {"samples": 3, "least": 40, "mean": 40}}}]}]}
END
  "$TOOL" opt --profile=run.json "$SOURCE" -o out.ptx > report || fail "opt: $(cat report)"
}
build 0
grep -q "^kernel matmul_tiled .*rewritten" report || fail "the fastest: $(cat report)"
build 1
grep -q "^kernel matmul_tiled .*rewritten" report && fail "a cooperative launch may count on its blocks: $(cat report)"
"$TOOL" opt --profile=run.json --fewer-blocks "$SOURCE" -o out.ptx > report || fail "opt: $(cat report)"
grep -q "^kernel matmul_tiled .*rewritten" report || fail "the user knows better: $(cat report)"
echo ok
