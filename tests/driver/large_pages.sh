# A ptxas that assembles gets large pages for its heap, whether we wait for it or become it, and keeps
# what the user has tuned; one whose arguments we do not understand gets the environment as it came.
. "$(dirname "$0")/lib.sh"
modes=/sys/kernel/mm/transparent_hugepage/enabled
{ [ -r $modes ] && ! grep -qF '[never]' $modes; } || skip "no large pages here"
cat > noting <<END
#!/bin/sh
echo "\${GLIBC_TUNABLES-none}" >> "$work/tunables"
exec "$FAKE" "\$@"
END
chmod +x noting
ptx changed.ptx '//@change'
ptx left.ptx
unset GLIBC_TUNABLES
ours=glibc.malloc.hugetlb=1:glibc.malloc.top_pad=67108864

# EXPECTED ARGUMENT...: every call of ptxas that comes of these arguments has these tunables
check() {
  expected=$1; shift
  rm -f tunables
  PTXASW_PTXAS=$work/noting "$PTXASW" --ptxasw-shuffle=all "$@" > /dev/null 2>&1
  [ -s tunables ] || fail "ptxas was not called: $*"
  same "$(sort -u tunables)" "$expected" "tunables of $*"
}

check "$ours" left.ptx -o out
check "$ours" changed.ptx -o out
check none --bogus left.ptx -o out
check none -O0 left.ptx -o out
check none --version
GLIBC_TUNABLES=glibc.malloc.arena_max=1 check "$ours:glibc.malloc.arena_max=1" left.ptx -o out
GLIBC_TUNABLES=glibc.malloc.arena_max=1 check "$ours:glibc.malloc.arena_max=1" changed.ptx -o out
