#!/usr/bin/env bash
# ptxasw launch: the library under programs that know nothing of it.
set -u
fail() { echo "FAIL: $*"; exit 1; }
work=$(mktemp -d) && trap 'rm -rf "$work"' EXIT
export LD_LIBRARY_PATH=$FAKE_FOLDER XDG_CACHE_HOME=$work/cache
[ "$("$PROGRAM")" = "k 0" ] || fail "the program by itself"
[ "$("$TOOL" launch -- "$PROGRAM")" = "k__ptxasw_x4 0" ] || fail "the model's choice"
[ "$("$TOOL" launch --policy=original -- "$PROGRAM")" = "k 0" ] || fail "a named version"
[ "$("$TOOL" launch "$PROGRAM")" = "k__ptxasw_x4 0" ] || fail "without --"
[ "$(PTXASW_LAUNCH=off LD_PRELOAD=$LIBRARY "$PROGRAM")" = "k 0" ] || fail "switched off"
if ! ldconfig -p | grep -q libcuda.so.1; then # machines with a GPU have a driver
  [ "$(LD_LIBRARY_PATH=$work "$TOOL" launch --report -- "$PROGRAM" 2> "$work/err")" = "no driver" ] ||
    fail "without a driver"
  LD_LIBRARY_PATH=$work "$TOOL" launch --wait --report=none.html -- "$PROGRAM" > "$work/out" 2> "$work/page"
  grep -q "no GPU or no driver was found: no kernel was launched, so there is no none.html" "$work/page" &&
    grep -q "nothing is prepared now" "$work/page" && grep -q "is in the store for sm_90; ptxasw prepare " "$work/page" ||
    fail "without a driver: $(cat "$work/page")"
  grep -q "no kernel was launched through us: no CUDA driver" "$work/err" || fail "the report without a driver"
fi

"$TOOL" launch --report="$work/report.json" --log -- "$PROGRAM" > "$work/out" 2> "$work/err"
grep -q '"kernel": "k", "grid": "999x1x1", "block": "64x1x1", "variant": "x:4"' \
  "$work/report.json" || fail "the report: $(cat "$work/report.json")"
grep -q "^ptxasw launch: k: 2 versions; nothing was measured on such a chip" "$work/err" || fail "the log: $(cat "$work/err")"
"$TOOL" launch --report="$work/report.html" -- "$PROGRAM" > "$work/out" &&
  grep -q '"kernel":' "$work/report.html" && grep -q '</html>' "$work/report.html" || fail "the report as a page"
[ ! -e "$work/report.html.json" ] || fail "what the page was drawn from is left behind"
"$TOOL" launch --report -- "$PROGRAM" > "$work/out" 2> "$work/err"
grep -q "^    x:4 *one block does the work of 4 along x$" "$work/err" || fail "the versions: $(cat "$work/err")"

# Time steps: merged behind the first launches, made before any other call, which gets its arguments.
[ "$("$TOOL" launch --steps=60000000 -- "$PROGRAM" steps)" = "1,1098 s3 s s s and 3 and 5" ] ||
  fail "time steps: $("$TOOL" launch --steps=60000000 --log -- "$PROGRAM" steps 2>&1)"
[ "$("$PROGRAM" steps)" = "5,1098 s s s s s and 5 and 5" ] || fail "time steps by themselves"

# Nobody sees what a program that is linked against libcuda calls: nothing is put off.
for program in ${LINKED//:/ }; do
  [ "$("$TOOL" launch --steps=60000000 -- "$program")" = "9 9 9 " ] || fail "calls by symbols: $program"
done

# Nor may launches begin early, and that is said once.
program=${LINKED%%:*}
[ "$("$TOOL" launch --log -- "$program" 2> "$work/err")" = "9 9 9 " ] || fail "calls by symbols, early"
[ "$(grep -c "no launch begins early: .* calls cu.* directly" "$work/err")" = 1 ] ||
  fail "calls by symbols, early: $(cat "$work/err")"

# Another library between program and driver has its turn, before or behind ours.
program=${LINKED%%:*}
for order in "$LIBRARY:$OTHER_TOOL" "$OTHER_TOOL:$LIBRARY"; do
  [ "$(PTXASW_LAUNCH=report LD_PRELOAD=$order "$program" 2> "$work/err")" = "9 9 9 and 27 seen" ] ||
    fail "another library: $order"
  grep -q "^ *27 .* 4x1x1 .* s$" "$work/err" || fail "ours beside it: $(cat "$work/err")"
done

# Launches begin early behind one another, not behind another call.
[ "$("$TOOL" launch -- "$PROGRAM" early)" = "-EE-EE" ] || fail "launches that begin early"
[ "$("$TOOL" launch --no-early -- "$PROGRAM" early)" = "------" ] || fail "nobody wants early launches"

# Steps are merged and launches begin early, unless launches are wanted as they come.
settings() { # OPTIONS...
  "$TOOL" launch "$@" -- sh -c 'echo "$PTXASW_LAUNCH"'
}
[ "$(settings)" = on,steps,early ] || fail "by itself: $(settings)"
[ "$(settings --policy=model --batch)" = on,steps,early,policy=model,batch ] || fail "by the model"
[ "$(settings --no-steps)" = on,early ] && [ "$(settings --no-early --log)" = on,steps,log ] || fail "one of them not"
[ "$(settings --policy=x:4 --steps)" = on,policy=x:4,steps ] && [ "$(settings --profile=p)" = on,profile=p ] ||
  fail "launches as they come"

"$TOOL" launch --report -- sh -c 'exit 7' 2> "$work/err"
[ $? = 7 ] || fail "the exit code of the program"
"$TOOL" launch -- "$work/none" 2> "$work/err"
[ $? = 127 ] || fail "no such program"
"$TOOL" launch --nonsense -- true 2> "$work/err"
[ $? = 2 ] || fail "an unknown option"
grep -q "there is no option --nonsense$" "$work/err" || fail "which option: $(cat "$work/err")"
"$TOOL" launch --reprot=x.json -- true 2> "$work/err" && fail "an option that is misspelt"
grep -q "no option --reprot; did you mean report?" "$work/err" || fail "meant: $(cat "$work/err")"
"$TOOL" launch --policy=mesure -- true 2> "$work/err" && fail "a policy that is misspelt"
grep -q "no policy mesure; did you mean measure?" "$work/err" || fail "meant: $(cat "$work/err")"
"$TOOL" launch --policy=nonsense -- true 2> "$work/err" && fail "a policy that is none"
grep -q "no policy nonsense: model, measure" "$work/err" || fail "no policy: $(cat "$work/err")"
for name in original standard x:2,y:4 block:32x8x1 thread-swap:32; do
  "$TOOL" launch --policy=$name -- true || fail "a version's name: $name"
done
"$TOOL" launch --report run.html -- "$PROGRAM" 2> "$work/err"
[ $? = 127 ] || fail "a value behind a blank"
grep -q "run.html: cannot be run; did you mean --report=run.html?" "$work/err" || fail "meant: $(cat "$work/err")"
"$TOOL" launch --policy=y:4 -- true || fail "a version's name"
"$TOOL" launch 2> "$work/err"
[ $? = 2 ] || fail "nothing to run"
PTXASW_LAUNCH=nonsense LD_PRELOAD=$LIBRARY "$PROGRAM" 2>&1 | grep -q "'nonsense' is no setting" ||
  fail "a setting that is none"
echo ok
