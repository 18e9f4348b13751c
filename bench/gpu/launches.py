"""Suite L: the launches that programs make of the kernels of the other suites.

Each kernel gets grids of an eighth of a wave to 64 waves of the chip; square, tall (one block along
x), wide (one block along y or z); multiples of eight blocks and one more than that; blocks of 64 to
1024 threads. Of all combinations as many are taken as are asked for, evenly over kernels and waves,
and always the same ones.

A wave is the blocks that the chip holds at a time: it hangs on the registers of the untouched kernel.
"""

import hashlib
import math
import re

import suite

WAVES = (1 / 8, 1 / 4, 1 / 2, 1, 2, 4, 8, 16, 32, 64)
LINES = [(64, 1, 1), (128, 1, 1), (256, 1, 1), (512, 1, 1), (1024, 1, 1)]
PLANES = [(32, 2, 1), (16, 8, 1), (16, 16, 1), (32, 8, 1), (128, 2, 1), (64, 8, 1), (32, 32, 1), (256, 1, 1)]
SHAPES = ("even", "odd", "tall", "wide", "flat")
ANY_SHAPE = [(16, 16, 1), (32, 4, 1), (128, 1, 1), (512, 1, 1), (100, 1, 1)]  # of suite.json
MOST_BYTES = 1.5e9  # of a launch's arrays
# What a size is that no axis of the grid sets: work of each thread.
DEFAULTS = {"nz": 16, "ny": 256, "nx": 256, "width": 1024, "depth": 128, "offset": 0}


