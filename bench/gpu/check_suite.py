"""Test: the descriptions in suite.json fit the PTX in tests/golden/ptx.

Entries exist, parameters agree in number and width, global loads are as many as stated, every grid is
launchable, and every trap header can be read.
"""

import re
import sys

import suite

WIDTH = {"u64": 8, "f64": 8, "b64": 8, "s64": 8}


def problems():
    for kernel in suite.load_suite().values():
        name = kernel["name"]
        text = (suite.ROOT / "tests/golden/ptx" / f"{kernel['file']}.ptx").read_text()
        entry = re.search(rf"\.entry {kernel['entry']}\((.*?)\)\n(.*?)\n}}", text, re.S)
        if not entry:
            yield f"{name}: no entry {kernel['entry']}"
            continue
        widths = [WIDTH.get(t, 4) for t in re.findall(r"\.param \.(\w+)", entry.group(1))]
        loads = len(re.findall(r"\bld\.(?:volatile\.)?global", entry.group(2)))
        if loads != kernel["loads"]:
            yield f"{name}: {loads} loads in the PTX, {kernel['loads']} described"
        for case in suite.timed_cases(kernel) + suite.checked_cases(kernel):
            described = [8 if p.startswith("array") else int(p.split()[1]) for p in case.params]
            if described != widths:
                yield f"{case.name}: parameters of {described} bytes described, {widths} in the PTX"
            if not (1 <= case.grid[0] < 2**31 and all(1 <= g <= 65535 for g in case.grid[1:])):
                yield f"{case.name}: grid {case.grid}"
    for path in sorted((suite.ROOT / "tests/traps").glob("*.ptx")):
        trap = suite.Trap(path)
        if not any(p.startswith("region") for p in trap.params):
            yield f"{trap.name}: no pointer among its arguments"


found = list(problems())
print("\n".join(found) or f"{len(suite.load_suite())} kernels described as they are")
sys.exit(1 if found else 0)
