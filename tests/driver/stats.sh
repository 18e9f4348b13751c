# ptxasw stats: a build's log, and the store of this user, in numbers.
. "$(dirname "$0")/lib.sh"
ptx k.ptx
for n in 1 2 3; do
  PTXASW_LOG=log PTXASW_PTXAS=$FAKE "$TOOL" -arch=sm_75 k.ptx -o out$n || fail "a call"
done
"$TOOL" stats --log=log > out || fail "stats of a log"
contains "$(cat out)" "         3  passed through" "calls"
contains "$(cat out)" "files              0 of 3 rewritten (0.0 %)" "files"
contains "$(cat out)" "kernels            0 of 3 rewritten (0.0 %)" "kernels"
contains "$(cat out)" "         3  nothing to rewrite" "why calls were left alone"
PTXASW_LOG=log "$TOOL" stats > out2 || fail "the log of the environment"
same_file out out2
"$TOOL" stats --log=log --format=json | grep -q '"calls": 3' || fail "as JSON"
"$TOOL" stats --log=k.ptx 2> stderr; same $? 4 "what is no log"
contains "$(cat stderr)" "k.ptx is no log" "what is no log"

mkdir -p "$XDG_CACHE_HOME/ptxasw"
printf 'bytes 2097152\ndecisions.hits 30\ndecisions.misses 10\ndecisions.written 9\n' > "$XDG_CACHE_HOME/ptxasw/counters"
"$TOOL" stats > out || fail "stats of this machine"
contains "$(cat out)" "$XDG_CACHE_HOME/ptxasw: 2.0 of 1024 MB" "the store"
contains "$(cat out)" "40 asked for: 75.0 % were there, 0.0 % in PTXASW_STORE; 9 written" "hits"
"$TOOL" stats --format=json | grep -q '"decisions.hits": 30' || fail "the store as JSON"
