"""Runs kernels of kernels.py against rewritten ones on a GPU and compares every byte.

    compare.py FROM COUNT WAY=REWRITTEN.ptx ...     (one module each, with the same kernels)

Inputs are random bits with many NaNs, infinities, denormals and zeros, and ordinary numbers.
Prints a line of JSON: kernels, and for each way those that changed in the text and those whose
results differ, those apart that differ only in which NaN it is (their type behind the name, where it is not
f64). Needs ptxas, libcuda and numpy.
"""
import ctypes
import json
import re
import sys

import numpy as np

import gpu
import kernels
from gpu import call

BLOCKS, ROWS, THREADS = 3, 12, 64
NANS = {"f32": (np.uint32, 0x7f800000), "f64": (np.uint64, 0x7ff0000000000000), "f16": (np.uint16, 0x7c00),
        "bf16": (np.uint16, 0x7f80)}  # a number with this exponent, and a fraction


def bodies(text):
    return dict(re.findall(r"\.entry (k\d+)\((.*?)^}", text, re.S | re.M))


def inputs(kind, words):
    r = np.random.default_rng(7)
    if kind == "f64":
        bits = r.integers(0, 1 << 64, words // 2, np.uint64)
        special = np.array([0, 1 << 63, 0x7ff0000000000000, 0xfff0000000000000, 1, 0x7ff8000000001234,
                            0xfff8000000000567, 0x000fffffffffffff], np.uint64)
        plain = r.normal(0, 2, words // 2).view(np.uint64)
    else:
        bits = r.integers(0, 1 << 32, words, np.uint32)
        special = np.array([0, 1 << 31, 0x7f800000, 0xff800000, 1, 0x7fc01234, 0x807fffff, 0x00012345,
                            0x3c003c00, 0x7c007c00, 0x7e000001], np.uint32)
        plain = (r.normal(0, 2, words) if kind == "f32" else r.normal(0, 1e-2, words)).astype(np.float32).view(np.uint32)
        if kind in ("f16x2", "f16"):
            plain = r.normal(0, 2, 2 * words).astype(np.float16).view(np.uint32)
    n = len(bits)
    which = r.random(n)
    return np.where(which < .1, special[r.integers(0, len(special), n)], np.where(which < .3, bits, plain)).view(np.uint8)


def only_nans(kind, expected, got):
    """Do they differ in which NaN it is alone?"""
    of, exponent = NANS[kind.removesuffix("x2")]
    a, b = expected.view(of), got.view(of)
    rest = of(np.iinfo(of).max >> 1)
    return ((a == b) | (((a & rest) > exponent) & ((b & rest) > exponent))).all()


def main():
    first, count = int(sys.argv[1]), int(sys.argv[2])
    ways = dict(a.split("=", 1) for a in sys.argv[3:])
    gpu.begin()
    original = kernels.module(first, count)
    modules = {"": gpu.load(gpu.assemble(original, "sm_90"))}
    changed = {}
    for way, path in ways.items():
        text = open(path).read()
        was, now = bodies(original), bodies(text)
        changed[way] = {k for k in was if was[k] != now[k]}
        modules[way] = gpu.load(gpu.assemble(text, "sm_90"))
    bytes_ = 2 * kernels.WIDTH * (kernels.PLANE + 4) * 8
    size = ctypes.c_size_t(bytes_)
    data, out = gpu.room(bytes_), gpu.room(bytes_)
    fills = {kind: inputs(kind, bytes_ // 4) for kind in kernels.HELD}
    result = {way: {"changed": len(changed[way]), "different": [], "only_nans": []} for way in ways}

    def run(way, name):
        function = ctypes.c_void_p()
        call("cuModuleGetFunction", ctypes.byref(function), modules[way], name.encode())
        call("cuMemsetD8_v2", out, ctypes.c_ubyte(0xa5), size)
        pointers = (ctypes.c_void_p * 2)(*(ctypes.cast(ctypes.pointer(p), ctypes.c_void_p) for p in (data, out)))
        call("cuLaunchKernel", function, BLOCKS, ROWS, 1, THREADS, 1, 1, 0, None, pointers, None)
        got = np.empty(bytes_, np.uint8)
        call("cuMemcpyDtoH_v2", got.ctypes.data_as(ctypes.c_void_p), out, size)
        return got

    for seed in range(first, first + count):
        name, kind = f"k{seed}", kernels.make(seed).type
        if not any(name in c for c in changed.values()):
            continue
        call("cuMemcpyHtoD_v2", data, fills[kind].ctypes.data_as(ctypes.c_void_p), size)
        expected = run("", name)
        for way in ways:
            if name not in changed[way]:
                continue
            got = run(way, name)
            if (got == expected).all():
                continue
            nans = only_nans(kind, expected, got)
            result[way]["only_nans" if nans else "different"].append(name if kind == "f64" else f"{name} {kind}")
    print(json.dumps({"from": first, "count": count, "ways": result}), flush=True)


main()
