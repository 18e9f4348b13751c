# Wherever the optimizer, the report and the log go wrong, and however: the call ends as ptxas ends on the
# original. The real optimizer asks the real ptxas here, and the faults are spread over all that it does
# (faults/main.cpp).
. "$(dirname "$0")/lib.sh"
need_ptxas
export FAULT_MARKS=$work/marks PTXASW_PTXAS=$real
ptx=$SOURCE/tests/golden/ptx/matmul.ptx # whose multiply-adds are pinned
flags="--ptxasw-coarsen=large --ptxasw-decision-cache=off -arch=sm_90"
call() { PTXASW_LOG=$work/log "$FAULTY" $flags "$ptx" -o out.cubin > stdout 2> stderr; }

"$real" -arch=sm_90 "$ptx" -o original.cubin || fail "ptxas on the original"
call || fail "a call without a fault"
cp marks places
grep -q '"action":"rewritten"' log || fail "it should be rewritten: $(cat log)"
for phase in begin original trial rewritten keep end exit; do
  grep -q " $phase\$" places || fail "no $phase among the places"
done

# AFTER CALL KIND: what it must come to. What is thrown costs one kernel or one trial, where it is thrown
# while that is made; then the others may still be rewritten.
check() {
  rm -f out.cubin log marks
  FAULT=$2@$1 call
  same $? 0 "exit code after $2 at $1"
  grep -q ' fault$' marks && came=$((came + 1))
  cmp -s out.cubin original.cubin && return
  case $2 in
  throw | allocate) ;;
  *) [ "$1" -ge "$end" ] || fail "another cubin after $2 at $1" ;;
  esac
  grep -q '"action":"rewritten"' log || [ "$1" -ge "$end" ] || fail "$2 at $1 is logged: $(cat log)"
}

end=$(sed -n 's/ end$//p' places)
came=0 tried=0 before=0
kinds="crash throw abort allocate overflow"
for place in $(cut -d ' ' -f 1 places | sort -nu); do
  [ "$place" -gt $((before + 20)) ] || continue
  span=$((place - before))
  # Up to the first question: reading, emulating, planning.
  if [ $before = 0 ]; then shares="1 10 30 60 90"; else shares="30 80"; fi
  for share in $shares; do
    check $((before + span * share / 100 + 1)) ${kinds%% *}
    kinds="${kinds#* } ${kinds%% *}" # in turn
    tried=$((tried + 1))
  done
  before=$place
done
for share in 20 50 80; do
  FAULT_SECONDS=5 check $((end * share / 100)) hang
  tried=$((tried + 1))
done
# A slow machine may come to the deadline first.
[ $came -ge $((tried * 9 / 10)) ] || fail "of $tried faults $came came"
