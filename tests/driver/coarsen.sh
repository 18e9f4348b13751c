# --coarsen=large asks the real ptxas: what pays is coarsened, what does not passes byte for byte, and
# the bytes do not depend on how many runs of ptxas went on at a time.
. "$(dirname "$0")/lib.sh"
need_ptxas
[ -n "${TOOL:-}" ] || skip "no ptxasw program"
export PTXASW_PTXAS=$real
ptx=$SOURCE/tests/golden/ptx
auto() { "$TOOL" -arch=sm_90 "$ptx/$1.ptx" -o "$1.cubin" --ptxasw-coarsen=large --ptxasw-decision-cache=off || fail "$1"; }

PTXASW_LOG=$work/log auto jacobi
contains "$(cat log)" '"coarsening":"y:' "jacobi gains"
contains "$(cat log)" 'predicted to run 1.' "the prediction is in the log"
contains "$(cat log)" '"search":{"trials":' "the runs of ptxas are counted"
"$real" -arch=sm_90 "$ptx/jacobi.ptx" -o plain.cubin
cmp -s jacobi.cubin plain.cubin && fail "jacobi is as it was"

mv jacobi.cubin first.cubin
taskset -c "$(taskset -pc $$ | sed 's/.*: //; s/[,-].*//')" true 2>/dev/null &&
  one="taskset -c $(taskset -pc $$ | sed 's/.*: //; s/[,-].*//')"
${one:-} "$TOOL" -arch=sm_90 "$ptx/jacobi.ptx" -o jacobi.cubin --ptxasw-coarsen=large --ptxasw-decision-cache=off
same_file first.cubin jacobi.cubin "one processor, the same bytes"

rm -f log
PTXASW_LOG=$work/log auto gradient
"$real" -arch=sm_90 "$ptx/gradient.ptx" -o plain.cubin
same_file gradient.cubin plain.cubin "gradient would lose"
contains "$(cat log)" '"action":"passed through"' "gradient"

"$TOOL" opt --coarsen=large "$ptx/laplacian.ptx" --details -o out.ptx > report
contains "$(cat report)" 'chosen' "opt chooses"
contains "$(cat report)" 'of ptxas to choose coarsenings' "opt says what it cost"
"$TOOL" opt --coarsen=large --coarsen-budget=1 "$ptx/rhs4th3fort.ptx" --details -o out.ptx > report
contains "$(cat report)" '--coarsen-budget=1' "the budget is named"
same_file "$ptx/rhs4th3fort.ptx" out.ptx "nothing tried, nothing changed"

"$TOOL" opt --coarsen=auto "$ptx/jacobi.ptx" --details -o out.ptx > report
contains "$(cat report)" 'too short' "a small launch of jacobi would lose by the question for its size"
same_file "$ptx/jacobi.ptx" out.ptx "no launch may lose"
