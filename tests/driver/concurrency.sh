# Twenty calls at once on one input: each right, and each line of the log whole.
. "$(dirname "$0")/lib.sh"
ptx k.ptx '//@change'
export PTXASW_LOG=$work/log
i=0
while [ $i -lt 20 ]; do
  ( on_fake k.ptx -o "out$i" || echo "call $i failed" >> failures ) &
  i=$((i + 1))
done
wait
[ ! -e failures ] || fail "$(cat failures)"
i=0
while [ $i -lt 20 ]; do
  same_file out0 "out$i"
  i=$((i + 1))
done
same "$(grep -c '^{.*"action":"rewritten".*}$' log)" 20 "lines of the log"
same "$(wc -l < log)" 20
