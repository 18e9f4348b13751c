"""Runs kernels of kernels.py against rewritten ones on a GPU and compares every byte.

    compare.py FROM COUNT WAY=REWRITTEN.ptx ...     (one module each, with the same kernels)

Inputs are random bits with many NaNs, infinities, denormals and zeros, and ordinary numbers.
Prints a line of JSON: kernels, and for each way those that changed in the text and those whose
results differ; for f64 also those that differ in NaNs only. Needs ptxas, libcuda and numpy.
"""
import ctypes
import json
import re
import subprocess
import sys
import tempfile

import numpy as np

import kernels

cuda = ctypes.CDLL("libcuda.so.1")
BLOCKS, ROWS, THREADS = 3, 12, 64


def call(name, *arguments):
    code = getattr(cuda, name)(*arguments)
    if code != 0:
        raise RuntimeError(f"{name}: {code}")


def assemble(text, arch):
    with tempfile.NamedTemporaryFile("w", suffix=".ptx") as ptx, tempfile.NamedTemporaryFile() as cubin:
        ptx.write(text)
        ptx.flush()
        subprocess.run(["ptxas", f"-arch={arch}", ptx.name, "-o", cubin.name], check=True)
        return cubin.read()


def load(cubin):
    module = ctypes.c_void_p()
    call("cuModuleLoadData", ctypes.byref(module), cubin)
    return module


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
        if kind not in ("f32",):
            half = r.normal(0, 2, 2 * words).astype(np.float16)
            plain = half.view(np.uint32) if kind == "f16x2" else plain
    n = len(bits)
    which = r.random(n)
    return np.where(which < .1, special[r.integers(0, len(special), n)], np.where(which < .3, bits, plain)).view(np.uint8)


def main():
    first, count = int(sys.argv[1]), int(sys.argv[2])
    ways = dict(a.split("=", 1) for a in sys.argv[3:])
    call("cuInit", 0)
    device, context = ctypes.c_int(), ctypes.c_void_p()
    call("cuDeviceGet", ctypes.byref(device), 0)
    call("cuDevicePrimaryCtxRetain", ctypes.byref(context), device)
    call("cuCtxSetCurrent", context)
    original = kernels.module(first, count)
    modules = {"": load(assemble(original, "sm_90"))}
    changed = {}
    for way, path in ways.items():
        text = open(path).read()
        was, now = bodies(original), bodies(text)
        changed[way] = {k for k in was if was[k] != now[k]}
        modules[way] = load(assemble(text, "sm_90"))
    bytes_ = 2 * kernels.WIDTH * (kernels.PLANE + 4) * 8
    size = ctypes.c_size_t(bytes_)
    data, out = ctypes.c_uint64(), ctypes.c_uint64()
    call("cuMemAlloc_v2", ctypes.byref(data), size)
    call("cuMemAlloc_v2", ctypes.byref(out), size)
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
        name, kind = f"k{seed}", kernels.Kernel(seed, "").type
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
            a, b = expected.view(np.float64), got.view(np.float64)
            nans = kind == "f64" and ((expected.view(np.uint64) == got.view(np.uint64)) | (np.isnan(a) & np.isnan(b))).all()
            result[way]["only_nans" if nans else "different"].append(name)
    print(json.dumps({"from": first, "count": count, "ways": result}), flush=True)


main()
