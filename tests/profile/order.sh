#!/usr/bin/env bash
# A kernel whose lanes walk down columns: where another order of its threads was fastest in a run, a build makes it.
set -u
fail() { echo "FAIL: $*"; exit 1; }
for ptxas in "${CUDA_HOME:-/usr/local/cuda}/bin/ptxas" "$(command -v ptxas)"; do [ -x "$ptxas" ] && break; done
[ -x "$ptxas" ] || { echo "no ptxas: skipped"; exit 77; }
work=$(mktemp -d) && trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
unset PTXASW_FLAGS PTXASW_LOG PTXASW_STORE
export XDG_CACHE_HOME=$work/cache PTXASW_PTXAS=$ptxas
"$TOOL" opt -q --variants "$SOURCE" -o versions.ptx || fail "with versions"
# Times for the order of each kernel in two launches, the kernel's own being 10; its text as the contract has it.
cat > profile.py << 'END'
import json, re, sys
kernels = []
for found in re.finditer(r"__ptxasw_launch_(\w+)\[\d+\] = \{([\d,]+)\}", open("versions.ptx").read()):
    name, text = found[1], bytes(map(int, found[2].split(","))).decode()
    contract = json.loads(text.split("\n", 1)[1])
    word = contract["text"]
    order = next(v["name"] for v in contract["variants"] if v["name"].startswith("thread-swap:"))
    shapes = [{"grid": [blocks, 64, 1], "block": [32, 8, 1], "shared": 0, "launches": 10, "chosen": order,
               "versions": {"original": {"samples": 3, "least": 10, "mean": 10},
                            order: {"samples": 3, "least": float(time), "mean": float(time)}}}
              for blocks, time in zip((8, 64), sys.argv[1:])]
    kernels.append({"name": name, "text": word, "launches": 0, "cooperative": 0, "shapes": shapes})
print(json.dumps({"ptxasw_profile": 2, "chip": {"name": "a GPU", "architecture": sys.argv[3]}, "runs": 1,
                  "kernels": kernels}))
END
target=$(sed -n 's/^\.target \(sm_[0-9]*\).*/\1/p' "$SOURCE")
reordered() { # TIME TIME: kernels that become another order
  python3 profile.py "$@" "$target" > run.json && "$TOOL" opt -q --profile=run.json "$SOURCE" -o out.ptx --report=out.json || fail "opt"
  python3 -c 'import json; print(sum(k["decisions"]["remapping"]["status"] == "done" for k in json.load(open("out.json"))["kernels"]))'
}
[ "$(reordered 2 3)" = 2 ] || fail "the order that gains: $(cat out.json | head -c 600)"
[ "$(reordered 2 11)" = 0 ] || fail "one launch loses"
[ "$(reordered 9.9 9.9)" = 0 ] || fail "too little"
echo ok
