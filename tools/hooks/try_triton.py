#!/usr/bin/env python3
"""Compiles two Triton kernels through ptxasw and checks results and log. Needs a GPU and Triton.

usage: tools/hooks/try_triton.py [PATH/OF/ptxasw]
"""

import framework

framework.use(TRITON_PTXAS_PATH=framework.program(), TRITON_CACHE_DIR=str(framework.FOLDER / "cache"))
torch = framework.load("torch")
triton = framework.load("triton")
tl = framework.load("triton.language")


@triton.jit
def stencil(source, target, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = (at > 0) & (at < n - 1)
    left = tl.load(source + at - 1, mask=inside, other=0.0)
    here = tl.load(source + at, mask=inside, other=0.0)
    right = tl.load(source + at + 1, mask=inside, other=0.0)
    tl.store(target + at, left + 2.0 * here + right, mask=inside)


@triton.jit
def matmul(a, b, c, N: tl.constexpr):
    i, j = tl.arange(0, N)[:, None], tl.arange(0, N)[None, :]
    tl.store(c + i * N + j, tl.dot(tl.load(a + i * N + j), tl.load(b + i * N + j)))


def main():
    if not torch.cuda.is_available():
        framework.skip("a GPU not installed")
    n = 100003
    x = torch.randint(-8, 9, (n,), device="cuda").float()
    y = torch.zeros_like(x)
    stencil[(triton.cdiv(n, 256),)](x, y, n, BLOCK=256)
    expected = torch.zeros_like(x)
    expected[1:-1] = x[:-2] + 2 * x[1:-1] + x[2:]
    a, b = (torch.randint(-4, 5, (64, 64), device="cuda").half() for _ in range(2))
    c = torch.zeros(64, 64, device="cuda")
    matmul[(1,)](a, b, c, N=64)
    assert torch.equal(y, expected), "the stencil differs"
    assert torch.equal(c, a.float() @ b.float()), "the matrix product differs"
    framework.finish(f"Triton {triton.__version__}", 2)


main()
