"""Test: the descriptions in suite.json fit the PTX in tests/golden/ptx.

Entries exist, parameters agree in number and width, global loads are as many as stated, every grid is
launchable, and every trap header can be read. Suite L is what it says: the same launches each time, near
the waves that they stand for.
"""

import re
import sys

import launches
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


def launch_problems(count=1200):
    kernels = suite.load_suite()
    chip = {"sms": 132, "threads_per_sm": 2048, "registers_per_sm": 65536}
    registers = dict.fromkeys(kernels, 40)
    chosen = launches.sample(kernels, registers, chip, count)
    names = [launch.name for launch in chosen]
    if names != [launch.name for launch in launches.sample(kernels, registers, chip, count)]:
        yield "suite L: other launches the second time"
    if len(chosen) != count or len(set(names)) != count:
        yield f"suite L: {len(set(names))} launches of {count}"
    for launch in chosen:
        if not launch.target / 1.5 < launch.waves < launch.target * 1.5:
            yield f"{launch.name}: {launch.waves} waves for {launch.target}"
        if not (1 <= launch.grid[0] < 2**31 and all(1 <= g <= 65535 for g in launch.grid[1:])):
            yield f"{launch.name}: grid {launch.grid}"
    for kind, wanted in (("target", launches.WAVES), ("shape", launches.SHAPES)):
        if missing := set(wanted) - {getattr(launch, kind) for launch in chosen}:
            yield f"suite L: no launch with {kind} {missing}"


found = [*problems(), *launch_problems()]
print("\n".join(found) or f"{len(suite.load_suite())} kernels described as they are")
sys.exit(1 if found else 0)