def blocks_per_multiprocessor(registers, threads, chip):
    """As src/passes/coarsen/cost/cost.cpp counts: registers in eights, warps whole."""
    warps = -(-threads // 32)
    per_warp = -(-max(registers, 1) // 8) * 8 * 32
    return max(1, min(chip["threads_per_sm"] // (32 * warps), chip["registers_per_sm"] // (per_warp * warps), 32))


def used_axes(kernel):
    return [axis for axis, text in enumerate(kernel["grid"]) if text != "1"]


def is_square(kernel):
    """One size sets both axes of the grid (a matrix product)."""
    return kernel["grid"][0].replace("bx", "by") == kernel["grid"][1]


def invert(expression, blocks, block, size, rest):
    """Sets the size of which the grid's expression makes so many blocks."""
    if m := re.fullmatch(r"cover\((\w+),(?:b([xyz])|(\d+))\)", expression):
        unit = int(m.group(3)) if m.group(3) else block["xyz".index(m.group(2))]
        size.setdefault(m.group(1), blocks * unit - (rest if blocks * unit > rest + 40 else 0))
    elif m := re.fullmatch(r"cover\(width\*height,bx\)", expression):
        size.setdefault("width", DEFAULTS["width"])
        size.setdefault("height", max(1, blocks * block[0] // size["width"]))
    elif m := re.fullmatch(r"min\(cover\(n,bx\),\d+\)", expression):
        size.setdefault("n", blocks * block[0])
    elif m := re.fullmatch(r"\(n-offset\)//16-1", expression):
        size.setdefault("n", 16 * (blocks + 1))
    elif m := re.fullmatch(r"n//16", expression):
        size.setdefault("n", 16 * blocks)
    elif m := re.fullmatch(r"(\w+)(?:-(\d+))?", expression):
        size.setdefault(m.group(1), blocks + int(m.group(2) or 0))


def blocks_along(shape, axes, total):
    """Blocks along each axis, about `total` in all; None where the shape has no meaning."""
    grid = [1, 1, 1]
    if len(axes) == 1:
        if shape not in ("even", "odd"):
            return None
        grid[axes[0]] = 8 * max(1, round(total / 8)) + (shape == "odd")
        return grid
    x, *others = axes
    if shape == "wide":
        grid[x] = max(1, round(total))
        return grid
    if shape == "flat":  # all along the axis in the middle, few along the last
        if len(axes) < 3:
            return None
        grid[axes[2]] = 2
        grid[x] = max(1, min(4, round(total / 64)))
        grid[axes[1]] = max(1, round(total / (2 * grid[x])))
        return grid if grid[axes[1]] <= 60000 else None
    if shape == "tall":
        share = total
    else:
        share = total / max(1, min(round(total ** (1 / 3)), 32))
    side = share ** (1 / len(others))
    for axis in others:
        grid[axis] = max(1, 8 * round(side / 8) if side >= 6 else round(side)) + (shape == "odd")
    if max(grid) > 60000:
        return None
    grid[x] = 1 if shape == "tall" else max(1, round(total / math.prod(grid)))
    return grid


class Launch(suite.Case):
    def __init__(self, kernel, size, block, waves, shape, per_wave):
        super().__init__(kernel, size, block)
        self.shape, self.target = shape, waves
        self.waves = math.prod(self.grid) / per_wave

    def info(self):
        return {"kernel": self.kernel["name"], "suite": self.kernel["suite"], "size": suite.size_label(self.size),
                "waves": round(self.waves, 4), "target": self.target, "shape": self.shape,
                "grid": self.grid, "block": self.block, "bytes": self.least_bytes()}


def make(kernel, registers, waves, block, shape, chip):
    if -(-registers // 8) * 8 * math.prod(block) > chip["registers_per_sm"]:
        return None  # does not launch
    per_wave = chip["sms"] * blocks_per_multiprocessor(registers, math.prod(block), chip)
    if is_square(kernel):
        side = max(1, round((waves * per_wave) ** 0.5)) + (shape == "odd")
        grid = [side, side, 1] if shape in ("even", "odd") else None
    else:
        grid = blocks_along(shape, used_axes(kernel), waves * per_wave)
    if grid is None:
        return None
    size = {}
    for axis in used_axes(kernel):
        invert(kernel["grid"][axis], grid[axis], block, size, 5 if shape == "odd" else 0)
    for name in kernel["sizes"][0]:
        if name not in ("label", "l2"):
            size.setdefault(name, DEFAULTS.get(name, kernel["sizes"][0][name]))
    if any(size[name] > most for name, most in kernel.get("most", {}).items()):
        return None
    size["l2"] = "warm"
    launch = Launch({**kernel, "step": 1}, size, block, waves, shape, per_wave)
    fits = max(launch.names.values()) < 2**31 and launch.grid[0] >= 1 and all(1 <= g <= 65535 for g in launch.grid[1:])
    fits = fits and 0 < launch.least_bytes() <= MOST_BYTES and not 0.5 < abs(math.log2(launch.waves / waves))
    return launch if fits else None


def block_shapes(kernel):
    own = [tuple(shape) for shape in kernel["blocks"]]
    if all(shape[1:] == (1, 1) for shape in own):
        return LINES
    if own != ANY_SHAPE:
        return own
    return PLANES if "by" in " ".join(kernel["grid"]) else LINES


def all_launches(kernel, registers, chip):
    for waves in WAVES:
        made = [make(kernel, registers, waves, block, shape, chip)
                for block in block_shapes(kernel) for shape in SHAPES]
        unique = {launch.name: launch for launch in made if launch}
        yield sorted(unique.values(), key=lambda l: hashlib.sha256(l.name.encode()).digest())


def sample(kernels, registers, chip, count):
    """`registers` of each untouched kernel by name. About `count` launches, grouped by kernel."""
    pools = {name: list(all_launches(kernel, registers[name], chip)) for name, kernel in kernels.items()}
    chosen = {name: [] for name in pools}
    left, turn = count, 0
    while left > 0 and any(len(pool) > turn for group in pools.values() for pool in group):
        for name, group in pools.items():
            for pool in group:
                if left > 0 and len(pool) > turn:
                    chosen[name].append(pool[turn])
                    left -= 1
        turn += 1
    return [launch for group in chosen.values() for launch in sorted(group, key=lambda l: l.target)]
