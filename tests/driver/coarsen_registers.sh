# Eight copies of tricubic interpolation want 168 registers a thread, and 65,536 are not enough for
# that in a block of 1,024 (or 512): the launch would fail. The guard sees it and keeps the original.
. "$(dirname "$0")/lib.sh"
need_ptxas
[ -x "${TOOL:-}" ] || skip "the program is not built"
cp "$SOURCE/tests/golden/ptx/tricubic.ptx" k.ptx
flags="--coarsen=y:8 --coarsen-order=instructions --fp-contract=any"
used() { sed -n 's/.*Used \([0-9]*\) registers.*/\1/p' "$1"; }
PTXASW_LOG=$work/log PTXASW_FLAGS=$flags \
  "$TOOL" "$real" -arch=sm_90 -v k.ptx -o guarded 2> stderr || fail "drop-in: $(cat stderr)"
[ "$(($(used stderr) * 1024))" -le 65536 ] || fail "it would not launch: $(cat stderr)"
contains "$(cat log)" '"taken_back":[{"kernel":"tricubic"'
after=$(sed 's/.*"after":{"registers":\([0-9]*\).*/\1/' log)
[ "$((after * 1024))" -gt 65536 ] || fail "it would have launched with $after"
"$TOOL" opt k.ptx $flags -o out.ptx > report 2> stderr || fail "opt: $(cat stderr)"
same_file k.ptx out.ptx "opt takes it back, too"
contains "$(cat report)" "reverted"
# Whoever launches a grid that the host divides would leave most of the work undone.
host=$("$TOOL" report --format=json k.ptx $flags --coarsen-grid=host) || fail "report"
tr -d ' \n' <<< "$host" | grep -qF '"grid_divided_by":[1,1,1]' || fail "the report of a divided grid"
! grep -q "launch it with" <<< "$("$TOOL" report k.ptx $flags --coarsen-grid=host)" || fail "a divided grid"
mv guarded kept && "$real" -arch=sm_90 -v k.ptx -o guarded 2> stderr
cmp guarded kept || fail "not the original's machine code"
# Where the block size is stated, ptxas keeps to it, and the rewrite may stay, if an SM may hold fewer
# of these blocks than before.
sed 's/^{/.maxntid 256, 1, 1\n{/' k.ptx > bounded.ptx
before=$("$real" -arch=sm_90 -v bounded.ptx -o bounded 2>&1 | sed -n 's/.*Used \([0-9]*\) registers.*/\1/p')
PTXASW_FLAGS=$flags "$TOOL" "$real" -arch=sm_90 -v bounded.ptx -o bounded 2> stderr
same "$(used stderr)" "$before" "fewer blocks would be resident"
PTXASW_FLAGS="$flags --fewer-blocks" "$TOOL" "$real" -arch=sm_90 -v bounded.ptx -o bounded 2> stderr
[ "$(used stderr)" -gt 64 ] || fail "reverted without need: $(cat stderr)"
[ "$(($(used stderr) * 256))" -le 65536 ] || fail "it would not launch: $(cat stderr)"
