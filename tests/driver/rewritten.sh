# A rewritten input: only its argument changes, -v is added, and nothing of it is seen outside.
. "$(dirname "$0")/lib.sh"
ptx k.ptx '//@change'
on_fake -arch=sm_90 -m64 k.ptx -o out > stdout 2> stderr || fail "exit code"
same "$(cat stdout stderr)" "" "output of a silent compile"
same "$(calls)" 1
same "$(sed 's,/proc/self/fd/[0-9]*,FD,' record | tr '\n' ' ')" "-arch=sm_90 -m64 FD -o out -v  "
grep -q '// rewritten' out || fail "the rewritten text was not assembled"
! grep -q '// rewritten' k.ptx || fail "the input was written to"

on_fake -arch=sm_90 -v k.ptx -o out 2> stderr || fail "exit code with -v"
grep -q 'Used 20 registers' stderr || fail "the caller's -v is shown"

ptx w.ptx '//@change'
echo '//@warn' >> w.ptx
on_fake w.ptx -o out 2> stderr
same "$(cat stderr)" "ptxas w.ptx, line 15; warning : as asked" "names the original line"
