# What --coarsen=large has decided is kept: the next call asks ptxas nothing more, and its bytes are the
# same. Whatever is wrong with the cache, the bytes are the same, too.
. "$(dirname "$0")/lib.sh"
need_ptxas
[ -n "${TOOL:-}" ] || skip "no ptxasw program"
export PTXASW_PTXAS=$real
cp "$SOURCE/tests/golden/ptx/jacobi.ptx" k.ptx
call() { rm -f log; PTXASW_LOG=$work/log "$TOOL" -arch=sm_90 k.ptx -o "$@" --ptxasw-coarsen=large || fail "$*"; }
asked() { grep -c '"search"' log; }

call none.cubin --ptxasw-decision-cache=off
same "$(asked)" 1 "without a cache ptxas is asked"
[ ! -e .cache ] || fail "--decision-cache=off writes"
call first.cubin
same "$(asked)" 1 "the first call asks"
same "$(stat -c %a .cache/ptxasw)" 700
entries() { find "$1" -type f -path '*/??/*'; }
same "$(entries .cache | wc -l)" 1
call second.cubin
same "$(asked)" 0 "the second call does not"
contains "$(cat log)" "remembered"
same_file none.cubin first.cubin
same_file none.cubin second.cubin

call other.cubin --ptxasw-effort=thorough
same "$(asked)" 1 "other options, another question"
for wrong in '' 'garbage' 'ptxasw decisions 1' 'ptxasw decisions 1
jacobi 9 9 9 0 0 0 2' 'ptxasw decisions 1
other -'; do
  for entry in $(entries .cache); do echo "$wrong" > "$entry"; done
  call wrong.cubin
  same "$(asked)" 1 "decided anew in spite of '$wrong'"
  same_file none.cubin wrong.cubin
done

# Of two inputs each may call the other's functions.
printf '.version 9.0\n.target sm_90\n.address_size 64\n.visible .func beside() { ret; }\n' > beside.ptx
call two.cubin beside.ptx
same "$(asked)" 1 "another module beside it"
call again.cubin beside.ptx
same "$(asked)" 0 "the same one again"
sed 's/beside/aside/' beside.ptx > aside.ptx
call other.cubin aside.ptx
same "$(asked)" 1 "and yet another one"

rm -rf .cache
echo file > .cache
call file.cubin
same_file none.cubin file.cubin "a file where the cache should be"
call elsewhere.cubin --ptxasw-decision-cache="$work/elsewhere"
[ "$(entries elsewhere | wc -l)" = 1 ] || fail "--decision-cache=DIR"
XDG_CACHE_HOME='' HOME='' call homeless.cubin
same_file none.cubin homeless.cubin
