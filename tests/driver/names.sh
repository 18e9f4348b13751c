# Any name, any way of being called, and never in circles.
. "$(dirname "$0")/lib.sh"
ptx k.ptx
mkdir bin copy
cp "$FAKE" bin/ptxas
export PATH=$work/bin:$PATH
record_is() { same "$(tr '\n' ' ' < record)" "$1" "$2"; rm -f record; }

for name in anything ptxas x86_64-pc-linux-gnu-ptxas; do
  cp "$PTXASW" "copy/$name"
  copy/$name k.ptx -o out; record_is "k.ptx -o out  " "called as $name"
done
(exec -a ptxas "$PTXASW" k.ptx -o out); record_is "k.ptx -o out  " "argv[0] is bare"
exec 7< "$PTXASW"
/proc/self/fd/7 k.ptx -o out; record_is "k.ptx -o out  " "called by descriptor"
"$PTXASW" ptxas k.ptx -o out; record_is "k.ptx -o out  " "prefix, bare name"
PATH=/usr/bin:/bin "$PTXASW" "$work/bin/ptxas" -v; record_is "-v  " "prefix, path"

# Our copies in front of the real one, beside us, and a script that calls us back.
cp "$PTXASW" copy/ptxas
printf '#!/bin/sh\nexec "%s" ptxas "$@"\n' "$PTXASW" > copy/script
chmod +x copy/script
PATH=$work/copy:$PATH "$PTXASW" k.ptx -o out; record_is "k.ptx -o out  " "a copy in PATH"
PATH=$work/copy:$PATH copy/ptxas k.ptx -o out; record_is "k.ptx -o out  " "a copy of the copy"
PTXASW_PTXAS=$work/copy/script "$PTXASW" k.ptx -o out; record_is "k.ptx -o out  " "a script"
PTXASW_PTXAS=$PTXASW "$PTXASW" k.ptx -o out; record_is "k.ptx -o out  " "told to use itself"

cp "$PTXASW" bin/ptxasw
same "$(bin/ptxasw)" help
same "$(bin/ptxasw opt k.ptx)" "sub-command opt"
cp k.ptx opt
bin/ptxasw opt -o out; record_is "opt -o out  " "a file called opt is an input"

# A ptxas that was named and cannot be run is an error; no other takes its place.
for named in "$work/missing" "$work" "$work/k.ptx"; do
  rm -f record out
  PATH=$work/copy:$PATH PTXASW_PTXAS=$named "$PTXASW" k.ptx -o out 2> stderr
  same $? 255 "PTXASW_PTXAS=$named"
  contains "$(cat stderr)" "PTXASW_PTXAS is '$named'"
  [ ! -e out ] && [ ! -e record ] || fail "another ptxas ran in the place of $named"
  PTXASW_PTXAS=$named "$PTXASW" --version > out 2> stderr; same $? 255 "--version, PTXASW_PTXAS=$named"
  [ -x "${TOOL:-}" ] || continue
  rm -f opt
  PTXASW_PTXAS=$named "$TOOL" opt k.ptx --shuffle=all > out 2> stderr; same $? 1 "opt, PTXASW_PTXAS=$named"
  contains "$(cat stderr)" "PTXASW_PTXAS is '$named'"
done
