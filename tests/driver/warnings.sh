# What ptxas warns of, of its own accord or as it is asked to, are places in the PTX as it came, whatever
# was made of it, and no entries that were added.
. "$(dirname "$0")/lib.sh"
need_ptxas
cat > rows.ptx <<'END'
.version 7.0
.target sm_80
.address_size 64
.visible .entry rows(.param .u64 in, .param .u64 out, .param .u32 w)
{
.reg .b32 %r<8>;
.reg .b64 %rd<9>;
.reg .f64 %f<9>;
ld.param.u64 %rd1, [in];
ld.param.u64 %rd2, [out];
ld.param.u32 %r1, [w];
mov.u32 %r2, %ctaid.y;
mov.u32 %r3, %tid.x;
mad.lo.s32 %r4, %r2, %r1, %r3;
mul.wide.s32 %rd3, %r4, 8;
mul.wide.s32 %rd4, %r1, 8;
add.s64 %rd5, %rd1, %rd3;
add.s64 %rd6, %rd5, %rd4;
add.s64 %rd7, %rd6, %rd4;
ld.global.f64 %f1, [%rd5];
ld.global.f64 %f2, [%rd6];
ld.global.f64 %f3, [%rd7];
add.f64 %f4, %f1, %f2;
add.f64 %f5, %f4, %f3;
add.s64 %rd8, %rd2, %rd3;
st.global.f64 [%rd8], %f5;
ret;
}
END
options="-arch=sm_80 -warn-double-usage"
"$real" $options rows.ptx -o plain.cubin 2> expected || fail "ptxas"
grep -q 'line 2[34]; warning' expected || fail "ptxas warns of nothing: $(cat expected)"
for own in --ptxasw-coarsen=y:4 --ptxasw-variants; do
  rm -f log
  PTXASW_LOG=$work/log "$TOOL" "$real" $options $own rows.ptx -o out.cubin 2> errors || fail "$own"
  grep -q '"action":"rewritten"' log || fail "$own should change it: $(cat log)"
  same_file expected errors "what is said with $own"
done
# Of a text that is written over, and with ptxas' own account, lines are those of the original.
cp rows.ptx over.ptx
"$TOOL" "$real" $options --ptxasw-coarsen=y:4 over.ptx -o over.ptx 2> errors || fail "written over"
grep -q 'ptxas over.ptx, line [0-9]*; warning' errors || fail "written over: $(cat errors)"
"$TOOL" "$real" $options -v --ptxasw-coarsen=y:4 rows.ptx -o out.cubin 2> errors || fail "-v"
grep -q 'ptxas rows.ptx, line [0-9]*; warning' errors || fail "-v: $(cat errors)"
