"""JAX: XLA's kernels of a window, a softmax and a product."""
import jax
import jax.numpy as jnp
import numpy
import measure


@jax.jit
def window(p):
    return sum(jnp.roll(p, (dy, dx), (0, 1)) for dy in range(-2, 3) for dx in range(-2, 3)) / 25


for n in (512, 2048):
    plane = jnp.asarray(numpy.random.default_rng(1).random((n, n), dtype=numpy.float32))
    for name, function in (("window", window), ("softmax", jax.jit(jax.nn.softmax)), ("matmul", jax.jit(jnp.matmul))):
        last = [None]
        def do():
            last[0] = function(plane, plane) if name == "matmul" else function(plane)
        measure.line(f"{name}_{n}", do, lambda: last[0].block_until_ready(), lambda: numpy.asarray(last[0]).tobytes())
