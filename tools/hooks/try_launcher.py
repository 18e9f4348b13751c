#!/usr/bin/env python3
"""Triton, PyTorch Inductor, PyTorch's own kernels and a captured graph under the launcher: the results are those of
PyTorch's operators. Needs a GPU, PyTorch and Triton. The report says what was launched.

usage: PTXASW_TRY_FLAGS=--variants ptxasw launch --report -- python3 tools/hooks/try_launcher.py [PATH/OF/ptxasw]
"""

import framework

framework.use(TRITON_PTXAS_PATH=framework.program(),
              TRITON_CACHE_DIR=str(framework.FOLDER / "triton"),
              TORCHINDUCTOR_CACHE_DIR=str(framework.FOLDER / "inductor"))
torch = framework.load("torch")
triton = framework.load("triton")
tl = framework.load("triton.language")


@triton.jit
def add(a, b, c, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    tl.store(c + at, tl.load(a + at, mask=inside) + tl.load(b + at, mask=inside), mask=inside)


def mixture(a, b):
    return 0.25 * a + torch.relu(b)


def main():
    if not torch.cuda.is_available():
        framework.skip("a GPU not installed")
    n = (1 << 24) - 77
    a, b = (torch.randint(-8, 9, (n,), device="cuda").float() for _ in range(2))
    c = torch.zeros_like(a)
    for _ in range(50):
        add[(triton.cdiv(n, 256),)](a, b, c, n, BLOCK=256)
    assert torch.equal(c, a + b), "the sum by Triton differs"
    compiled = torch.compile(mixture)
    for _ in range(50):
        d = compiled(a, b)
    assert torch.equal(d, mixture(a, b)), "the mixture by Inductor differs"
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        add[(triton.cdiv(n, 256),)](a, b, c, n, BLOCK=256)
        e = c * 2
    c.zero_()
    graph.replay()
    torch.cuda.synchronize()
    assert torch.equal(e, 2 * (a + b)), "the graph differs"
    framework.finish(f"PyTorch {torch.__version__}, Triton {triton.__version__}", 2)


main()
