# --variants: what stands beside a kernel, and that nothing is there unless it is asked for.
. "$(dirname "$0")/lib.sh"
need_ptxas
[ -n "${TOOL:-}" ] || skip "no ptxasw program"
export PTXASW_PTXAS=$real
ptx=$SOURCE/tests/golden/ptx
variants() { "$TOOL" opt --variants "$ptx/$1.ptx" -o "$1.ptx" > /dev/null || fail "$1"; }
contract() { # of kernel $2 in $1.ptx: a line for each member, variant and way of access
  python3 - "$1.ptx" "$2" << 'END'
import json, re, sys
numbers = re.search(r"__ptxasw_launch_%s\[\d+\] = \{([\d, ]+)\}" % sys.argv[2], open(sys.argv[1]).read())[1]
for name, value in json.loads(bytes(map(int, numbers.split(","))).decode().split("\n", 1)[1]).items():
    for one in value if name in ("variants", "accesses", "steps") else [value]:
        print(name, json.dumps(one))
END
}
variant() { # the line of the variant called $3
  contract "$1" "$2" | grep "^variants .*\"name\": \"$3\""
}
entries() { grep -o '\.entry [A-Za-z0-9_]*' "$1.ptx" | cut -d' ' -f2 | sort | tr '\n' ' '; }

# The kernel comes first and stays as the standard makes it, byte for byte, but for the wait of a
# launch that begins early.
variants vecadd
"$TOOL" opt "$ptx/vecadd.ptx" -o standard.ptx > /dev/null
length=$(grep -n '^}' standard.ptx | head -1 | cut -d: -f1)
same "$(head -"$((length + 1))" vecadd.ptx | grep -v 'griddepcontrol.wait;')" \
  "$(head -"$length" standard.ptx)" "the kernel itself"
contains "$(head -"$((length + 1))" vecadd.ptx)" "	griddepcontrol.wait;
	ld.param" "its wait"
same "$(contract vecadd vecadd | head -1)" 'kernel "vecadd"'
contains "$(contract vecadd vecadd)" "parameters 6
parameter_bytes 36
places [[0, 8], [8, 8], [16, 8], [24, 4], [28, 4], [32, 4]]
variants" "no accesses where nothing is judged by them"
same "$(variant vecadd vecadd original)" 'variants {"entry": "vecadd", "name": "original", "kind": "original", "waits": true, "divide": [1, 1, 1]}'
contains "$(contract vecadd vecadd)" \
  '"kind": "coarsened", "waits": true, "divide": [4, 1, 1], "rest": "appended", "gains": [[64, ' "a grid divided along x"
contains "$(contract vecadd vecadd)" '"kind": "coarsened", "waits": true, "divide": [1, ' \
  "one of the ways leaves x alone: grids are often one block wide"
for entry in $(contract vecadd vecadd | sed -n 's/^variants {"entry": "\([^"]*\)".*/\1/p'); do
  contains "$(entries vecadd)" "$entry" "each entry is there"
done
"$real" -arch=sm_90 vecadd.ptx -o vecadd.cubin || fail "ptxas takes it"
contains "$(strings vecadd.cubin 2> /dev/null || cat vecadd.cubin | tr -c '[:print:]' '\n')" \
  "ptxasw-launch " "the contract is in the cubin"

# Fewer blocks on an SM are no reason against an entry that is never launched cooperatively.
variants matmul
contains "$(contract matmul matmul)" "coarsened" "matmul needs more registers than it had"

# Of templates and functions of several files there may be more than one: so of their contracts.
sed 's/\.visible \.entry/.weak .entry/' "$ptx/jacobi.ptx" > weak_jacobi.ptx
"$TOOL" opt --variants weak_jacobi.ptx -o weak.ptx > /dev/null
contains "$(cat weak.ptx)" ".weak .global .align 8 .b8 __ptxasw_launch_jacobi[" "weak as its kernel"

