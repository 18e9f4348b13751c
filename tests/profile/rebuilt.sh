#!/usr/bin/env bash
# A run under the launcher, on the fake driver, whose times are made up; and builds that know of it.
set -u
fail() { echo "FAIL: $*"; exit 1; }
nvcc=$(command -v nvcc || ls /usr/local/cuda/bin/nvcc 2> /dev/null) || { echo "no nvcc: skipped"; exit 77; }
work=$(mktemp -d) && trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
unset PTXASW_FLAGS PTXASW_LOG PTXASW_STORE
export XDG_CACHE_HOME=$work/cache
PTXASW_PTXAS=$(dirname "$(realpath "$nvcc")")/ptxas
export PTXASW_PTXAS
"$nvcc" -arch=sm_90 -ptx -o text.ptx "$SOURCE" || fail nvcc
"$TOOL" -arch=sm_90 --ptxasw-variants text.ptx -o versions.cubin || fail "with versions"
run() { # NAME TIMES: long enough to try all versions
  rm -f "$XDG_CACHE_HOME/ptxasw/launches"
  FAKE_TIMES=$2 LD_LIBRARY_PATH=$FAKE_FOLDER "$TOOL" launch --policy=measure --profile="$1" -- \
    "$PROGRAM" file versions.cubin 512 512 512 512 512 512 512 512 > out || fail "the run: $(cat out)"
}
run run.json "box5=3 box5__ptxasw_y2=1 box5__ptxasw_y4=2 box5__ptxasw_y8=2"
"$TOOL" profile show run.json > table || fail show
grep -q "^Fake GPU (sm_90), 1 run: 2 kernels, 2256 launches$" table || fail "the title: $(cat table)"
grep -qE "y:2 3.00 +y:2 3.00 +16x64x1 +32x8x1 +box5$" table || fail "the table: $(cat table)"
"$TOOL" profile merge run.json run.json -o twice.json && "$TOOL" profile show twice.json | grep -q "2 runs: 2 kernels, 4512 launches" ||
  fail merge

build() { # NAME OPTIONS...: what the log and the assembler say
  name=$1; shift
  PTXASW_LOG=$name.log "$TOOL" -arch=sm_90 text.ptx -o "$name.cubin" "$@" 2> "$name.err" || fail "$name: $(cat "$name.err")"
}
way() { # NAME KERNEL
  python3 - "$1.log" "$2" << 'END'
import json, sys
call = json.loads(open(sys.argv[1]).readlines()[-1])
kernel = next(k for k in call["inputs"][0]["kernels"] if k["name"] == sys.argv[2])
print(kernel.get("way", "none") if kernel["changed"] else kernel.get("reason_code") or kernel["why_unchanged"][0]["code"])
END
}
build plain
build known --ptxasw-profile=run.json
[ ! -s known.err ] || fail "nothing is to be said: $(cat known.err)"
[[ $(way known box5) == "y:2 by "*" from "*" threads on" ]] || fail "box5: $(way known box5)"
[ "$(way known cross)" = never-gained ] || fail "cross: $(way known cross)"
build again --ptxasw-profile=twice.json
cmp known.cubin again.cubin || fail "the same profile, another build"

# Another run, another version: what was remembered of the first one is of no use.
run other.json "box5=3 box5__ptxasw_y2=2 box5__ptxasw_y4=1 box5__ptxasw_y8=2"
build other --ptxasw-profile=other.json
[[ $(way other box5) == "y:4 by "* ]] || fail "box5 by another run: $(way other box5)"
build known --ptxasw-profile=run.json
cmp known.cubin again.cubin || fail "as before"

# Of no use: one line, and a build as without.
useless() { # NAME WORDS
  build useless --ptxasw-profile="$1"
  grep -q "^ptxasw warning: profile $1: .*$2" useless.err || fail "$1: $(cat useless.err)"
  [ "$(wc -l < useless.err)" = 1 ] || fail "$1: $(cat useless.err)"
  cmp plain.cubin useless.cubin || fail "$1: another build"
}
sed 's/"sm_90"/"sm_80"/' run.json > chip.json
useless chip.json "it is of Fake GPU (sm_80), and this is for sm_90; ignored"
head -c 300 run.json > broken.json
useless broken.json "it is no profile; ignored"
useless missing.json "it cannot be read; ignored"
sed -E 's/"text":"[0-9a-f]{8}/"text":"00000001/g' run.json > texts.json
useless texts.json "it was made of another text of [a-z0-9]* and 1 more"
sed 's/"name":"\(box5\|cross\)"/"name":"other_\1"/g' run.json > program.json
build program --ptxasw-profile=program.json
cmp plain.cubin program.cubin || fail "of another program"

# Of box5 no launch is known.
sed 's/"name":"box5"/"name":"box"/' run.json > never.json
build never --ptxasw-profile=never.json
[ "$(way never box5)" = never-launched ] || fail "never launched: $(way never box5)"
"$TOOL" opt --profile=run.json text.ptx -o opt.ptx > report || fail opt
grep -q "the launches of the profile take [0-9.]* times less" report || fail "opt: $(cat report)"
echo ok
