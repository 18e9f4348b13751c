#!/usr/bin/env python3
"""Kernels that are launched cooperatively, in as many blocks as fit, before and after a rewrite.

    check.py PTXASW [--out=FILE]      rewrites kernels.cu in every way; a line of JSON for each kernel and way

A cooperative launch of more blocks than are resident fails, and programs size grids by the occupancy
functions. So no way may let fewer blocks of 1024 threads be resident, unless --fewer-blocks allows it
(what ptxas says of registers is enough to see that). Where there is a GPU, each kernel is then launched
cooperatively, in the grid that fits of the original, and `fitted` in the one that the occupancy functions
say for itself: no launch may fail (with --fewer-blocks it may), no bit may differ.

Exit code 1: something is not so, or the check could not have seen it; 77: no nvcc or ptxas here.
"""
import array
import ctypes
import hashlib
import json
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
FORCED = ["y:2", "y:4", "x:2"]
WAYS = {
    "original": None,
    "default": [],
    "shuffled": ["--shuffle=all"],
    "auto": ["--coarsen=auto"],
    "large": ["--coarsen=large"],
    **{cut: [f"--coarsen={cut}"] for cut in FORCED},
    **{f"{cut}, fewer blocks": [f"--coarsen={cut}", "--fewer-blocks"] for cut in FORCED},
}
BLOCK = (1024, 1)
THREADS = BLOCK[0] * BLOCK[1]
COLUMNS = 2  # blocks of a row of the grid
WIDTH = COLUMNS * BLOCK[0]
FITTED_TRIPS = 3  # of each block of `fitted`, in the grid that fits of the original
TOO_LARGE = 720  # CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE


def tool(name):
    return shutil.which(name) or shutil.which(name, path=os.environ.get("CUDA_HOME", "/usr/local/cuda") + "/bin")


