# ptxasw run and ptxasw verify: kernels on the CPU.
. "$(dirname "$0")/lib.sh"
[ -x "${TOOL:-}" ] || skip "the program is not built"
ptx k.ptx
same "$("$TOOL" run k.ptx --block=1 --arg=iota:f32:4+4 --print=0:f32:4)" "arg0: 0 2 2 3" "run"
"$TOOL" run k.ptx --block=1 --arg=iota:f32:4 --write=0:out.bin --counts > out || fail "run --write"
contains "$(cat out)" "global loads: 1 requests, 1 sectors"
same "$(wc -c < out.bin)" 16 "--write"
same "$("$TOOL" run k.ptx --block=1 --arg=@out.bin --print=arg0:u32:1)" "arg0: 0" "a file as argument"

"$TOOL" run k.ptx --arg=zeros:2 2> stderr; same $? 1 "out of bounds"
contains "$(cat stderr)" "undefined behaviour: k.ptx:9: ld.global.f32 %f1, [%rd1]: address"
"$TOOL" run k.ptx --arg=iota:f32:4 --report-races 2> stderr; same $? 1 "a race"
contains "$(cat stderr)" "data race"
"$TOOL" run k.ptx 2> stderr; same $? 1 "no arguments"
contains "$(cat stderr)" "takes 1 arguments, 0 were given"
"$TOOL" run k.ptx --arg=ones:4 2> stderr; same $? 1 "a mistaken argument"
"$TOOL" run k.ptx --kernel=q --arg=0 2> stderr; same $? 4 "a missing kernel"
contains "$(cat stderr)" "there is no kernel q"
# A name as the source has it, where it says which kernel is meant.
sed 's/entry k(/entry _Z5scalePf(/' k.ptx > mangled.ptx
for name in scale 'scale(float*)' _Z5scalePf; do
  same "$("$TOOL" run mangled.ptx --block=1 --kernel="$name" --arg=iota:f32:4+4 --print=0:f32:4)" "arg0: 0 2 2 3" "$name"
done
"$TOOL" verify mangled.ptx mangled.ptx --kernel=scale --block=1 --grid=1 --launches=4 > out || fail "verify by name"
"$TOOL" run mangled.ptx --kernel=scal --arg=0 2> stderr; same $? 4 "a mistyped kernel"
contains "$(cat stderr)" "there is no kernel scal in mangled.ptx; did you mean scale?"
sed 's/entry k(/entry _Z5scalePd(/' k.ptx | sed '1,/address_size/d' | cat mangled.ptx - > two.ptx
"$TOOL" run two.ptx --kernel=scale --arg=0 2> stderr; same $? 4 "two of one name"
contains "$(cat stderr)" "2 kernels of two.ptx are called scale; take one of: _Z5scalePf, _Z5scalePd"

"$TOOL" verify k.ptx k.ptx --block=1 --grid=1 --launches=4 > out || fail "verify of equal kernels"
contains "$(cat out)" "k: equal on 4 launches"
"$TOOL" verify k.ptx --block=1 --grid=1 --launches=4 > out || fail "verify of the rewritten kernel"
sed 's/add\.f32/mul.f32/' k.ptx > other.ptx
sed 's/^st\.global/@%p1 &/; s/^\.reg \.f32.*/&\n.reg .pred %p1;/; s/^ret/setp.ne.u64 %p1, %rd1, %rd1;\n&/' k.ptx \
  | sed 's/^ld\.global.*/setp.ne.f32 %p1, 0f00000000, 0f00000000;\n&/' > idle.ptx
