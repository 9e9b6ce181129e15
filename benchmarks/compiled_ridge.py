"""Compiled ridge regression, 100 iterations: one jitted scan against a Python loop over blocks; and compiling it.

Promise: compiling takes less than 5 seconds, and the scan is faster than the loop.
"""

import time

import equinox as eqx
import jax.numpy as jnp
import numpy as np

from descant.programs import compile_program

from ._timing import ratio

N, D, T = 50, 10, 100


def main() -> None:
    start = time.perf_counter()
    compiled = compile_program("ridge", n=N, d=D, T=T, eta=0.005)
    print(f"compiled ridge, n = {N}, d = {D}, T = {T}: compiled in {time.perf_counter() - start:.2f} s")
    random = np.random.default_rng(0)
    inputs = {"X": random.standard_normal((N, D)), "y": random.standard_normal((N, 1))}
    h = compiled.embed({name: jnp.asarray(value) for name, value in inputs.items()})
    blocks = compiled.network.unrolled()
    scan = eqx.filter_jit(compiled.network)
    step = eqx.filter_jit(lambda block, h: block(h))

    def loop():
        state = h
        for block in blocks:
            state = step(block, state)
        return state

    assert jnp.allclose(scan(h), loop(), rtol=1e-12, atol=1e-12), "the two must compute the same"
    fast, slow, _ = ratio(lambda: scan(h), loop)
    print(
        f"compiled ridge, {len(blocks)} blocks: {1e3 * fast:.2f} ms as a scan, {1e3 * slow:.2f} ms block by block, "
        f"{slow / fast:.1f} times faster"
    )


if __name__ == "__main__":
    main()
