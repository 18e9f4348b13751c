# Whatever goes wrong with a rewrite: the original is assembled, and the caller sees nothing else.
. "$(dirname "$0")/lib.sh"
for fault in '//@break' '//@crash' '//@overflow' '//@abort' '//@hang' '//@throw'; do
  ptx k.ptx "$fault"
  on_fake k.ptx -arch=sm_90 -o out > stdout 2> stderr || fail "exit code after $fault"
  same "$(cat stdout stderr)" "" "output after $fault"
  same "$(tail -n 5 record | tr '\n' ' ')" "k.ptx -arch=sm_90 -o out  " "arguments after $fault"
  same "$(cat out)" "cubin of $(cat k.ptx)" "cubin after $fault"
  PTXASW_LOG=$work/log on_fake k.ptx -o out
  grep -q '"action":"fell back"' log || fail "$fault is logged"
  rm log
done
