#!/usr/bin/env python3
"""Functions compiled by JAX (XLA) through ptxasw with variants, under the launcher: what they compute is, bit for bit, what
they compute without either. Needs a GPU, JAX and a CUDA Toolkit.

usage: tools/hooks/try_jax_launcher.py [PATH/OF/ptxasw]

libptxasw_launch.so stands beside ptxasw. Prints for each policy what was launched, and how long each function took.
"""

import concurrent.futures
import hashlib
import json
import os
import pathlib
import subprocess
import sys
import time

import framework

POLICIES = ("--policy=model", "--policy=measure", "--check")


def functions(jnp, lax):
    """Without products of matrices: those are not XLA's own kernels."""
    def stencil(a):
        return a[:-2, 1:-1] + a[2:, 1:-1] + a[1:-1, :-2] + a[1:-1, 2:] - 4 * a[1:-1, 1:-1]

    def blur(a):
        return sum(a[i:a.shape[0] - 4 + i, j:a.shape[1] - 4 + j] for i in range(5) for j in range(5)) / 25

    return {
        "stencil": stencil, "blur": blur,
        "gelu": lambda a: 0.5 * a * (1 + jnp.tanh(0.79788 * (a + 0.044715 * a * a * a))),
        "transpose": lambda a: a.T + 1,
        "rows": lambda a: a.sum(axis=1), "columns": lambda a: a.sum(axis=0),
        "softmax": lambda a: jnp.exp(a - a.max(axis=1, keepdims=True)) / jnp.exp(a).sum(axis=1, keepdims=True),
        "gather": lambda a: a.reshape(-1)[(jnp.arange(a.size) * 7919) % a.size],
        "scan": lambda a: lax.fori_loop(0, 8, lambda _, b: b.at[1:-1, 1:-1].set(
            0.25 * (b[:-2, 1:-1] + b[2:, 1:-1] + b[1:-1, :-2] + b[1:-1, 2:])), a),
    }


def child():
    import jax
    import numpy
    if jax.default_backend() != "gpu":
        framework.skip("a GPU not installed")
    results = {"jax": jax.__version__}
    for shape in ((1021, 1013), (4096, 4096)):
        a = jax.numpy.asarray(numpy.random.default_rng(1).random(shape, dtype=numpy.float32))
        for name, function in functions(jax.numpy, jax.lax).items():
            compiled = jax.jit(function)
            result = numpy.asarray(compiled(a))
            for _ in range(30):
                again = compiled(a)
            again.block_until_ready()
            start = time.perf_counter()
            for _ in range(50):
                again = compiled(a)
            again.block_until_ready()
            us = (time.perf_counter() - start) / 50 * 1e6
            assert numpy.array_equal(numpy.asarray(again), result, equal_nan=True), f"{name} differs in its last call"
            results[f"{name} {shape[0]}x{shape[1]}"] = [hashlib.sha256(result.tobytes()).hexdigest()[:16], round(us, 1)]
    print(json.dumps(results))


def run(command, environment):
    done = subprocess.run([*command, sys.executable, __file__, "--child"], env={**os.environ, **environment},
                          stdout=subprocess.PIPE, text=True)
    if done.returncode == 77:
        framework.skip(done.stdout.strip().removeprefix("skipped: "))
    if done.returncode != 0:
        sys.exit(f"FAIL: {' '.join(map(str, command)) or 'JAX by itself'} ended with {done.returncode}")
    return json.loads(done.stdout.splitlines()[-1])


def main():
    program, overlay = framework.program(), framework.FOLDER / "overlay"
    framework.load("jax")
    subprocess.run([framework.ROOT / "tools/overlay", overlay, "", program], check=True)
    own = {"XLA_PYTHON_CLIENT_PREALLOCATE": "false",
           "XLA_FLAGS": "--xla_gpu_autotune_level=0 --xla_gpu_deterministic_ops=true"}
    hooked = {**own, "PATH": f"{overlay}/bin:{os.environ['PATH']}", "PTXASW_FLAGS": "--variants",
              "PTXASW_LOG": str(framework.LOG), "XLA_FLAGS": f"{own['XLA_FLAGS']} --xla_gpu_cuda_data_dir={overlay}"}
    reports = {policy: framework.FOLDER / f"report{n}.json" for n, policy in enumerate(POLICIES)}
    with concurrent.futures.ThreadPoolExecutor() as pool:
        jobs = {policy: pool.submit(run, [program, "launch", policy, f"--report={report}", "--"], hooked)
                for policy, report in reports.items()}
        plain = pool.submit(run, [], own).result()
        results = {policy: job.result() for policy, job in jobs.items()}
    wrong = [f"{policy}: {name}" for policy, found in results.items() for name in plain
             if name != "jax" and found[name][0] != plain[name][0]]
    kernels = [k for call in framework.calls() for i in call.get("inputs", []) for k in i.get("kernels", [])]
    print(f"JAX {plain['jax']}: {len(framework.calls())} calls of ptxasw, {len(kernels)} kernels")
    for policy, report in reports.items():
        print(policy, report.read_text()[:4000] if report.exists() else "no report: the launcher saw no launch")
    for name, of in plain.items():
        if name != "jax":
            print(f"{name}: {of[1]} us, " + ", ".join(f"{p} {r[name][1]}" for p, r in results.items()))
    if wrong or not kernels:
        sys.exit(f"FAIL: {wrong or 'no kernel went through ptxasw'}")
    print(f"JAX {plain['jax']}: {len(plain) - 1} results equal under each of {len(POLICIES)} policies")


if sys.argv[1:2] == ["--child"]:
    child()
else:
    main()
