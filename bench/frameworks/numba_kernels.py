"""Numba: PTX of NVVM that the driver links."""
import numpy

for gone, name in (("row_stack", "vstack"), ("trapz", "trapezoid"), ("in1d", "isin")):  # that some releases of Numba ask for
    if not hasattr(numpy, gone):
        setattr(numpy, gone, getattr(numpy, name))
from numba import cuda
import measure


@cuda.jit
def box5(source, target):
    x, y = cuda.grid(2)
    if x < 2 or y < 2 or x >= source.shape[1] - 2 or y >= source.shape[0] - 2:
        return
    total = numpy.float32(0)
    for dy in range(-2, 3):
        for dx in range(-2, 3):
            total += source[y + dy, x + dx]
    target[y, x] = total * numpy.float32(1 / 25)


for n in (512, 2048, 4096):
    source = cuda.to_device(numpy.random.default_rng(1).random((n, n), dtype=numpy.float32))
    target = cuda.to_device(numpy.zeros((n, n), dtype=numpy.float32))
    measure.line(f"box5_{n}", lambda: box5[(n // 32, n // 8), (32, 8)](source, target), cuda.synchronize,
                 lambda: target.copy_to_host().tobytes())
