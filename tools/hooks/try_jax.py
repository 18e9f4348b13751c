#!/usr/bin/env python3
"""Compiles a stencil by JAX (XLA) through ptxasw and checks result and log.

usage: tools/hooks/try_jax.py [PATH/OF/ptxasw]     Needs a GPU, JAX and a CUDA Toolkit.
"""

import os
import shutil
import subprocess

import framework


def stencil(a):
    return a[:-2, 1:-1] + a[2:, 1:-1] + a[1:-1, :-2] + a[1:-1, 2:] - 4 * a[1:-1, 1:-1]


def main():
    program = framework.program()
    overlay = framework.FOLDER / "overlay"
    framework.use(PATH=f"{overlay}/bin:{os.environ['PATH']}",
                  XLA_FLAGS=f"--xla_gpu_cuda_data_dir={overlay}")
    jax = framework.load("jax")
    numpy = framework.load("numpy")
    if not (shutil.which("ptxas") or os.path.exists("/usr/local/cuda/bin/ptxas")):
        framework.skip("the CUDA Toolkit not installed")
    subprocess.run([framework.ROOT / "tools/overlay", overlay, "", program], check=True)
    if jax.default_backend() != "gpu":
        framework.skip("a GPU not installed")
    a = numpy.random.default_rng(1).integers(-8, 9, (1021, 1013)).astype(numpy.float32)
    assert numpy.array_equal(jax.jit(stencil)(a), stencil(a)), "the stencil differs"
    framework.finish(f"JAX {jax.__version__}", 1)


main()
