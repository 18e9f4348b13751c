#!/usr/bin/env bash
# A profile that one machine keeps in a store and another one builds with, by its name.
set -u
fail() { echo "FAIL: $*"; exit 1; }
for ptxas in "${CUDA_HOME:-/usr/local/cuda}/bin/ptxas" "$(command -v ptxas)"; do [ -x "$ptxas" ] && break; done
[ -x "$ptxas" ] || { echo "no ptxas: skipped"; exit 77; }
work=$(mktemp -d) && trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
unset PTXASW_FLAGS PTXASW_LOG PTXASW_STORE PTXASW_STORE_SECRET
export PTXASW_PTXAS=$ptxas
on() { machine=$1; shift; env XDG_CACHE_HOME="$work/$machine" "$@"; } # a machine of its own
on first "$TOOL" opt -q --variants "$SOURCE" -o versions.ptx || fail "with versions"
text=$(python3 -c '
import re
bytes_of = re.search(r"__ptxasw_launch_matmul_tiled\[\d+\] = \{([\d,]+)\}", open("versions.ptx").read())[1]
print(re.search(r"\"text\":\"(\w+)\"", bytes(map(int, bytes_of.split(","))).decode())[1])')
measured() { # VERSION NAME
  cat > "$2" << END
{"ptxasw_profile": 2, "chip": {"name": "a GPU", "architecture": "sm_90"}, "runs": 1, "kernels": [
 {"name": "matmul_tiled", "text": "$text", "launches": 0, "cooperative": 0, "shapes": [
  {"grid": [64, 512, 1], "block": [32, 8, 1], "shared": 0, "launches": 10, "chosen": "$1", "versions": {
   "original": {"samples": 3, "least": 100, "mean": 100}, "$1": {"samples": 3, "least": 40, "mean": 40}}}]}]}
END
}
measured y:2 two.json
measured y:4 four.json # leaves room for fewer blocks on an SM
build() { # MACHINE PROFILE OUT
  on "$1" "$TOOL" -arch=sm_90 --ptxasw-profile="$2" "$SOURCE" -o "$3" 2> said || fail "$3: $(cat said)"
}
build first two.json two.cubin
build first four.json four.cubin
on first "$TOOL" -arch=sm_90 "$SOURCE" -o plain.cubin || fail plain
cmp -s two.cubin four.cubin && fail "the two profiles make one program"

export PTXASW_STORE=$work/shared
mkdir shared
for name in two four; do on first "$TOOL" profile keep $name.json --name=$name || fail "keep $name"; done
on first "$TOOL" profile keep two.json --name=two || fail "once more"
on first "$TOOL" profile keep four.json --name=two 2> said && fail "another one of this name"
grep -q "another profile named two" said || fail "says: $(cat said)"
on first "$TOOL" profile show four.json --name=x 2> said && fail "a name for show"
build second store:two got.cubin
[ ! -s said ] || fail "says: $(cat said)"
cmp got.cubin two.cubin || fail "the second machine builds what the first one does"
build second store:none got.cubin
grep -q "^ptxasw warning: profile store:none: the store has none; ignored$" said || fail "says: $(cat said)"
[ "$(wc -l < said)" = 1 ] || fail "says: $(cat said)"
cmp got.cubin plain.cubin || fail "without a profile"

# Anybody may have written there that no launch was cooperative.
chmod -R a+w shared
build second store:four got.cubin
cmp -s got.cubin four.cubin && fail "what anybody may have written takes blocks from an SM"
head -c 40 /dev/urandom | base64 > secret && chmod 600 secret
export PTXASW_STORE_SECRET=$work/secret
on first "$TOOL" profile keep four.json --name=sealed || fail "keep sealed"
build second store:sealed got.cubin
[ ! -s said ] || fail "says: $(cat said)"
cmp got.cubin four.cubin || fail "sealed by the user"
on third "$TOOL" opt --profile=store:sealed "$SOURCE" -o out.ptx > report 2> said || fail "opt: $(cat said)"
grep -q "^kernel matmul_tiled .*rewritten" report || fail "opt: $(cat report)"

PTXASW_STORE=
on fourth env HOME= XDG_CACHE_HOME= "$TOOL" profile keep two.json --name=there 2> said && fail "there is no store"
grep -q "there is no store" said || fail "says: $(cat said)"
echo ok
