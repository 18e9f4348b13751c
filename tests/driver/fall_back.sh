# Whatever goes wrong with a rewrite: the original is assembled, and the caller sees nothing else. That
# holds at the start, after ptxas was asked about other texts, and after it has written the output.
. "$(dirname "$0")/lib.sh"
faults='//@crash //@overflow //@abort //@hang //@throw //@allocate'
check() {
  ptx k.ptx "$@"
  on_fake k.ptx -arch=sm_90 -o out > stdout 2> stderr || fail "exit code after $*"
  same "$(cat stdout stderr)" "" "output after $*"
  same "$(tail -n 5 record | tr '\n' ' ')" "k.ptx -arch=sm_90 -o out  " "arguments after $*"
  same "$(cat out)" "cubin of $(cat k.ptx)" "cubin after $*"
  PTXASW_LOG=$work/log on_fake k.ptx -o out
  grep -q '"action":"fell back"' log || fail "$* is logged"
  rm log
}
check //@break
for fault in $faults; do
  check $fault
  check $fault //@try //@after-try
  check $fault //@change //@after-keep
done

# The output stands where the input was: what is left to assemble is in memory.
for fault in $faults; do
  ptx k.ptx $fault //@change //@after-keep
  cp k.ptx both
  on_fake both -o both > stdout 2> stderr || fail "exit code after $fault over the input"
  same "$(cat both)" "cubin of $(cat k.ptx)" "cubin after $fault over the input"
done
