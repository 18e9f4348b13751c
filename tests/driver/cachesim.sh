# ptxasw-cachesim: the diagrams' example, a second cache, a rewritten kernel, and mistakes.
. "$(dirname "$0")/lib.sh"
cachesim="${TOOL:-}-cachesim"
[ -x "$cachesim" ] || skip "the program is not built"
stencil="$SOURCE/bench/cache/stencil7.ptx --grid=4 --block=64 --arg=zeros:1432+204 --arg=zeros:1024
  --arg=16 --arg=16 --arg=16"
product="$SOURCE/tests/golden/ptx/mm_naive.ptx --grid=4 --block=64 --arg=zeros:1024
  --arg=zeros:1024 --arg=zeros:1024 --arg=16 --arg=16 --arg=16"
fetches() { awk -v order="$1" '$1 == order && NF == 6 { print $4 }' out; }

"$cachesim" $stencil --row=16 --cache=lines:24,width:4 --order=linear-column:4 \
  --order=linear-column:8 --svg=out.svg > out || fail "the stencil"
same "$(fetches naive) $(fetches linear-column:4) $(fetches linear-column:8)" "462 264 596" "stencil"
contains "$(cat out)" "24 lines of 4 elements, one thread after another"
contains "$(cat out)" "Closed form for a stencil of 7x7 on 16x16"
contains "$(cat out)" "best: columns of 4"
contains "$(head -c 200 out.svg)" "<svg xmlns="
contains "$(cat out.svg)" ">linear-column:8</text>"

"$cachesim" $product --row=16 --cache=lines:32,width:4 --order=linear-column:4 > out ||
  fail "the matrix product"
same "$(fetches naive) $(fetches linear-column:4)" "1088 320" "matrix product"
contains "$(cat out)" "Closed form for a matrix product of 16x16 elements, depth 16"

"$cachesim" $stencil --cache=lines:8,width:4 --l2=lines:24,width:4 --group=32 --order=swap \
  > out || fail "two caches and warps"
contains "$(cat out)" "8 lines of 4 elements, then 24 lines of 4 elements, 32 threads in step"
contains "$(cat out)" "2nd fetch"

# A kernel rewritten to walk that way does what the model says of the order.
plane="$SOURCE/tests/golden/ptx/jacobi.ptx --grid=7x6 --block=1 --arg=zeros:512 --arg=zeros:512
  --arg=9 --arg=8 --arg=1 --arg=1 --arg=1 --cache=lines:6,width:4 --fp-contract=any"
as_modelled() { # ORDER FETCHES ARGUMENTS
  order=$1 expected=$2; shift 2
  "$cachesim" "$@" --order=$order --remap=$order > out || fail "--remap=$order"
  same "$(fetches $order)" $expected "the model of $order"
  same "$(sed -n 's/^rewritten, [^ ]* *//p' out | awk '{ print $3 }')" $expected "--remap=$order"
}
as_modelled column:4 48 $plane
as_modelled zigzag:4 47 $plane
as_modelled swap 84 $plane
as_modelled linear-column:4 264 $stencil --row=16 --cache=lines:24,width:4
as_modelled linear-zigzag:8 356 $stencil --row=16 --cache=lines:24,width:4
"$cachesim" $product --row=16 --cache=lines:32,width:4 --remap=auto > out || fail "--remap=auto"
contains "$(cat out)" "rewritten, auto"
# Of two blocks along y, merged into one, the second finds what the first has read in registers.
rewritten="$SOURCE/tests/golden/ptx/jacobi.ptx --grid=1x4 --block=32 --arg=zeros:16384
  --arg=zeros:16384 --arg=64 --arg=6 --arg=1 --arg=1 --arg=1 --cache=lines:64,width:32"
"$cachesim" $rewritten --coarsen=y:2 --fp-contract=any > out 2> stderr || fail "$(cat stderr)"
contains "$(cat out)" "rewritten"
"$cachesim" $stencil --cache=lines:8,width:4 --coarsen=y:2 2> stderr
same $? 1 "nothing rewritten"
contains "$(cat stderr)" "the optimizer leaves this file as it is"

mistake() { # EXIT-CODE MESSAGE ARGUMENTS
  code=$1 message=$2; shift 2
  "$cachesim" "$@" > out 2> stderr; same $? "$code" "$message"
  contains "$(cat stderr)" "$message"
}
mistake 2 "--cache is required" $stencil
mistake 1 "cache 'lines:24': one of width and bytes is needed" $stencil --cache=lines:24
mistake 1 "order 'column' is none of" $stencil --cache=lines:24,width:4 --order=column
mistake 1 "cache 'ways:5'" $stencil --cache=ways:5
mistake 1 "takes 5 arguments, 0 were given" "$SOURCE/bench/cache/stencil7.ptx" --cache=lines:2,width:4
mistake 1 "needs a launch along x alone" "$SOURCE/bench/cache/stencil7.ptx" --grid=1x2 --block=64 \
  --arg=zeros:4 --arg=zeros:4 --arg=0 --arg=0 --arg=0 --cache=lines:2,width:4 --order=linear-swap
mistake 2 "--group" $stencil --cache=lines:2,width:4 --group=0
mistake 4 "there is no kernel q" $stencil --cache=lines:2,width:4 --kernel=q
mistake 1 "undefined behaviour" "$SOURCE/bench/cache/stencil7.ptx" --block=64 --arg=zeros:4 \
  --arg=zeros:4 --arg=8 --arg=8 --arg=8 --cache=lines:2,width:4
mistake 1 "too much to draw, or nothing" "$SOURCE/bench/cache/stencil7.ptx" --block=64 \
  --arg=zeros:4 --arg=zeros:4 --arg=0 --arg=0 --arg=0 --cache=lines:2,width:4 --svg=x.svg

"$TOOL" cachesim $stencil 2> stderr; same $? 2 "the sub-command of before"
contains "$(cat stderr)" "ptxasw-cachesim"
