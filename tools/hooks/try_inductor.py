#!/usr/bin/env python3
"""Compiles a stencil by torch.compile (PyTorch Inductor) through ptxasw and checks result and log.

usage: tools/hooks/try_inductor.py [PATH/OF/ptxasw]     Needs a GPU and PyTorch.
"""

import framework

framework.use(TRITON_PTXAS_PATH=framework.program(),
              TRITON_CACHE_DIR=str(framework.FOLDER / "triton"),
              TORCHINDUCTOR_CACHE_DIR=str(framework.FOLDER / "inductor"))
torch = framework.load("torch")
framework.load("triton")


def stencil(a):
    return a[:-2, 1:-1] + a[2:, 1:-1] + a[1:-1, :-2] + a[1:-1, 2:] - 4 * a[1:-1, 1:-1]


def main():
    if not torch.cuda.is_available():
        framework.skip("a GPU not installed")
    a = torch.randint(-8, 9, (1021, 1013), device="cuda").float()
    assert torch.equal(torch.compile(stencil)(a), stencil(a)), "the stencil differs"
    framework.finish(f"PyTorch {torch.__version__}", 1)


main()
