#!/usr/bin/env bash
# A real fat binary, made by plain nvcc, on the fake driver: what ptxasw prepares of it is loaded in
# its place, and the program sees what its own image has.
set -u
fail() { echo "FAIL: $*"; exit 1; }
nvcc=$(command -v nvcc || ls /usr/local/cuda/bin/nvcc 2> /dev/null) || { echo "no nvcc: skipped"; exit 77; }
work=$(mktemp -d) && trap 'rm -rf "$work"' EXIT
export LD_LIBRARY_PATH=$FAKE_FOLDER XDG_CACHE_HOME=$work/cache
"$nvcc" -arch=sm_90 -fatbin -o "$work/image.fatbin" "$SOURCE" || fail "nvcc"
for how in data file library; do
  "$PROGRAM" $how "$work/image.fatbin" 2048 > "$work/plain.$how" || fail "$how: $(cat "$work/plain.$how")"
done
"$TOOL" prepare --chip=sm_90 --image="$work/image.fatbin" || fail "prepare"
for how in data file library; do
  "$TOOL" launch --report="$work/$how.json" -- "$PROGRAM" $how "$work/image.fatbin" 2048 \
    > "$work/launched.$how" || fail "$how: $(cat "$work/launched.$how")"
  cmp "$work/plain.$how" "$work/launched.$how" || fail "$how: $(diff "$work"/*."$how")"
  grep -q '"state": "replaced"' "$work/$how.json" || fail "$how: $(cat "$work/$how.json")"
  grep -q '"kernel": "box5", "grid": "64x256x1", "block": "32x8x1", "variant": "[xyz]:' \
    "$work/$how.json" || fail "$how: $(cat "$work/$how.json")"
done
echo ok