# The drop-in, too; and without the option the bytes are those of always.
"$TOOL" -arch=sm_90 "$ptx/jacobi.ptx" -o with.cubin --ptxasw-variants || fail "the drop-in"
contains "$(tr -c '[:print:]' '\n' < with.cubin)" '{"entry":"jacobi__ptxasw_y4","name":"y:4","kind":"coarsened"' "its contract"
"$TOOL" -arch=sm_90 "$ptx/jacobi.ptx" -o off.cubin --ptxasw-variants=off
"$TOOL" -arch=sm_90 "$ptx/jacobi.ptx" -o without.cubin
same_file off.cubin without.cubin
grep -q __ptxasw without.cubin && fail "nothing is added unless asked for"

# Threads of a kernel that asks for its place along x alone, in blocks of other sizes: one entry.
variants matvec
same "$(variant matvec matvec block:256x1x1)" 'variants {"entry": "matvec__ptxasw_reshaped", "name": "block:256x1x1", "kind": "reshaped", "waits": true, "divide": [1, 1, 1], "rest": "reshaped", "block": [256, 0, 0]}'
same "$(entries matvec)" "matvec matvec__ptxasw_reshaped matvec__ptxasw_x4 " "one entry for all shapes"
"$real" -arch=sm_90 matvec.ptx -o matvec.cubin || fail "ptxas takes blocks of other shapes"

# Entries have up to 60 bytes of parameters more, of 4096.
for bytes in 3992 4000; do
  sed "s/vecadd_param_5\$/&,\n\t.param .align 4 .b8 large[$bytes]/" "$ptx/vecadd.ptx" > large.ptx
  grep -q "large\[$bytes\]" large.ptx || fail "no large parameter"
  "$TOOL" opt --variants large.ptx -o large_$bytes.ptx > /dev/null
  "$real" -arch=sm_90 large_$bytes.ptx -o large.cubin || fail "ptxas takes $bytes bytes and what is behind"
done
contains "$(cat large_3992.ptx)" ptxasw_original_shape "4088 bytes in all"
grep -q __ptxasw_launch large_4000.ptx && fail "4096 bytes with no room behind"

# What waits for memory gains little: a table that lanes read where data says; but not one of 1 KiB.
variants gathers
gain() { # of x:4 of kernel $1, in blocks of 256, in launches of 64 waves
  variant gathers "$1" x:4 |
    python3 -c 'import json, sys; print(round(1000 * dict(json.loads(sys.stdin.read().split(" ", 1)[1])["gains"])[256][-1]))'
}
[ "$(gain gather_f32)" -lt 1120 ] || fail "gather_f32: a gain of $(gain gather_f32) thousandths"
[ "$(gain lookup)" -gt 1300 ] || fail "lookup: a gain of $(gain lookup) thousandths"

# A kernel that can neither be merged nor have other blocks begins early, that is all.
variants controls
grep -q 'one block does the work' controls.ptx || fail "entries are coarsened"
awk '/entry matmul_tiled\(/ { own = 1 } own { print } own && /^}/ { exit }' controls.ptx > own.ptx
grep -q 'one block does the work' own.ptx && fail "the kernel itself, which the launcher may choose, is not"
same "$(contract controls histogram | grep -c '^variants')" 1
contains "$(variant controls histogram original)" '"waits": true' "it begins early"
contains "$(cat controls.ptx)" __ptxasw_launch_matmul_tiled "others of its file have more"

# What --coarsen=auto leaves because small launches may lose is for the launcher to weigh, and so is
# what its guesses of registers speak against.
contains "$(variant controls block_reduce x:4)" coarsened "nothing is shared, blocks that start are saved"
variants wave13pt
contains "$(variant wave13pt wave13pt y:4)" coarsened "guessed to gain nothing"

# A swap of threads states no gains: the launcher counts sectors. Three loads of lanes that are a run-time
# distance apart, a store of neighbours.
variants transposed
contains "$(contract transposed transposed1)" 'accesses {"count": 3, "bytes": 4, "along": [null, 4, 0]}
accesses {"count": 1, "bytes": 4, "along": [4, null, 0]}
variants ' "the accesses of the original"
same "$(variant transposed transposed1 thread-swap:8 | sed 's/.*"name"/"name"/')" \
  '"name": "thread-swap:8", "kind": "remapped", "waits": true, "divide": [1, 1, 1], "rows": [8, "y"]}'
echo ok
