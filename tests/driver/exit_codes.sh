# The exit code is ptxas's, and so is the signal, with and without a rewrite, with and without a log.
. "$(dirname "$0")/lib.sh"
for change in '//@nothing' '//@change'; do
  for code in 1 3 5 255; do
    ptx k.ptx "$change" "//@exit $code"
    on_fake k.ptx -o out; same $? "$code" "exit code, $change"
    PTXASW_LOG=$work/log on_fake k.ptx -o out; same $? "$code" "exit code, $change, log"
  done
  for signal in 11 9 15; do
    ptx k.ptx "$change" "//@signal $signal"
    ( on_fake k.ptx -o out ) 2> /dev/null; same $? $((128 + signal)) "signal, $change"
    ( PTXASW_LOG=$work/log on_fake k.ptx -o out ) 2> /dev/null
    same $? $((128 + signal)) "signal, $change, log"
  done
done
