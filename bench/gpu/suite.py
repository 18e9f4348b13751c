"""The kernel descriptions (bench/kernels/suite.json) and trap headers as cases of a plan.

plan.hpp says what a plan looks like. Everything that needs arithmetic on sizes happens here, so that
the harness only launches.
"""

import itertools
import json
import pathlib
import re
import struct

ROOT = pathlib.Path(__file__).resolve().parents[2]
KERNELS = ROOT / "bench" / "kernels"
ELEMENT = {"f32": 4, "f64": 8, "f16": 2, "u8": 1, "i32": 4, "index": 4, "rows8": 4, "zero": 4}


def load_suite():
    """The kernels by name, each with its family's defaults filled in."""
    suite = json.loads((KERNELS / "suite.json").read_text())
    kernels = {}
    for entry in suite["kernels"]:
        kernel = {"block": [512, 1, 1], "step": 1, "blocks": suite["shapes"]}
        kernel.update(suite["families"][entry["family"]])
        kernel.update(entry)
        kernel.setdefault("file", kernel["name"])
        kernel.setdefault("entry", kernel["name"])
        kernels[kernel["name"]] = kernel
    return kernels


def evaluate(expression, names):
    functions = {"cover": lambda n, b: -(-n // b), "min": min, "max": max}
    return int(eval(expression, {"__builtins__": {}}, {**functions, **names}))  # our own file


def size_label(size):
    return size.get("label") or "x".join(str(v) for v in size.values() if isinstance(v, int))


class Case:
    """One kernel at one size and block shape."""

    def __init__(self, kernel, size, block):
        self.kernel, self.size, self.block = kernel, size, block
        names = {k: v for k, v in size.items() if isinstance(v, int)}
        names.update(zip(("bx", "by", "bz"), block))
        self.grid = [evaluate(g, names) for g in kernel["grid"]]
        names["points"] = evaluate(kernel["points"], names)
        self.names = names
        self.name = f"{kernel['name']}/{size_label(size)}/{'x'.join(map(str, block))}"
        self.arrays = []  # (role, type, count)
        self.params = []
        for argument in kernel["args"]:
            self.params.append(self._param(argument.split()))

    def _param(self, words):
        kind, name, *rest = words
        if kind in ("in", "out", "inout"):
            type_ = rest[0] if rest else "f32"
            count = evaluate(" ".join(rest[1:]) or "points", self.names)
            self.arrays.append((kind, type_, count))
            return f"array {kind} {type_} {count}"
        if kind == "int":
            value = evaluate(" ".join(rest) or name, self.names)
            return f"word 4 {value & 0xFFFFFFFF:x}"
        code, width = {"f32": ("<f", 4), "f64": ("<d", 8)}[kind]
        return f"word {width} {int.from_bytes(struct.pack(code, float(rest[0])), 'little'):x}"

    def least_bytes(self):
        """Each input read once and each output written once, per launch."""
        return sum(n * ELEMENT[t] * (2 if r == "inout" else 1) for r, t, n in self.arrays)

    def flops(self):
        return evaluate(self.kernel["floor"], self.names) if "floor" in self.kernel else 0

    def plan(self, variants):
        lines = [f"case {self.name}", f"entry {self.kernel['entry']}",
                 "grid " + " ".join(map(str, self.grid)),
                 "block " + " ".join(map(str, self.block)), *self.params]
        if self.kernel["step"] > 1:
            lines.append(f"steps {self.kernel['step']}")
        if "l2" in self.size:
            lines.append(f"l2 {self.size['l2']}")
        return "\n".join(lines + variant_lines(variants, self.grid, self.kernel["entry"],
                                               self.kernel.get("repeatable", True)) + ["end", ""])


def variant_lines(variants, grid, entry, repeatable=True):
    """Where the grid cannot be divided as its host would have to, a variant is left out. Of a kernel
    that gives something else each time nothing can be compared."""
    lines = []
    for v in variants:
        divided = v.get("divided", {}).get(entry, [1, 1, 1])
        how = v.get("how", "plain")
        if how != "plain" or not any(int(blocks) % by for blocks, by in zip(grid, divided)):
            lines.append(f"variant {v['name']} {v['cubin']} "
                         f"{'valid' if v['valid'] and repeatable else 'study'} "
                         + " ".join(map(str, divided)))
            if how != "plain" or "entry" in v:
                lines[-1] += f" {v.get('entry', entry)} {how}"
    return lines


def timed_cases(kernel, blocks=None):
    """`blocks`: shapes to time it with, instead of its own."""
    return [Case(kernel, size, block)
            for size, block in itertools.product(kernel["sizes"], blocks or [kernel["block"]])]


def checked_cases(kernel):
    return [Case(kernel, size, block)
            for size, block in itertools.product(kernel["odd"], kernel["blocks"])]


def digested_cases(kernel):
    """Each odd size once, with a block shape of its own."""
    shapes = itertools.cycle(kernel["blocks"])
    return [Case(kernel, size, block) for size, block in zip(kernel["odd"], shapes)]


class Trap:
    """A trap kernel: launch and memory stand in the first lines of its PTX."""

    PARAM_BYTES = {"64": 8, "32": 4, "16": 2, "8": 1}

    def __init__(self, path):
        self.path, self.name = path, path.stem
        text = path.read_text()
        launch = re.search(r"// LAUNCH: grid=(\S+) block=(\S+) args=(\S+)", text)
        memory = re.search(r"// MEMORY: (.*)", text).group(1)
        self.grid, self.block = (launch.group(n).split("x") for n in (1, 2))
        entry = re.search(r"\.entry\s+([\w$]+)\s*\(([^)]*)\)", text)
        self.entry = entry.group(1)
        widths = re.findall(r"\.param\s+(?:\.align\s+\d+\s+)?\.[a-z]+(\d+)", entry.group(2))
        self.params = [self._param(value, self.PARAM_BYTES[width])
                       for value, width in zip(launch.group(3).split(","), widths, strict=True)]
        self.fills = self._fills(memory)
        self.repeatable = "%clock" not in text  # else only its structure can be compared

    @staticmethod
    def _param(value, width):
        region = re.fullmatch(r"(in|out|x)(?:\+(\d+))?", value)
        if region:
            return f"region {region.group(1)} {int(region.group(2) or 0)}"
        return f"word {width} {int(value, 0) & ((1 << 8 * width) - 1):x}"

    @staticmethod
    def _fills(memory):
        fills = ["fill in 0 -1024 8192 7 3 0"]
        if "x[k] = k % 3" in memory:
            fills.append("fill x 0 0 64 1 0 3")
        ahead = re.search(r"out\[k\] = (\d+) for k in 0\.\.63", memory)
        if ahead:
            fills.append(f"fill out 0 0 64 0 {ahead.group(1)} 0")
        for power, base in re.findall(r"in\+2\^(\d+) bytes \+4k = (\d+)\+k", memory):
            fills.append(f"fill in {1 << int(power)} -64 128 1 {base} 0")
        return fills

    def plan(self, variants):
        lines = [f"case {self.name}", f"entry {self.entry}", "grid " + " ".join(self.grid),
                 "block " + " ".join(self.block), *self.params, *self.fills]
        return "\n".join(lines + variant_lines(variants, self.grid, self.entry) + ["end", ""])
