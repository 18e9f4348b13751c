# ptxasw self-test tells a command that goes through us from one that does not.
. "$(dirname "$0")/lib.sh"
[ -x "${TOOL:-}" ] || skip "the program is not built"
cat > compiler <<'END'
#!/bin/sh
# A compiler that "compiles" by calling the ptxas of its first argument on a file of PTX.
[ "$1" = --broken ] && { echo broken; exit 1; }
exec "$1" "${0%/*}/k.ptx" -o "${0%/*}/k.cubin"
END
chmod +x compiler
ptx k.ptx
export PTXASW_PTXAS=$FAKE
"$TOOL" self-test -- ./compiler "$TOOL" > out; same $? 0 "goes through"
contains "$(cat out)" "yes: this command runs ptxasw"
contains "$(cat out)" "nothing to rewrite"
"$TOOL" self-test -- ./compiler "$FAKE" > out; same $? 1 "does not"
contains "$(cat out)" "no: the command worked, but not through ptxasw"
"$TOOL" self-test -- ./compiler --broken > out; same $? 2 "fails"
contains "$(cat out)" broken
"$TOOL" self-test -- ./missing > /dev/null; same $? 2 "no such compiler"
for tool in cmake /usr/bin/make ninja; do
  "$TOOL" self-test -- $tool --build . > out; same $? 2 "a build tool"
  contains "$(cat out)" "$tool is a build tool: give the compiler"
  contains "$(cat out)" 'PTXASW_LOG=$PWD/log.json cmake --build'
done
contains "$("$TOOL" hook cmake)" 'PTXASW_LOG=$PWD/log.json cmake --build'

need_ptxas
need_nvcc
unset PTXASW_PTXAS
"$TOOL" self-test -- "$nvcc" -arch=sm_90 > out; same $? 1 "nvcc alone"
contains "$(cat out)" "--ptxas-prefix=$TOOL"
"$TOOL" self-test -- "$nvcc" -arch=sm_90 --ptxas-prefix="$TOOL" -c x.cu -o x.o > out
same $? 0 "nvcc with --ptxas-prefix: $(cat out)"
grep -q rewritten out || fail "its kernel is one that is rewritten: $(cat out)"
