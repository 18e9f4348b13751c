# What would help a kernel: what report says so does, nothing that was given is said again, and of
# what nothing helps that is said.
. "$(dirname "$0")/lib.sh"
need_ptxas
[ -n "${TOOL:-}" ] || skip "no ptxasw program"
command -v python3 > /dev/null || skip "no python3"
export PTXASW_PTXAS=$real
ptx=$SOURCE/tests/golden/ptx

# kernel|option or what to run|predicted gain, of each hint; or kernel||
hints() {
  "$TOOL" report --format=json "$@" > r.json || fail "report $*"
  python3 -c '
import json
for k in json.load(open("r.json"))["kernels"]:
  assert k["hints_sought"]
  for h in k["hints"] or [{"what": "", "predicted_gain": None}]:
    print(k["name"], h["what"], h["predicted_gain"] or "", sep="|")'
}
changed() { # kernel $1 by these arguments
  name=$1; shift
  "$TOOL" report --format=json "$@" > r.json || fail "report $*"
  python3 -c '
import json, sys
k = [k for k in json.load(open("r.json"))["kernels"] if k["name"] == sys.argv[1]][0]
sys.exit(not k["changed"])' "$name"
}

# Every option that is named changes the kernel that it is named for.
tried=0
for file in jacobi vecadd transposed; do
  hints "$ptx/$file.ptx" > "$file.hints"
  while IFS='|' read -r kernel what gain; do
    case $what in --*) option=${what%% *} ;; *) continue ;; esac
    changed "$kernel" "$option" "$ptx/$file.ptx" || fail "$file, $kernel: $option changes nothing"
    hints "$option" "$ptx/$file.ptx" | grep -q "^$kernel|$option" && fail "$option was given"
    tried=$((tried + 1))
  done < "$file.hints"
done
[ "$tried" -ge 3 ] || fail "only $tried hints were tried"
contains "$(cat jacobi.hints)" "|--coarsen=large|1." "a gain is predicted"
contains "$(cat transposed.hints)" "|--remap=auto" "an order of threads"

contains "$("$TOOL" report --coarsen-budget=1 "$ptx/rhs4th3fort.ptx")" "what would help: --coarsen-budget=10: not tried here"

# A kernel for which there is nothing.
ptx k.ptx
same "$(hints k.ptx)" "k||"
contains "$("$TOOL" report k.ptx)" "nothing in ptxasw is known to help this kernel"
contains "$("$TOOL" report "$ptx/jacobi.ptx")" "what would help: --coarsen=large, if most launches fill the GPU: predicted to run 1."
contains "$("$TOOL" opt "$ptx/jacobi.ptx" -o out.ptx)" "what would help: --coarsen=large"

# A time step.
contains "$("$TOOL" report "$ptx/jacobi.ptx" | tr -s ' \n' ' ')" "ptxasw launch, if the program exchanges its arrays between launches (a time step)"
hints --steps=9 "$ptx/jacobi.ptx" | grep -q 'a time step' && fail "--steps was given"
contains "$("$TOOL" report --steps=9 "$ptx/jacobi.ptx")" "added for a launcher: steps9"
contains "$("$TOOL" report --steps=9 "$ptx/matvec.ptx")" "no time step: "

# A log as a table.
PTXASW_LOG=$work/log.json "$TOOL" -arch=sm_90 "$ptx/jacobi.ptx" -o out.cubin || fail "drop-in"
contains "$("$TOOL" report log.json)" "1 kernel, 0 rewritten" "report log.json"
"$TOOL" report --format=json log.json 2> /dev/null && fail "a log is no report"

# The entries beside a kernel, for people and programs.
"$TOOL" report --variants "$ptx/vecadd.ptx" > out
contains "$(head -1 out)" "entries added" "how many"
contains "$(tr -s ' \n' ' ' < out)" "entries added for a launcher: x4" "which"
"$TOOL" report --variants --format=json "$ptx/vecadd.ptx" | grep -q '"vecadd__ptxasw_x4"' || fail "entries in JSON"
exit 0