def resident(registers):
    """Blocks of THREADS threads on an SM of 65,536 registers and 2048 threads."""
    of_warp = (registers * 32 + 255) // 256 * 256
    return min(2048 // THREADS, 4 * (16384 // of_warp) // (THREADS // 32))


def make(ptxasw, folder):
    """Each way's PTX and cubin; for each kernel whether it changed, and its registers."""
    subprocess.run([tool("nvcc"), "-arch=sm_90", "-O3", "-ptx", HERE / "kernels.cu", "-o", folder / "original.ptx"], check=True)
    made = {}
    for way, options in WAYS.items():
        name = folder / re.sub(r"\W+", "-", way)
        changed = {}
        if options is None:
            name = folder / "original"
        else:
            subprocess.run([ptxasw, "opt", folder / "original.ptx", "-o", f"{name}.ptx", "--arch=sm_90", "-q",
                            f"--report={name}.json", *options], check=True)
            changed = {k["name"]: k["changed"] for k in json.loads(pathlib.Path(f"{name}.json").read_text())["kernels"]}
        said = subprocess.run([tool("ptxas"), "-arch=sm_90", "-v", f"{name}.ptx", "-o", f"{name}.cubin"],
                              check=True, capture_output=True, text=True).stderr
        used = dict(re.findall(r"Compiling entry function '(\w+)'.*?Used (\d+) registers", said, re.S))
        made[way] = {kernel: {"changed": changed.get(kernel, False), "registers": int(n), "resident": resident(int(n))}
                     for kernel, n in used.items()}
        made[way]["cubin"] = f"{name}.cubin"
    return made


class Gpu:
    """The driver, as far as it is needed here."""

    def __init__(self):
        self.cuda = ctypes.CDLL("libcuda.so.1")
        self.call("cuInit", 0)
        device, context = ctypes.c_int(), ctypes.c_void_p()
        self.call("cuDeviceGet", ctypes.byref(device), 0)
        self.call("cuDevicePrimaryCtxRetain", ctypes.byref(context), device)
        self.call("cuCtxSetCurrent", context)
        sms, name = ctypes.c_int(), ctypes.create_string_buffer(100)
        self.call("cuDeviceGetAttribute", ctypes.byref(sms), 16, device)  # MULTIPROCESSOR_COUNT
        self.call("cuDeviceGetName", name, 100, device)
        self.sms, self.name = sms.value, name.value.decode()

    def tried(self, name, *arguments):
        return getattr(self.cuda, name)(*arguments)

    def call(self, name, *arguments):
        if code := self.tried(name, *arguments):
            raise RuntimeError(f"{name}: {code}")

    def function(self, cubin, name):
        module, function = ctypes.c_void_p(), ctypes.c_void_p()
        self.call("cuModuleLoad", ctypes.byref(module), cubin.encode())
        self.call("cuModuleGetFunction", ctypes.byref(function), module, name.encode())
        return function

    def room(self, data):
        place = ctypes.c_uint64()
        self.call("cuMemAlloc_v2", ctypes.byref(place), ctypes.c_size_t(len(data)))
        self.call("cuMemcpyHtoD_v2", place, data, ctypes.c_size_t(len(data)))
        return place

    def fits(self, function):
        """Blocks that the occupancy functions say: of THREADS threads on an SM; the best grid and block."""
        blocks, grid, block = ctypes.c_int(), ctypes.c_int(), ctypes.c_int()
        self.call("cuOccupancyMaxActiveBlocksPerMultiprocessor", ctypes.byref(blocks), function, THREADS, ctypes.c_size_t(0))
        self.call("cuOccupancyMaxPotentialBlockSize", ctypes.byref(grid), ctypes.byref(block), function, None,
                  ctypes.c_size_t(0), 0)
        return blocks.value, [grid.value, block.value]

    def cooperative(self, function, grid_rows, arguments):
        pointers = (ctypes.c_void_p * len(arguments))(*(ctypes.cast(ctypes.pointer(a), ctypes.c_void_p) for a in arguments))
        code = self.tried("cuLaunchCooperativeKernel", function, COLUMNS, grid_rows, 1, *BLOCK, 1, 0, None, pointers)
        return code or self.tried("cuCtxSynchronize")


def numbers(count):
    """Mostly ordinary ones; random bits, infinities, NaNs, denormals and zeros among them."""
    r = random.Random(13)
    few = 20011  # a prime: rows begin at different ones
    bits = array.array("I", array.array("f", (r.gauss(0, 2) for _ in range(few))).tobytes())
    special = [0, 1 << 31, 0x7f800000, 0xff800000, 1, 0x7fc01234, 0x807fffff, 0x00012345]
    for n in range(0, few, 50):
        bits[n] = r.choice(special) if n % 100 else r.getrandbits(32)
    return (bits * (count // few + 1))[:count].tobytes()


def launch(cubin, kernel, fitting):
    """One kernel, cooperatively, in `fitting` blocks an SM (0: as many as fit of itself); prints JSON."""
    gpu = Gpu()
    function = gpu.function(cubin, kernel)
    active, potential = gpu.fits(function)
    grid_rows = (fitting or active) * gpu.sms // COLUMNS
    # What fits of the original says how much there is to do, whatever the grid.
    rows = FITTED_TRIPS * 2 * gpu.sms // COLUMNS if kernel == "fitted" else grid_rows
    source = gpu.room(numbers((WIDTH + 4) * (rows + 4)))
    size = WIDTH * max(rows, grid_rows) * 4
    between, out = gpu.room(b"\xa5" * size), gpu.room(b"\xa5" * size)
    shape = [ctypes.c_int(WIDTH), ctypes.c_int(rows)]
    arguments = [source, between, out, gpu.room(bytes(4))] if "barrier" in kernel else [source, out]
    code = gpu.cooperative(function, grid_rows, arguments + shape)
    result = {"gpu": gpu.name, "active": active, "potential": potential, "blocks": grid_rows * COLUMNS, "code": code}
    if code == 0:
        data = ctypes.create_string_buffer(size)
        gpu.call("cuMemcpyDtoH_v2", data, out, ctypes.c_size_t(size))
        result["digest"] = f"{hash_of(data.raw):016x}"
        result["written"] = size // 4 - array.array("I", data.raw).count(0xa5a5a5a5)
    print(json.dumps(result))


def hash_of(data):
    return int.from_bytes(hashlib.sha256(data).digest()[:8], "big")


def launched(cubin, kernel, fitting):
    """In a process of its own: a kernel that waits for blocks that never run hangs."""
    try:
        done = subprocess.run([sys.executable, "-B", __file__, "--launch", cubin, kernel, str(fitting)],
                              capture_output=True, text=True, timeout=60)
    except subprocess.TimeoutExpired:
        return {"code": "hangs"}
    return json.loads(done.stdout) if done.returncode == 0 else {"code": done.stderr[-300:]}


def has_gpu():
    try:
        return ctypes.CDLL("libcuda.so.1").cuInit(0) == 0
    except OSError:
        return False


def compare(made, gpu):
    """Yields a line for each kernel and way, and what is wrong with it."""
    kernels = [k for k in made["original"] if k != "cubin"]
    first = {}
    for way in WAYS:
        for kernel in kernels:
            before, now, wrong = made["original"][kernel], made[way][kernel], []
            free = "fewer" in way
            if now["resident"] < before["resident"] and not free:
                wrong.append("fewer blocks are resident")
            line = {"kernel": kernel, "way": way, **now}
            if gpu:
                fitting = 0 if kernel == "fitted" else before["resident"]
                line.update(launched(made[way]["cubin"], kernel, fitting))
                was = first.setdefault(kernel, line)
                if line["code"] != 0 and not (free and line["code"] == TOO_LARGE):
                    wrong.append("the launch fails")
                elif line["code"] == 0 and line["digest"] != was["digest"] and not (free and line["blocks"] != was["blocks"]):
                    wrong.append("different")
                if not free and any(line.get(k) != was.get(k) for k in ("active", "potential", "blocks")):
                    wrong.append("the occupancy functions say something else")
                if line.get("active", now["resident"]) != now["resident"]:
                    wrong.append("not as many resident blocks as worked out")
            yield line, wrong


def could_see(lines):
    """What has to occur for the check to be one."""
    def some(test):
        return any(test(line) for line in lines)
    if not some(lambda l: l["kernel"] == "sums" and l["changed"] and l["way"] in FORCED):
        yield "sums is not merged where no blocks may be lost"
    for kernel in ("sums", "fitted"):
        if not some(lambda l: l["kernel"] == kernel and "fewer" in l["way"] and l["resident"] < 2):
            yield f"{kernel} loses no blocks where it may"
    if some(lambda l: l["way"] == "original" and l.get("written") == 0):
        yield "an original writes nothing"
    if some(lambda l: "code" in l) and not some(lambda l: l["code"] == TOO_LARGE):
        yield "no launch was too large, although blocks were lost"


def main():
    ptxasw = pathlib.Path(sys.argv[1]).resolve()
    out = next((a.removeprefix("--out=") for a in sys.argv[2:] if a.startswith("--out=")), None)
    if not tool("nvcc") or not tool("ptxas"):
        print("SKIP: no nvcc or ptxas here")
        return 77
    with tempfile.TemporaryDirectory() as name:
        gpu = has_gpu()
        if not gpu:
            print("no GPU: nothing is launched")
        lines, failed = [], 0
        for line, wrong in compare(make(ptxasw, pathlib.Path(name)), gpu):
            lines.append(line)
            failed += bool(wrong)
            print(json.dumps({**line, **({"WRONG": wrong} if wrong else {})}), flush=True)
    missing = list(could_see(lines))
    print(f"{len(lines)} kernels and ways, {failed} wrong", *missing, sep="; ")
    if out:
        pathlib.Path(out).write_text("".join(json.dumps(line) + "\n" for line in lines))
    return 1 if failed or missing else 0


if sys.argv[1:2] == ["--launch"]:
    launch(sys.argv[2], sys.argv[3], int(sys.argv[4]))
else:
    sys.exit(main())
