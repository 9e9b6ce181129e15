"""The picture of the README: what heads gain, and what a trainable guess gains."""

import jax.numpy as jnp

from ..figures import Axis, Baseline, Figure, Panel, Series
from ..theory import Problem, best_heads, gd_beta_minimum, one_step_risk


def heads_figure(d: int = 10, n: int = 10, mean: float = 1.0) -> Figure:
    """Exact risk against the number of heads; inputs and prior isotropic, no noise."""
    problem = Problem(mean * jnp.ones(d), jnp.eye(d), jnp.eye(d), n, sigma=0.0)
    heads = tuple(range(1, d + 4))
    attending, masked = (
        tuple(best_heads(problem, each, query_masked=query_masked).risk for each in heads)
        for query_masked in (False, True)
    )
    panel = Panel(
        f"d = {d}, n = {n}, prior mean {mean:g}, no noise",
        Axis("heads"),
        Axis("exact in-context risk of the best weights"),
        (Series("LSA, query masked", heads, masked), Series("LSA, query attends to itself", heads, attending)),
        (
            Baseline(
                "one head with a trainable guess (yq-LSA) = LTB = one GD step from the prior mean",
                float(gd_beta_minimum(problem)),
            ),
            Baseline("one preconditioned GD step from zero", float(one_step_risk(problem, jnp.zeros(d)))),
        ),
    )
    see = "The curves fall with every head up to d, and stay above the lower line."
    return Figure("heads", "More heads do not replace a first guess", see, (panel,))
