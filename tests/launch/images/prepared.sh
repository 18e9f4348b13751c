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

# PTX by itself, as NVRTC gives it, and a driver whose compiler is the release that is here: what was
# prepared of the text is compared in the run that comes upon it, and known from then on.
cat > "$work/compiler" << 'END'
#!/usr/bin/env bash
# load|link TEXT CUBIN
case $1 in
  link) "$CUDA/ptxas" $OPTIONS -c -arch=sm_90 "$2" -o "$2.cubin" && "$CUDA/nvlink" -arch=sm_90 "$2.cubin" -o "$3"
    rm -f "$2.cubin"; echo asked >> "$ASKED" ;;
  *) "$CUDA/ptxas" $OPTIONS -arch=sm_90 "$2" -o "$3" ;;
esac
END
chmod +x "$work/compiler"
export CUDA OPTIONS="" FAKE_COMPILER=$work/compiler ASKED=$work/asked
CUDA=$(dirname "$(realpath "$nvcc")")
"$nvcc" -arch=sm_90 -ptx -o "$work/text.ptx" "$SOURCE" || fail "nvcc -ptx"
launch() { "$TOOL" launch --report="$work/text.json" -- "$PROGRAM" "$1" "$work/text.ptx" 2048 > "$work/text.$1"; }
same() { cmp "$work/text.plain.$1" "$work/text.$1" || fail "$2: $(diff "$work/text.plain.$1" "$work/text.$1")"; }
state() { grep -q "\"state\": \"$1\"" "$work/text.json" || fail "$2: $(cat "$work/text.json")"; }
for how in data file library; do
  "$PROGRAM" $how "$work/text.ptx" 2048 > "$work/text.plain.$how" || fail "$how: $(cat "$work/text.plain.$how")"
done
"$TOOL" prepare --chip=sm_90 --image="$work/text.ptx" || fail "prepare a text"
[ ! -e "$ASKED" ] || fail "the linker was asked before it is needed"
for how in data file library; do
  launch $how || fail "$how of a text"
  same $how "$how of a text"
  state replaced "$how of a text"
  grep -q '"kernel": "box5", "grid": "64x256x1", "block": "32x8x1", "variant": "[xyz]:' "$work/text.json" ||
    fail "$how of a text: $(cat "$work/text.json")"
done
[ "$(wc -l < "$ASKED")" = 1 ] || fail "the linker was asked $(wc -l < "$ASKED") times"
# Another compiler: another cache, since the driver's file is the same.
export XDG_CACHE_HOME=$work/other OPTIONS=-O1
"$TOOL" prepare --chip=sm_90 --image="$work/text.ptx" || fail "prepare a text"
launch data || fail "a text, another compiler"
state other-compiler "another compiler"
"$PROGRAM" data "$work/text.ptx" 2048 > "$work/text.plain.data"
same data "another compiler"

hurry() { # the preparer: it has the lowest priority, and this machine may have much to do
  for process in /proc/[0-9]*; do
    tr '\0' '\n' 2> /dev/null < "$process/environ" | grep -qx "XDG_CACHE_HOME=$XDG_CACHE_HOME" || continue
    chrt -o -p 0 "${process#/proc/}" && renice -n 0 "${process#/proc/}"
  done > /dev/null 2>&1
}

# PTX that the program has its driver link: the first run hands text and cubin on, the next has what came
# of them. So has one that takes the cubin from a cache of its own and does not link.
export XDG_CACHE_HOME=$work/linked OPTIONS="" ASKED=$work/asked-to-link
until_is() { # STATE WHAT COMMAND...
  local wanted=$1 what=$2
  shift 2
  for _ in $(seq 600); do
    hurry
    "$TOOL" launch --report="$work/linked.json" -- "$@" > "$work/link" || fail "$what"
    cmp "$work/link.plain" "$work/link" || fail "$what: $(diff "$work/link.plain" "$work/link")"
    grep -q "\"state\": \"$wanted\"" "$work/linked.json" && return
    sleep 0.1
  done
  fail "$what: $(cat "$work/linked.json")"
}
for flags in "" -DDIVIDE; do
  "$nvcc" -arch=sm_90 $flags -ptx -o "$work/link.ptx" "$SOURCE" || fail "nvcc -ptx $flags"
  "$PROGRAM" link "$work/link.ptx" 2048 > "$work/link.plain" || fail "link: $(cat "$work/link.plain")"
  until_is replaced "a link $flags" "$PROGRAM" link "$work/link.ptx" 2048
  grep -q '"kernel": "box5", "grid": "64x256x1", "block": "32x8x1", "variant": "[xyz]:' "$work/linked.json" ||
    fail "a link $flags: $(cat "$work/linked.json")"
  "$work/compiler" link "$work/link.ptx" "$work/link.cubin"
  until_is replaced "a cubin that was linked before" "$PROGRAM" data "$work/link.cubin" 2048
done
# A driver whose compiler is another.
export XDG_CACHE_HOME=$work/linked-otherwise OPTIONS=-O1
"$PROGRAM" link "$work/link.ptx" 2048 > "$work/link.plain" || fail "link: $(cat "$work/link.plain")"
until_is other-compiler "a link, another compiler" "$PROGRAM" link "$work/link.ptx" 2048

# Machine code by itself, as NVRTC gives it (CuPy), gains nothing. The report says what would help.
"$nvcc" -arch=sm_90 -cubin -o "$work/alone.cubin" "$SOURCE" || fail "nvcc -cubin"
"$PROGRAM" data "$work/alone.cubin" 2048 > "$work/alone.plain" || fail "a cubin"
"$TOOL" launch --report="$work/alone.json" -- "$PROGRAM" data "$work/alone.cubin" 2048 > "$work/alone" ||
  fail "a cubin by itself"
cmp "$work/alone.plain" "$work/alone" || fail "a cubin by itself: $(diff "$work/alone.plain" "$work/alone")"
grep -q '"state": "cubin-alone", "words": "[^"]*-arch=compute_90 and nvrtcGetPTX' "$work/alone.json" ||
  fail "a cubin by itself: $(cat "$work/alone.json")"

# Many at once on an empty store, with the real preparer: one entry, and none sees anything of it.
export XDG_CACHE_HOME=$work/many OPTIONS=""
for n in $(seq 64); do
  "$TOOL" launch -- "$PROGRAM" data "$work/image.fatbin" 2048 > "$work/many.$n" 2>&1 &
done
wait
for n in $(seq 64); do
  cmp "$work/plain.data" "$work/many.$n" || fail "one of many: $(cat "$work/many.$n")"
done
for _ in $(seq 600); do
  hurry
  "$TOOL" launch --report="$work/many.json" -- "$PROGRAM" data "$work/image.fatbin" 2048 > "$work/out"
  grep -q '"state": "replaced"' "$work/many.json" && break
  sleep 0.1
done
grep -q '"state": "replaced"' "$work/many.json" || fail "many at once: $(cat "$work/many.json")"
[ "$(find "$work/many" -type f -name '????????????????????????????????' -path '*/ptxasw/??/*' \
  -exec grep -l '^images' {} + | wc -l)" = 1 ] ||
  fail "many at once: $(find "$work/many")"
# Those that wait for their turn end, and leave nothing.
for _ in $(seq 300); do
  hurry
  [ -z "$(find "$work/many/ptxasw/preparing" -type f ! -name one)" ] && break
  sleep 0.1
done
[ -z "$(find "$work/many/ptxasw/preparing" -type f ! -name one)" ] || fail "turns are left over"
echo ok
