"""What the programs here need of a GPU: ptxas, libcuda and numpy."""
import ctypes
import subprocess
import tempfile

import numpy as np

cuda = ctypes.CDLL("libcuda.so.1")


def call(name, *arguments):
    code = getattr(cuda, name)(*arguments)
    if code != 0:
        raise RuntimeError(f"{name}: {code}")


def begin():
    call("cuInit", 0)
    device, context = ctypes.c_int(), ctypes.c_void_p()
    call("cuDeviceGet", ctypes.byref(device), 0)
    call("cuDevicePrimaryCtxRetain", ctypes.byref(context), device)
    call("cuCtxSetCurrent", context)


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


def room(size):
    place = ctypes.c_uint64()
    call("cuMemAlloc_v2", ctypes.byref(place), ctypes.c_size_t(size))
    return place


def put(place, data):
    data = np.ascontiguousarray(data)
    call("cuMemcpyHtoD_v2", place, data.ctypes.data_as(ctypes.c_void_p), ctypes.c_size_t(data.nbytes))


def get(place, size):
    got = np.empty(size, np.uint8)
    call("cuMemcpyDtoH_v2", got.ctypes.data_as(ctypes.c_void_p), place, ctypes.c_size_t(size))
    return got


def launch(module, name, grid, block, *places):
    function = ctypes.c_void_p()
    call("cuModuleGetFunction", ctypes.byref(function), module, name.encode())
    pointers = (ctypes.c_void_p * len(places))(*(ctypes.cast(ctypes.pointer(p), ctypes.c_void_p) for p in places))
    call("cuLaunchKernel", function, *grid, *block, 0, None, pointers, None)
    call("cuCtxSynchronize")
