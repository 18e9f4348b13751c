# Where the text that stays is one that was tried, ptxas does not make the same of it once more: two
# runs, of the original and of what came of it. The bytes are those that ptxas makes of that text.
. "$(dirname "$0")/lib.sh"
need_ptxas
[ -n "${TOOL:-}" ] || skip "no ptxasw program"
ptx=$SOURCE/tests/golden/ptx
printf '#!/bin/sh\necho "$@" >> "%s/runs"\nexec "%s" "$@"\n' "$work" "$real" > counting
chmod +x counting
export PTXASW_PTXAS=$work/counting
rewritten() { rm -f runs; "$TOOL" -arch=sm_90 "$@" --ptxasw-decision-cache=off || fail "$*"; }
runs() { wc -l < runs; }

PTXASW_PTXAS=$real "$TOOL" opt --arch=sm_90 "$ptx/boxes.ptx" -o made.ptx > /dev/null || fail opt
cmp -s made.ptx "$ptx/boxes.ptx" && fail "boxes is rewritten"
"$real" -arch=sm_90 made.ptx -o expected.cubin -v 2> /dev/null

head -c 3000000 /dev/zero > out.cubin # longer than what comes
ln out.cubin linked.cubin
rewritten "$ptx/boxes.ptx" -o out.cubin 2> errors
same "$(runs)" 2 "runs of ptxas"
same_file expected.cubin out.cubin "as ptxas makes of the text"
same_file out.cubin linked.cubin "written into the file that was there"
same "$(cat errors)" "" "nothing is said"

rewritten "$ptx/boxes.ptx" -o out.cubin -v 2> errors
same "$(runs)" 2 "runs of ptxas, with -v"
contains "$(cat errors)" "Compiling entry function 'box9x9'" "what ptxas says is shown"

(umask 027 && rewritten "$ptx/boxes.ptx" -o private.cubin)
same "$(stat -c %a private.cubin)" 640 "as the umask says"

rewritten "$ptx/boxes.ptx" "$ptx/vecadd.ptx" -o two.cubin
[ "$(runs)" -gt 2 ] || fail "with another input ptxas is run for good: $(runs)"

# Nothing can be written there: ptxas says so.
mkdir closed && rewritten_into_closed() { "$TOOL" -arch=sm_90 "$ptx/boxes.ptx" -o closed/none/out.cubin --ptxasw-decision-cache=off; }
rewritten_into_closed 2> errors && fail "no folder"
contains "$(cat errors)" "closed/none/out.cubin" "ptxas complains"

# Of which nothing is remembered that is the text's own fault: the next call rewrites it.
kept_cache="--ptxasw-decision-cache=$work/kept"
"$TOOL" -arch=sm_90 "$ptx/boxes.ptx" -o closed/none/out.cubin "$kept_cache" 2> errors && fail "no folder"
rm -f runs && "$TOOL" -arch=sm_90 "$ptx/boxes.ptx" -o out.cubin "$kept_cache" || fail "a folder again"
same_file expected.cubin out.cubin "rewritten where the output can be written"

# What ptxas says of the outputs, and the names of files that it notes, are those of the call.
rewritten "$ptx/boxes.ptx" -o other.cubin -o out.cubin 2> errors
contains "$(cat errors)" "incompatible redefinition for option 'output-file'" "two outputs"
same_file expected.cubin out.cubin "the second one counts"
[ ! -e other.cubin ] || fail "the first one does not"
rewritten "$ptx/boxes.ptx" -o out.cubin --verbose-tkinfo true
strings out.cubin | grep -q -- '-o out.cubin' || fail "the note has the output's name"
