# The same input gives the same bytes: again, on one core, among others of its kind, and while the
# machine is busy. What is chosen rests on counts of work, never on a clock or on who answers first.
. "$(dirname "$0")/lib.sh"
need_ptxas
[ -n "${TOOL:-}" ] || skip "no ptxasw program"
command -v taskset > /dev/null || skip "no taskset"
export PTXASW_PTXAS=$real
core=$(taskset -cp $$ | sed 's/.*: *\([0-9]*\).*/\1/')

# call OUT FILE [OPTION...]
call() {
  out=$1 file=$2; shift 2
  "$TOOL" -arch=sm_90 "$SOURCE/tests/golden/ptx/$file.ptx" -o "$out" --ptxasw-decision-cache=off "$@" 2> /dev/null
}
# check COMMAND...: `COMMAND OUT CASE...` writes what the first run wrote, for every case
cases='boxes --ptxasw-coarsen=auto
tricubic --ptxasw-coarsen=auto
matmul --ptxasw-coarsen=large
reductions
reductions --ptxasw-coarsen=auto
pitches
cooperation
vecadd'
each() {
  n=0
  while read -r file options; do
    # shellcheck disable=SC2086
    "$@" "$n" "$file" $options
    n=$((n + 1))
  done <<END
$cases
END
}
first() { n=$1; shift; call "first.$n" "$@" || fail "$*"; }
again() { n=$1; shift; call again "$@" || fail "$*"; same_file "first.$n" again "a second run: $*"; }
one_core() {
  n=$1; shift
  ( taskset -cp "$core" "$BASHPID" > /dev/null && call one "$@" ) || fail "$*"
  same_file "first.$n" one "on one core: $*"
}
together() { n=$1; shift; { call "together.$n" "$@" || echo "$*" >> failures; } & }
compare() { n=$1; shift; same_file "first.$n" "together.$n" "together: $*"; }

each first
for n in 0 3; do # with -v, as what is rewritten is assembled
  file=$(echo "$cases" | sed -n "$((n + 1))s/ .*//;$((n + 1))p")
  "$real" -v -arch=sm_90 "$SOURCE/tests/golden/ptx/$file.ptx" -o plain 2> /dev/null
  cmp -s plain "first.$n" && fail "$file is not rewritten"
done
each again
each one_core
busy=
for _ in 1 2 3 4; do
  ( while :; do :; done ) & busy="$busy $!"
done
trap 'kill $busy 2> /dev/null; rm -rf "$work"' EXIT
each again
each together
# shellcheck disable=SC2046
wait $(jobs -p | grep -vxF "$(echo "$busy" | tr ' ' '\n' | grep .)")
[ ! -e failures ] || fail "$(cat failures)"
each compare
