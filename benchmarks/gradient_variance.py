"""Variance of the gradient at equal batch, for the four objectives: how much is won by doing expectations by hand."""

import equinox as eqx
import jax
import jax.numpy as jnp

from descant import LinearRegression, UniformNoise
from descant.attention import FreeDiag
from descant.training import OBJECTIVES, sample_loss, train

SAMPLES = 20_000
# The gradient has no variance to speak of (a polynomial of high degree):
# its largest thousandth is left out everywhere alike.
TRIM = 0.001


def main() -> None:
    task = LinearRegression(10, 20, noise=UniformNoise(5.0))
    model = train(FreeDiag.random(3, key=jax.random.key(0)), task, pieces=4, most_pieces=4, samples=2048).model
    keys = jax.random.split(jax.random.key(1), SAMPLES)
    traces = {}
    for objective in OBJECTIVES:
        gradient = eqx.filter_jit(
            jax.vmap(
                eqx.filter_grad(lambda model, key, objective=objective: sample_loss(objective, model, task, key)),
                (None, 0),
            )
        )
        found = gradient(model, keys)
        # In units of the parameters' own size, so that no parameter drowns the others.
        leaves = zip(jax.tree.leaves(found), jax.tree.leaves(model), strict=True)
        rows = jnp.concatenate([leaf * scale[None] for leaf, scale in leaves], axis=1)
        size = jnp.linalg.norm(rows, axis=1)
        kept = rows[size <= jnp.quantile(size, 1 - TRIM)]
        traces[objective] = float(jnp.sum(jnp.var(kept, axis=0)))
    for objective, trace in traces.items():
        print(
            f"gradient variance, 3 layers, sigma ~ U(0, 5): {objective:9} {trace:.4g}, "
            f"{traces['query'] / trace:.1f} times less than query"
        )


if __name__ == "__main__":
    main()
