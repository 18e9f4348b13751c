# The drop-in and `ptxasw opt` go through one entry: for every PTX file of the tests they give the same bytes.
. "$(dirname "$0")/lib.sh"
need_ptxas
[ -n "${TOOL:-}" ] || skip "no ptxasw program"
export PTXASW_PTXAS=$real
compared=0 changed=0

# FILE OPTION...
check() {
  file=$1; shift
  arch=$(sed -n 's/^[[:space:]]*\.target[[:space:]]*\(sm_[0-9a-z]*\).*/\1/p' "$file" | head -n 1)
  "$real" -arch="$arch" "$file" -o plain.cubin > /dev/null 2>&1 || return 0 # none for this ptxas
  "$TOOL" opt "$@" "$file" -q -o opt.ptx || fail "opt $* of $file"
  "$TOOL" -arch="$arch" "$file" -o drop.cubin "${@/#--/--ptxasw-}" 2> /dev/null ||
    fail "the drop-in, $*, on $file"
  # Cubins say how ptxas was called; what was rewritten has been assembled with -v.
  verbose=
  cmp -s "$file" opt.ptx || verbose=-v
  "$real" $verbose -arch="$arch" opt.ptx -o opt.cubin 2> /dev/null ||
    fail "ptxas does not take what opt $* makes of $file"
  same_file opt.cubin drop.cubin "opt and the drop-in, $*, of $file"
  compared=$((compared + 1))
  [ -z "$verbose" ] || changed=$((changed + 1))
}

for file in "$SOURCE"/tests/golden/ptx/*.ptx "$SOURCE"/tests/corpus/*.ptx "$SOURCE"/tests/traps/*.ptx; do
  check "$file" --decision-cache=off
  check "$file" --decision-cache=off --shuffle=all
done
for file in "$SOURCE"/tests/golden/ptx/*.ptx; do
  check "$file" --decision-cache=off --coarsen=auto --loop-carry=auto --warp-reduce=auto
done
for name in jacobi boxes matmul; do
  check "$SOURCE/tests/golden/ptx/$name.ptx" --decision-cache=off --coarsen=large
done
echo "$compared compared, $changed changed"
[ $compared -ge 200 ] && [ $changed -ge 20 ] || fail "only $compared files, and $changed of them changed"
