# What launches run that are not merged is what they ran: --coarsen=auto leaves a kernel alone of
# whose body ptxas makes another program beside the merged form, and says so. A tile that is
# double-buffered ran at 0.29 to 0.88 of its speed in all launches that are not merged.
. "$(dirname "$0")/lib.sh"
need_ptxas
[ -x "${TOOL:-}" ] || skip "the program is not built"
for name in double float_o1 signedchar_o1; do
  file=$SOURCE/tests/driver/double_buffer/$name.ptx
  "$TOOL" opt "$file" -o out.ptx --report=report.json > /dev/null 2> stderr || fail "$(cat stderr)"
  same_file "$file" out.ptx "$name is left alone"
  contains "$(cat report.json)" '"body-changed"'
  "$TOOL" opt "$file" --coarsen=large -o large.ptx > /dev/null 2> stderr || fail "$(cat stderr)"
  contains "$(cat large.ptx)" "one block does the work of"
done
# And where it stays what it was, a kernel is merged.
"$TOOL" opt "$SOURCE/tests/golden/ptx/boxes.ptx" -o out.ptx > /dev/null 2> stderr || fail "$(cat stderr)"
contains "$(cat out.ptx)" "one block does the work of 4 along y"
