"""The gain model of src/passes/coarsen/cost/cost.cpp once more, for fitting its constants (bench/fit).

Time of a launch in cycles of one SM. Each warp of the original launch asks for bytes, wavefronts of
the load/store pipe and instructions, and waits; the four overlap in part. On top of what all warps
need stands what the first and the last ones wait alone.
"""

import math

NAMES = ("memory", "l2", "wavefront", "instruction", "start", "idle", "latency", "overlap", "scattered", "apart",
         "launch", "tail", "block", "cover", "occupancy", "barrier")
START = {"memory": 0.0544, "l2": 0.02, "wavefront": 1.1, "instruction": 0.05, "start": 1476.0, "idle": 640.0,
         "latency": 0.52, "overlap": 1.9, "scattered": 0.3, "apart": 0.12, "launch": 3000.0, "tail": 1.5,
         "block": 160.0, "cover": 8.0, "occupancy": 0.13, "barrier": 300.0}
LANES = 32


def resident_blocks(chip, registers, threads, shared=0):
    warps = -(-threads // LANES)
    held = -(-max(1, registers) // 8) * 8 * LANES * warps
    room = chip.get("shared_per_sm", 228 << 10) // (-(-shared // 128) * 128 + 1024) if shared else 32
    return max(1, min(chip["threads_per_sm"] // (warps * LANES), chip["registers_per_sm"] // held, room, 32))


def in_l2(bytes_, chip):
    """Share of the bytes that the L2 cache holds from one launch to the next."""
    return max(0.0, min(1.0, 2.0 - bytes_ / (0.6 * chip["l2"])))


def passed(work, usage, copies):
    """Instructions and latency of a warp, trips of loops among them."""
    loads = usage.get("loop_loads", 0)
    if work["repeats"] == 1 or work.get("barriers", 0) > 0 or loads == 0:
        return usage["path"] * work["repeats"], usage["latency"] * work["repeats"]
    further = max(0.0, work["loads"] * copies / loads - 1)
    return (usage["path"] + further * usage["loop_instructions"],
            usage["latency"] + further * usage["loop_latency"])


def cycles(p, chip, launch, original, way):
    """`launch`: blocks, threads, bytes; `way`: work, usage, copies, apart (factor along z)."""
    copies = way["copies"]
    warps = -(-launch["threads"] // LANES)
    per_sm = launch["blocks"] * warps / chip["sms"]  # warps of the original launch
    fit = resident_blocks(chip, way["usage"]["registers"], launch["threads"], way["work"].get("shared", 0))
    there = min(fit * warps, max(warps, per_sm / copies))  # resident
    near = in_l2(launch["bytes"], chip)
    per_byte = p["memory"] * (1 - near) + p["l2"] * near
    share = original["stored_bytes"] / original["memory_bytes"] if original["memory_bytes"] else 0
    written = max(0.0, 2 * share - 1)  # more is written than read
    memory = per_byte * original["memory_bytes"] * (1 + p["scattered"] * (1 - 1 / copies) * written)
    work, usage = way["work"], way["usage"]
    wavefronts = p["wavefront"] * work["wavefronts"]
    path, latency = passed(work, usage, copies)
    instructions = p["instruction"] * path / copies
    run = p["start"] + p["latency"] * latency
    run += p["barrier"] * work.get("barriers", 0) * copies
    waiting = (run + p["idle"] * (copies - 1)) / copies / there
    q = p["overlap"]
    each = (memory ** q + wavefronts ** q + instructions ** q + waiting ** q) ** (1 / q)
    each *= 1 + p["apart"] * (1 - 1 / way["apart"])
    full = chip["threads_per_sm"] / LANES
    each *= 1 + p["occupancy"] * max(0.0, full / (fit * warps) - 1) / work["repeats"]
    blocks = p["block"] / warps  # no chip starts blocks faster, and those that return at once start too
    c = p["cover"]
    each = (each ** c + blocks ** c) ** (1 / c)
    return p["launch"] + p["tail"] * run + per_sm * each


def gain(p, chip, launch, original, way):
    before = {"work": original["work"], "usage": original["usage"], "copies": 1, "apart": 1}
    return cycles(p, chip, launch, original, before) / cycles(p, chip, launch, original, way)