"$TOOL" verify idle.ptx idle.ptx --launches=4 > out; same $? 3 "nothing is written"
contains "$(cat out)" "k: not shown to be equal: 0 of 4 launches agree, 4 wrote nothing"
contains "$(cat out)" "what may help:"
sed 's/^ld\.global.*/mov.u64 %rd1, 8;\n&/' k.ptx > nowhere.ptx
"$TOOL" verify nowhere.ptx nowhere.ptx --launches=4 > out; same $? 3 "no launch can be compared"
contains "$(cat out)" "k: not shown to be equal: 0 of"
"$TOOL" verify k.ptx other.ptx --block=1 --grid=1 --save=repro > out 2> stderr
same $? 1 "verify of different kernels"
contains "$(cat out)" "k: different"
contains "$(cat out)" "first:  k.ptx:11: st.global.f32 [%rd1], %f2"
contains "$(cat out)" "launch: --kernel=k --grid=1x1x1 --block=1x1x1 --arg=random:f32:"
contains "$(cat repro/second.ptx)" "mul.f32"
PTXASW=$TOOL sh repro/repro.sh > out 2> stderr; same $? 1 "the repro shows the difference"
contains "$(cat out stderr)" "differ"
cat > rows.ptx <<'END'
.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 in, .param .u64 out)
{
.reg .b32 %r<9>;
.reg .b64 %rd<9>;
ld.param.u64 %rd1, [in];
ld.param.u64 %rd2, [out];
mov.u32 %r2, %ctaid.y;
mov.u32 %r3, %tid.x;
mad.lo.u32 %r4, %r2, 32, %r3;
mul.wide.u32 %rd3, %r4, 4;
add.s64 %rd4, %rd1, %rd3;
add.s64 %rd5, %rd2, %rd3;
ld.global.u32 %r5, [%rd4+128];
ld.global.u32 %r6, [%rd4];
sub.u32 %r5, %r5, %r6;
st.global.u32 [%rd5], %r5;
ret;
}
END
rows="--block=32 --grid=1x8 --launches=4 --no-alias"
"$TOOL" verify rows.ptx $rows --coarsen=y:4 > out; same $? 3 "blocks that fill no group are outside"
contains "$(cat out)" "lie outside the launches that were given"
"$TOOL" verify rows.ptx $rows --grid=1x7 --coarsen=y:4 > out || fail "verify of a coarsened kernel"
"$TOOL" verify rows.ptx $rows --coarsen=y:4 --coarsen-grid=host > out || fail "a divided grid"
"$TOOL" opt rows.ptx --coarsen=y:4 --coarsen-grid=host > host.ptx
contains "$(cat host.ptx)" '// ptxasw-launch: {"kernel": "k", "grid_divided_by": [1, 4, 1]}'
contains "$("$TOOL" report rows.ptx --coarsen=y:4 --coarsen-grid=host)" \
  "launch it with a grid divided by 1x4x1"
"$TOOL" verify rows.ptx host.ptx $rows > out 2> stderr; same $? 1 "the whole grid is too much for it"

# Sums written down as an assembler may fuse them, and as it may not.
sed 's/^add.*/mul.f32 %f2, %f1, %f1;\nadd.f32 %f0, %f2, %f1;/; s/, %f2;$/, %f0;/' k.ptx > free.ptx
sed 's/^mul.*/mul.f32 %f2, %f1, %f1;/; s/^add.*/fma.rn.f32 %f0, %f1, %f1, %f1;/' free.ptx > pinned.ptx
one="--block=1 --grid=1 --launches=8"
"$TOOL" verify free.ptx pinned.ptx $one > out || fail "verify of pinned sums"
sed 's/^fma.*/fma.rz.f32 %f0, %f1, %f1, %f1;/' pinned.ptx > other.ptx
"$TOOL" verify free.ptx other.ptx $one > out 2> stderr
case $? in # ptxas, if it is there, tells
  1) contains "$(cat out)" "k: different" ;;
  3) contains "$(cat out)" "not shown to be fused" ;;
  *) fail "a sum that nobody may write" ;;
esac

"$TOOL" verify k.ptx --kernel=q 2> stderr; same $? 4 "verify of a missing kernel"
contains "$(cat stderr)" "there is no kernel q"
"$TOOL" verify k.ptx missing.ptx 2> stderr; same $? 4 "a missing file"

# What is merged in large launches only is compared with a limit that a CPU reaches.
need_ptxas
cp "$SOURCE/tests/golden/ptx/matmul.ptx" .
"$TOOL" opt matmul.ptx -o large.ptx -q
for second in "" large.ptx; do
  timeout 60 "$TOOL" verify matmul.ptx $second --kernel=matmul > out || fail "verify of a default: $(cat out)"
  contains "$(cat out)" "Launches from 2048 threads on are merged here"
  contains "$(cat out)" "matmul: equal on"
done
sed 's/mul\.lo\.u32 \t%ptxasw_b32_3/add.u32 %ptxasw_b32_3/' large.ptx > changed.ptx
cmp -s large.ptx changed.ptx && fail "nothing was changed"
timeout 60 "$TOOL" verify matmul.ptx changed.ptx --kernel=matmul --launches=8 --time=1 > out
! grep -q "merged here" out || fail "another text is not taken for the optimizer's"
