# A signal sent to us ends the ptxas we wait for, and us by the same signal.
. "$(dirname "$0")/lib.sh"
ptx k.ptx '//@change' '//@sleep'
for name in TERM INT HUP; do
  rm -f record
  # A background job of a shell without job control ignores SIGINT; env undoes that.
  PTXASW_PTXAS=$FAKE env --default-signal=INT "$PTXASW" --ptxasw-shuffle=all k.ptx -o out &
  ours=$!
  while [ ! -s record ]; do sleep 0.05; done
  child=$(cat "/proc/$ours/task/$ours/children")
  [ -n "$child" ] || fail "no child to wait for"
  kill -$name $ours
  wait $ours
  same $? $((128 + $(kill -l $name))) "ended by SIG$name"
  sleep 0.05
  [ ! -d "/proc/${child% }" ] || fail "ptxas lives on after SIG$name"
done

# A signal that was ignored when we started stays so: nohup, background jobs.
for name in INT HUP QUIT; do
  rm -f record out
  PTXASW_PTXAS=$FAKE env --default-signal=INT,QUIT --ignore-signal=$name \
    "$PTXASW" --ptxasw-shuffle=all k.ptx -o out &
  ours=$!
  while [ ! -s record ]; do sleep 0.05; done
  kill -$name $ours
  sleep 0.2
  [ -d /proc/$ours ] || fail "an ignored SIG$name ended us"
  kill -TERM $ours
  wait $ours
  same $? 143 "ended by SIGTERM, with SIG$name ignored"
done
