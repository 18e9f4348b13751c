# Calls in which nothing may be rewritten reach ptxas as they are.
. "$(dirname "$0")/lib.sh"
ptx k.ptx '//@change'
while read -r arguments; do
  # shellcheck disable=SC2086
  on_fake $arguments > /dev/null 2>&1
  same "$(tr '\n' ' ' < record)" "$arguments  " "arguments"
done <<'END'
-g --dont-merge-basicblocks --return-at-end k.ptx -o out
-O0 k.ptx -o out
-O k.ptx -o out
--opt-level 0 k.ptx -o out
-arch=compute_90 -m64 k.ptx
-arch=lto_90 k.ptx
-sanitize memcheck k.ptx -o out
-legacy-bar-warp-wide-behavior k.ptx -o out
--maxntid 1024 -override-directive-values k.ptx -o out
-astoolspatch k.ptx -o out
-dlcm=cv k.ptx -o out
--force-load-cache cv k.ptx -o out
-dscm wt k.ptx -o out
-fscm=wt k.ptx -o out
--query-controls f k.ptx -o out
--blocks-are-clusters true k.ptx -o out
k.ptx -o /dev/null
--help
--list-version
--bogus k.ptx -o out
-ok.ptx k.ptx
-v
- - -o out
END
on_fake --version > stdout
same "$(head -n 1 stdout)" "Fake, release 13.0, V13.0.88" "ptxas's own version comes first"
contains "$(sed -n 2p stdout)" "--shuffle=all" "and ours says what is on"
same "$(wc -l < stdout)" 2

PTXASW_PTXAS=$FAKE "$PTXASW" --ptxasw-shuffle=none --ptxasw-warp-reduce=none --ptxasw-coarsen=none --ptxasw-loop-carry=none k.ptx -o out
same "$(cat out)" "cubin of $(cat k.ptx)" "with every rewrite off nothing is rewritten"
PTXASW_FLAGS=--shuffle=all PTXASW_PTXAS=$FAKE "$PTXASW" k.ptx -o out
grep -q '// rewritten' out || fail "PTXASW_FLAGS"
PTXASW_PTXAS=$FAKE "$PTXASW" --ptxasw-bogus k.ptx -o out 2> stderr || fail "a mistake fails the build"
same "$(cat stderr)" "ptxasw warning: --ptxasw-bogus: unknown option 'bogus'; ignored"
