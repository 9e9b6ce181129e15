"""From which size on small matrices are multiplied as fast one by one: FULL with two layers, forwards and backwards.

Every size through lanes, whatever `lanes` itself would choose, against the same layers under `jax.vmap`. Beyond
`LARGEST` rows, and for multiples of eight from `EIGHTS` on, `lanes.vmap` is `jax.vmap`; here is why.
"""

import jax
import jax.numpy as jnp

from descant import lanes
from descant.attention import Full
from descant.lanes import _vmap
from descant.tasks import Moments

from ._timing import best_ratio

LAYERS, BATCH, REPEATS = 2, 1024, 15
SIZES = (4, 8, 11, 13, 16, 21, 24, 26, 32, 33, 40)


def gradient(mapped):
    """The gradient of a mean loss, contexts mapped by `jax.vmap` or `lanes.vmap`."""

    def one(model, gram):
        return jnp.sum(model.weights(Moments(gram, 20)) ** 2)

    return jax.jit(jax.grad(lambda model, grams: jnp.mean(mapped(one, (None, 0))(model, grams))))


def main() -> None:
    """One line per size, and where the choice lies."""
    chosen, found = (_vmap.LARGEST, _vmap.EIGHTS), []
    try:
        _vmap.LARGEST = _vmap.EIGHTS = max(SIZES) + 1
        for rows in SIZES:
            tokens = jax.random.normal(jax.random.key(0), (BATCH, rows, rows), jnp.float32) / rows
            grams = tokens @ tokens.mT
            model = Full.random(rows - 1, LAYERS, key=jax.random.key(1), scale=0.05, dtype=jnp.float32)
            ours, plain = gradient(lanes.vmap), gradient(jax.vmap)
            _, times = best_ratio(lambda: ours(model, grams), lambda: plain(model, grams), REPEATS)  # noqa: B023
            found.append(f"{rows}: {times:.2f}")
    finally:
        _vmap.LARGEST, _vmap.EIGHTS = chosen
    words = f"chosen up to {chosen[0]}, but for multiples of eight from {chosen[1]} on"
    print(f"lanes against jax.vmap by rows of the matrices ({words}): {', '.join(found)}")


if __name__ == "__main__":
    main()
