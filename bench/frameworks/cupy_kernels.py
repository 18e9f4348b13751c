"""CuPy: a kernel of one's own and CuPy's, compiled by NVRTC."""
import cupy
import measure

box5 = cupy.RawKernel(measure.STENCIL, "box5")
for n in (512, 2048, 4096):
    plane = cupy.random.RandomState(1).rand(n, n, dtype=cupy.float32)
    out = cupy.zeros_like(plane)
    measure.line(f"box5_{n}", lambda: box5((n // 32, n // 8), (32, 8), (plane, out, n, n)),
                 cupy.cuda.runtime.deviceSynchronize, lambda: out.get().tobytes())
    total = [None]
    def sums():
        total[0] = cupy.sqrt(plane * 3 + 1).sum(axis=1)
    measure.line(f"sums_{n}", sums, cupy.cuda.runtime.deviceSynchronize, lambda: total[0].get().tobytes())
