# A rewrite that would keep the kernel from launching is reverted.
. "$(dirname "$0")/lib.sh"
run_with() { ptx k.ptx '//@change' "//@registers $1"; on_fake k.ptx -o out 2> stderr || fail "exit"; }
run_with 44
same "$(calls)" 1 "64 registers fit everywhere, so the original is not asked"
grep -q '// rewritten' out || fail "64 registers"
run_with 45
same "$(cat out)" "cubin of $(cat k.ptx)" "65 registers"
same "$(calls)" 3 "the original is measured apart, and then assembled as it was asked for"
same "$(tail -n 4 record | tr '\n' ' ')" "k.ptx -o out  "
same "$(cat stderr)" ""
sed -i 's/^{/.maxntid 256, 1, 1\n{/' k.ptx
on_fake k.ptx -o out || fail "a stated block size"
grep -q '// rewritten' out || fail "65 registers, but ptxas keeps to the block size"
ptx k.ptx '//@change' "//@registers 45"
cp k.ptx both
on_fake both -o both
same "$(cat both)" "cubin of $(cat k.ptx)" "65 registers, output over the input"
ptx k.ptx '//@change' "//@registers 45"
PTXASW_LOG=$work/log on_fake k.ptx -o out
contains "$(cat log)" '"taken_back":[{"kernel":"k","before":{"registers":45,' "the log tells why"
contains "$(cat log)" '"after":{"registers":65,'
