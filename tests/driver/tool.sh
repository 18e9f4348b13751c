# The program itself: its sub-commands, and that they and the drop-in are not mistaken for each other.
. "$(dirname "$0")/lib.sh"
[ -x "${TOOL:-}" ] || skip "the program is not built"
ptx k.ptx
ldd "$TOOL" | grep -q libz3 && fail "Z3 is needed to start"
"$TOOL" help | grep -q '  opt ' || fail "help"
same_file /dev/stdin <("$TOOL" help) < <("$TOOL")
same_file /dev/stdin <("$TOOL" help) < <("$TOOL" --help)
for command in opt analyze report explain hook self-test; do
  "$TOOL" $command --help > out || fail "$command --help"
  grep -q ptxasw out || fail "$command --help says nothing"
done

"$TOOL" opt k.ptx -o out.ptx > report || fail opt
same_file k.ptx out.ptx "by default nothing changes"
grep -q k report || fail "opt reports"
"$TOOL" opt --shuffle=all k.ptx > out.ptx || fail "opt to standard output"
"$TOOL" opt --shuffle all - < k.ptx > out2.ptx || fail "opt from standard input"
same_file out.ptx out2.ptx
"$TOOL" opt k.ptx -o out.ptx -q --stats --report r.json 2> stderr
grep -q '100.00% of' stderr || fail "--stats"
grep -q ptxasw-report r.json || fail "--report"
"$TOOL" analyze k.ptx --format=json | grep -q ptxasw-report || fail "analyze"
"$TOOL" report k.ptx k.ptx --format=table | grep -q k || fail "report"
"$TOOL" report k.ptx --format=html -o page.html && grep -qi '<html' page.html || fail "report, html"
cp "$SOURCE/tests/golden/ptx/jacobi.ptx" .
"$TOOL" report jacobi.ptx --shuffle=all > out || fail "report"
contains "$(cat out)" ": rewritten by shuffles" "the verdict"
[ "$(wc -l < out)" -lt 40 ] || fail "a short report has $(wc -l < out) lines"
grep -q param_ out && fail "addresses are details"
"$TOOL" report jacobi.ptx --shuffle=all --details | grep -q 'param_.*%tid' || fail "--details"
"$TOOL" report k.ptx | grep -q ': left as it is \[' || fail "the verdict on what is left"
"$TOOL" report jacobi.ptx --shuffle=all --format=table | grep -q 'rewritten by shuffles' || fail "the verdict in the table"
"$TOOL" report jacobi.ptx --shuffle=all --format=html | grep -q '"verdict":"rewritten by shuffles' || fail "the verdict in the page"
"$TOOL" explain k.ptx 10 > out || fail "explain"

"$TOOL" opt k.ptx --shuffle=some 2> stderr; same $? 2 "a mistaken value"
contains "$(cat stderr)" "none, all, auto"
"$TOOL" opt k.ptx --bogus 2> /dev/null; same $? 2 "a mistaken option"
"$TOOL" opt k.ptx --bogus 2>&1 | grep -q 'there is no option --bogus$' || fail "--bogus is not named"
"$TOOL" report k.ptx --fromat=json 2>&1 | grep -q 'did you mean --format?' || fail "--fromat"
"$TOOL" opt k.ptx --shufle=all 2>&1 | grep -q 'did you mean --shuffle?' || fail "--shufle"
"$TOOL" optt k.ptx 2> stderr; same $? 2 "a mistaken sub-command"
contains "$(cat stderr)" "did you mean opt?"
"$TOOL" opt k.ptx --report=r.jsno -o out.ptx 2> stderr; same $? 2 "a mistaken report"
contains "$(cat stderr)" "did you mean .json?"
"$TOOL" opt missing.ptx 2> stderr; same $? 4 "a missing file"
contains "$(cat stderr)" "missing.ptx: No such file"
for i in 1 2 3 4 5 6 7 8; do echo "# no PTX, \`$i\` { ["; done > prose.ptx
for command in opt analyze report "explain --" run verify; do
  rm -f out.ptx
  "$TOOL" ${command%--} prose.ptx $(case $command in explain*) echo 1;; esac) > out 2> stderr
  same $? 4 "$command of what is no PTX"
  contains "$(cat stderr)" "prose.ptx is no PTX"
  same "$(wc -l < stderr)" 1 "messages of $command"
done
cp prose.ptx prose.cu
contains "$("$TOOL" report prose.cu 2>&1)" "; nvcc -arch=sm_90 -lineinfo -ptx prose.cu writes some"
(printf '/* a header */\n// and more\n# 7 "k.cu"\n\n'; cat k.ptx) > commented.ptx
"$TOOL" opt commented.ptx > /dev/null || fail "comments in front"
for i in $(seq 30); do echo 'bogus instruction;'; done > mistakes
sed '/^ret/r mistakes' k.ptx > wrong.ptx
"$TOOL" opt wrong.ptx -o out.ptx > out
[ "$(grep -c ': error: ' out)" -le 10 ] || fail "more than ten messages"

# Output that cannot be written is told; nothing aborts.
if [ -w /dev/full ]; then
  for arguments in --help help "opt --help" "hook" "hook nvcc" "launch --help" "opt k.ptx" "report k.ptx"; do
    "$TOOL" $arguments > /dev/full 2> stderr; same $? 1 "$arguments > /dev/full"
    contains "$(cat stderr)" "No space left" "$arguments"
  done
fi
"$TOOL" run k.ptx --steps=2 --arg=zeros:4096 2> stderr; same $? 1 "run --steps"
contains "$(cat stderr)" "used up its steps" "run's own --steps"
"$TOOL" opt --help | grep -q '^  4  ' || fail "exit codes in --help"
"$TOOL" verify --help=man | grep -q 'TH PTXASW..VERIFY 1' || fail "a manual page"
"$TOOL" opt --help=words | grep -q '^--shuffle=' || fail "words for a shell"

"$TOOL" hook > names || fail hook
for name in nvcc cmake ccache clang openmp flang gcc triton inductor jax nvhpc other; do
  grep -q "^  $name " names || fail "hook does not list $name"
  "$TOOL" hook $name > out || fail "hook $name"
  grep -qE "$TOOL|DIR" out || fail "hook $name names neither the program nor an overlay: $(cat out)"
  grep -qiE '^\(.*tried' out || fail "hook $name does not say whether it was tried"
done
for said in PTXASW_FLAGS -Xptxas "ccache -C"; do
  contains "$("$TOOL" hook ccache)" "$said" "hook ccache says what its cache does not see"
done
same "$(grep -c '^  [a-z]' names)" 13 "hooks"
same "$(grep untried names)" "  nvhpc     NVIDIA's HPC SDK (nvc, nvc++, nvfortran) (untried)"
"$TOOL" hook icc > out 2> stderr; same $? 2 "hook icc"
same_file names out
contains "$(cat stderr)" icc

# In the place of ptxas.
PTXASW_PTXAS=$FAKE "$TOOL" k.ptx -o out || fail "drop-in"
same "$(cat out)" "cubin of $(cat k.ptx)"
PTXASW_PTXAS=$FAKE "$TOOL" --version > out
same "$(head -n 1 out)" "Fake, release 13.0, V13.0.88" "--version"
grep -qE '^ptxasw [0-9.]+ \((commit [0-9a-f]+, )?build [0-9a-f]+\)$' out || fail "our line of --version"
cp k.ptx opt
PTXASW_PTXAS=$FAKE "$TOOL" opt -o out2 || fail "a file of PTX called opt"
same "$(cat out2)" "cubin of $(cat k.ptx)"
