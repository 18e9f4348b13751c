# Every way in which nvcc, clang, GCC and the frameworks call ptxas: with nothing rewritten, the
# same exit code, messages and bytes as from the real one.
. "$(dirname "$0")/lib.sh"
need_ptxas
rows=$(dirname "$0")/rows.txt
case $rows in /*) ;; *) fail "run with an absolute path" ;; esac
lay_out() {
  rm -rf "$1"; mkdir -p "$1/with blank" "$1/D"
  for f in k.ptx k.s k.o k a,b=c.ptx 'with blank/k.ptx' D/k.ptx T-6_k.ptx; do ptx "$1/$f"; done
  sed 's/entry k(/entry other(/' "$1/k.ptx" > "$1/other.ptx"
  ptx "$1/bad.ptx" bogus
  echo '-arch=sm_90 -v' > "$1/options"
  echo '{}' > "$1/T-8"
}
# -v prints times, temporary names hold process ids, and --version ends with a line of ours.
steady() { sed 's/Compile time = .*//; s/tmpxft_[0-9a-f_-]*//; /^ptxasw 0.0 /d' "$1"; }
run_in() {
  ( cd "$1" && shift && eval "set -- $arguments" && "$@" < k.ptx > ../stdout 2> ../stderr )
  echo "exit code $?" >> stderr
  steady stdout > "$2.stdout"; steady stderr > "$2.stderr"
}
n=0
while read -r row; do
  case $row in ''|'#'*) continue ;; esac
  n=$((n + 1))
  for mode in off on; do
    extra=; [ $mode = on ] && extra=--ptxasw-shuffle=all
    lay_out real; lay_out ours
    arguments="'$real' $row"; run_in real theirs
    arguments="env PTXASW_PTXAS='$real' '$PTXASW' $extra $row"; run_in ours mine
    same_file theirs.stdout mine.stdout "stdout of: $row"
    same_file theirs.stderr mine.stderr "stderr of: $row"
    rm -f real/T-8 ours/T-8
    diff -r real ours || fail "files after: $row ($mode)"
  done
done < "$rows"
[ $n -ge 60 ] || fail "only $n rows"
