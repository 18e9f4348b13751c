#!/usr/bin/env python3
"""Compiles two Triton kernels through ptxasw and checks results and log. Needs a GPU and Triton.

usage: tools/hooks/try_triton.py PATH/OF/ptxasw
"""

import json
import os
import sys
import tempfile

folder = tempfile.mkdtemp()
log = os.path.join(folder, "log.jsonl")
os.environ.update(TRITON_PTXAS_PATH=os.path.abspath(sys.argv[1]), PTXASW_LOG=log,
                  TRITON_CACHE_DIR=os.path.join(folder, "cache"), PTXASW_FLAGS="--shuffle=all")

import torch  # noqa: E402
import triton  # noqa: E402
import triton.language as tl  # noqa: E402


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
    calls = [json.loads(line) for line in open(log)]
    assert len(calls) >= 2, "ptxasw was not called"
    for call in calls:
        print(call["action"], call.get("reason", ""))
    print(f"triton {triton.__version__}: results equal, {len(calls)} calls through ptxasw")


main()
