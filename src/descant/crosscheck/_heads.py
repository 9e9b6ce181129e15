"""The picture of the README: what heads buy, and what a trainable guess buys."""

import io

import jax.numpy as jnp
import matplotlib

matplotlib.use("agg")

import matplotlib.pyplot as plt

from ..theory import Problem, best_heads, gd_beta_minimum, one_step_risk


def heads_figure(d: int = 10, n: int = 10, mean: float = 1.0) -> bytes:
    """Exact risk against the number of heads, inputs and prior isotropic, no noise, as a PNG."""
    problem = Problem(mean * jnp.ones(d), jnp.eye(d), jnp.eye(d), n, sigma=0.0)
    counts = list(range(1, d + 4))
    masked = [best_heads(problem, heads).risk for heads in counts]
    attending = [best_heads(problem, heads, query_masked=False).risk for heads in counts]
    floor = float(gd_beta_minimum(problem))
    from_zero = float(one_step_risk(problem, jnp.zeros(d)))

    figure, axes = plt.subplots(figsize=(8, 4.6), dpi=150, layout="constrained")
    axes.axhline(from_zero, color="0.45", lw=1.2, ls=(0, (5, 3)))
    axes.annotate(
        "one preconditioned GD step from zero",
        (counts[-1], from_zero),
        (0, -5),
        textcoords="offset points",
        ha="right",
        va="top",
        color="0.35",
        fontsize=10,
    )
    axes.plot(counts, attending, "s-", color="#c2703d", ms=5, lw=1.5, label="LSA, query attends to itself")
    axes.plot(counts, masked, "o-", color="#2f6690", ms=6, lw=1.8, label="LSA, query masked")
    axes.axhline(floor, color="#3a7d44", lw=2)
    axes.annotate(
        "one head with a trainable guess (y_q-LSA) = LTB = one GD step from the prior mean",
        (counts[-1], floor),
        (0, -6),
        textcoords="offset points",
        ha="right",
        va="top",
        color="#2c6235",
        fontsize=10,
    )
    axes.set(
        xlabel="heads", ylabel="exact in-context risk of the best weights", xticks=counts, ylim=(floor - 0.45, None)
    )
    axes.set_title(
        f"Heads alone never buy the prior mean  (d = {d}, n = {n}, prior mean {mean:g}, no noise)",
        fontsize=12,
        loc="left",
    )
    axes.legend(frameon=False, fontsize=10, loc="upper right", bbox_to_anchor=(1, 0.86))
    axes.spines[["top", "right"]].set_visible(False)
    image = io.BytesIO()
    figure.savefig(image, format="png")
    plt.close(figure)
    return image.getvalue()
