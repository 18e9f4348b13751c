#!/usr/bin/env bash
# A program whose image is prepared while it runs: a short first run has its own machine code, one
# that goes on and later ones have what was prepared; whatever the store or the preparer does, it runs.
set -u
fail() { echo "FAIL: $*"; exit 1; }
work=$(mktemp -d) && trap 'rm -rf "$work"' EXIT
export LD_LIBRARY_PATH=$FAKE_FOLDER XDG_CACHE_HOME=$work/cache
own="own 1 k" prepared="prepared 1 k__ptxasw_x4"
# SETTINGS; as `ptxasw launch` runs it, with another preparer.
launch() { PTXASW_PROGRAM=$PREPARER_PROGRAM PTXASW_LAUNCH=$1 LD_PRELOAD=$LIBRARY "$PROGRAM"; }
until_prepared() {
  for _ in $(seq 200); do
    [ "$(launch on)" = "$prepared" ] && return
    sleep 0.05
  done
  fail "$1: it is never prepared"
}
[ "$("$PROGRAM")" = "$own" ] || fail "the program by itself"
[ "$(launch no-images)" = "$own" ] || fail "switched off"
[ ! -e "$work/cache/ptxasw" ] || fail "switched off, something was prepared"

# The first run has its own.
[ "$(launch report="$work/first.json")" = "$own" ] || fail "the first run"
grep -q '"file": "memory", "state": "preparing"' "$work/first.json" ||
  fail "the report of the first run: $(cat "$work/first.json")"
until_prepared "the second run"
[ "$(launch report="$work/second.json")" = "$prepared" ] || fail "a later run"
grep -q '"state": "replaced", "words": "", "images": 1, "ptx": true, "kernels": 1, "versions": 1' \
  "$work/second.json" || fail "the report of a later run: $(cat "$work/second.json")"
launch report 2> "$work/report.txt" > "$work/out"
grep -q "^ *1 *yes *1 *1 *replaced *memory$" "$work/report.txt" || fail "$(cat "$work/report.txt")"
[ "$(launch no-images)" = "$own" ] || fail "prepared, and switched off"
[ "$(CUDA_FORCE_PTX_JIT=1 launch on)" = "$own" ] || fail "where the driver has to compile"
[ "$(REFUSES=1 launch report="$work/refused.json")" = "$own" ] || fail "a driver that refuses it"
grep -q '"state": "refused"' "$work/refused.json" || fail "refused: $(cat "$work/refused.json")"

# An entry that was changed or cut is none, and is prepared again.
entry=$(find "$work/cache/ptxasw" -type f -name '????????????????????????????????' -exec grep -l '^images' {} +)
[ -f "$entry" ] || fail "one entry: $entry"
printf x | dd of="$entry" bs=1 seek=300 conv=notrunc status=none
[ "$(launch on)" = "$own" ] || fail "a changed entry"
until_prepared "a changed entry"
truncate -s 100 "$entry"
[ "$(launch on)" = "$own" ] || fail "an entry that was cut"
until_prepared "an entry that was cut"
chmod 666 "$entry"
[ "$(launch on)" = "$own" ] || fail "an entry that others could have written"

# What is prepared while the program runs is launched in the same run.
export XDG_CACHE_HOME=$work/late
[ "$(WAITS=1 launch report="$work/late.json")" = "$own, then 1 k__ptxasw_x4" ] || fail "a run that goes on"
grep -q '"kernel": "k", .*"variant": "x:4"' "$work/late.json" && grep -q '; versions of 1 came in this run"' "$work/late.json" || fail "late: $(cat "$work/late.json")"

# No store.
[ "$(XDG_CACHE_HOME=/dev/null launch on)" = "$own" ] || fail "a store that cannot be written"
[ "$(unset XDG_CACHE_HOME HOME; launch on)" = "$own" ] || fail "no store"
# No preparer, or one that dies, or finds nothing.
export XDG_CACHE_HOME=$work/second
[ "$(PTXASW_PROGRAM=$work/none PTXASW_LAUNCH=on LD_PRELOAD=$LIBRARY "$PROGRAM")" = "$own" ] ||
  fail "no preparer"
for _ in 1 2 3; do
  [ "$(PREPARER=dies launch on)" = "$own" ] || fail "a preparer that dies"
done
until_prepared "after one that died"
export XDG_CACHE_HOME=$work/third
[ "$(PREPARER=finds-nothing launch on)" = "$own" ] || fail "nothing is worth it"
for _ in $(seq 200); do
  PREPARER=finds-nothing launch report="$work/nothing.json" > "$work/out"
  grep -q '"state": "no-versions"' "$work/nothing.json" && break
  sleep 0.05
done
grep -q '"state": "no-versions"' "$work/nothing.json" || fail "$(cat "$work/nothing.json")"

# A disk that is full while an entry is written: there is none, nor a part of one, until there is room.
export XDG_CACHE_HOME=$work/full
for _ in 1 2 3; do
  [ "$(PREPARER=is-full launch on)" = "$own" ] || fail "a disk that is full"
  sleep 0.3
done
left=$(find "$work/full/ptxasw" -mindepth 2 -type f 2> /dev/null)
[ -z "$left" ] || fail "a disk that is full has $left"
until_prepared "when there is room again"

# Whoever reads what the program writes does not wait for the preparer, through any descriptor.
export XDG_CACHE_HOME=$work/fourth
begin=$(date +%s)
[ "$( (PREPARER=sleeps launch on 9>&1 8>&2) 2>&1 | cat)" = "$own" ] || fail "a slow preparer"
[ $(($(date +%s) - begin)) -lt 15 ] || fail "the program's pipe is held by the preparer"

# Many at once, on an empty store.
export XDG_CACHE_HOME=$work/fifth
for n in $(seq 64); do
  launch on > "$work/many.$n" &
done
wait
for n in $(seq 64); do
  [ "$(cat "$work/many.$n")" = "$own" ] || [ "$(cat "$work/many.$n")" = "$prepared" ] ||
    fail "one of many: $(cat "$work/many.$n")"
done
until_prepared "many at once"
echo ok
