"""FULL and DIAG with four layers in moment space, forwards and backwards: `lanes.vmap` against a plain batched loop.

Batch 2,048, d = 10, float32. The plain one is written out here for one context and mapped by `jax.vmap`; beside it our
own layers under `jax.vmap`. Promise: FULL at least 5 times the plain one on a CPU.
"""

import jax
import jax.numpy as jnp
import numpy as np

from descant import lanes
from descant.attention import Diag, Full
from descant.tasks import Moments

from ._timing import best_ratio

D, N, LAYERS, BATCH = 10, 20, 4, 2048
REPEATS = 101


def contexts() -> tuple[jax.Array, jax.Array]:
    """Gram matrices and weight vectors to fit."""
    keys = jax.random.split(jax.random.key(0))
    tokens = jax.random.normal(keys[0], (BATCH, N, D + 1), jnp.float32)
    return jnp.einsum("bni,bnj->bij", tokens, tokens), jax.random.normal(keys[1], (BATCH, D), jnp.float32)


def written_out(weights, grams, wanted):
    """FULL with one head, one context at a time, `jax.vmap` over them."""
    p, q = weights

    def one(gram, wanted):
        identity, steps = jnp.eye(D + 1, dtype=gram.dtype), []
        for layer in range(LAYERS - 1):
            step = identity + p[layer] @ gram @ q[layer]
            gram = step @ gram @ step.T
            steps.append(step)
        row = identity[-1] + (p[-1][-1] @ gram) @ q[-1]
        for step in reversed(steps):
            row = row @ step
        return jnp.sum((-row[:-1] - wanted) ** 2)

    return jnp.mean(jax.vmap(one)(grams, wanted))


def ours(mapped):
    """The mean loss of any model, its contexts mapped by `jax.vmap` or `lanes.vmap`."""

    def one(model, gram, wanted):
        return jnp.sum((model.weights(Moments(gram, N)) - wanted) ** 2)

    return jax.jit(jax.value_and_grad(lambda *parts: jnp.mean(mapped(one, (None, 0, 0))(*parts))))


def main() -> None:
    """Both networks, and FULL written out plainly."""
    grams, wanted = contexts()
    full = Full.random(D, LAYERS, key=jax.random.key(1), scale=0.05, dtype=jnp.float32)
    diag = Diag.random(LAYERS, 2, key=jax.random.key(2), scale=0.01, dtype=jnp.float32)
    plain = jax.jit(jax.value_and_grad(written_out))
    dense = full.p[:, 0], full.q[:, 0]
    values = [float(ours(lanes.vmap)(full, grams, wanted)[0]), float(plain(dense, grams, wanted)[0])]
    assert np.allclose(*values, rtol=1e-4), values
    in_lanes, mapped = ours(lanes.vmap), ours(jax.vmap)
    seconds, times = best_ratio(lambda: in_lanes(full, grams, wanted), lambda: plain(dense, grams, wanted), REPEATS)
    print(f"FULL, {LAYERS} layers, forwards and backwards: {seconds * 1e3:.1f} ms, {times:.1f} times plain XLA")
    for name, model in (("FULL", full), ("DIAG", diag)):
        seconds, times = best_ratio(
            lambda model=model: in_lanes(model, grams, wanted),
            lambda model=model: mapped(model, grams, wanted),
            REPEATS,
        )
        print(f"{name}, {LAYERS} layers: {seconds * 1e3:.1f} ms, {times:.1f} times the same layers under jax.vmap")


if __name__ == "__main__":
    main()
