# Where PTX comes from: several files, standard input, text in an argument, options files, files that
# are no files, and the output's own file.
. "$(dirname "$0")/lib.sh"
ptx a.ptx '//@change'; ptx b.ptx; ptx c.ptx '//@change'
shape() { sed 's,/proc/self/fd/[0-9]*,FD,' record | tr '\n' ' '; }

on_fake a.ptx -v b.ptx c.ptx -o out 2> /dev/null || fail "several inputs"
same "$(shape)" "FD -v b.ptx c.ptx -o out  FD -v b.ptx FD -o out  " "each changed input beside what was made of those before"
same "$(grep -c '// rewritten' out)" 2

cat a.ptx | on_fake - -o out || fail "standard input"
same "$(shape)" "FD -o out -v  "
cat b.ptx | on_fake - -o out || fail "standard input, unchanged"
same "$(shape)" "- -o out  "
same "$(cat out)" "cubin of $(cat b.ptx)"
{ echo '//@break'; cat b.ptx; } > broken.ptx
cat broken.ptx | on_fake - -o out || fail "standard input, after a rejected rewrite"
same "$(cat out)" "cubin of $(cat broken.ptx)" "standard input is read again"

on_fake -ias "$(cat a.ptx)" b.ptx -o out || fail "-ias"
same "$(head -n 1 record)" -ias
! grep -q '// rewritten' out || fail "-ias was touched"

echo '-o out "a.ptx" --ptxasw-paranoid' > options
on_fake -optf options || fail "options file"
same "$(shape)" "-o out FD -v  "
echo '-o out' > options
on_fake -optf options a.ptx || fail "options file without inputs"
same "$(shape)" "-optf options FD -v  "

mkfifo pipe
cat a.ptx > pipe &
on_fake pipe -o out || fail "FIFO"
same "$(shape)" "pipe -o out  "

ln -s a.ptx link
on_fake link -o out && grep -q '// rewritten' out || fail "symbolic link"

on_fake missing.ptx -o out; same "$(shape)" "missing.ptx -o out  " "missing file"
on_fake . -o out; same "$(shape)" ". -o out  " "directory"
on_fake '' -o out; same "$(shape)" " -o out  " "empty name"

cp a.ptx both
on_fake both -o both || fail "input is output"
grep -q 'cubin of' both || fail "output over the input"
