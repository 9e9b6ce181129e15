"""What each of the four weights of a diagonal layer is for: leave one out, and train again."""

import jax
import jax.numpy as jnp
import numpy as np

from ...attention import FreeDiag
from .. import Axis, Evidence, Figure, Lab, Panel, Series, Table, at_least, at_most, claim
from ._measured import ratio
from ._networks import ABLATED_LAYERS, D, N, networks, task_of
from ._omegas import OMEGAS, ROLES

LAW = "1,3"
TRAINED = ("w_xx", "w_xy", "w_yy")


@claim(
    "roles-of-weights",
    paper="linear-transformer",
    where="Sections 5.1 to 5.3",
    title="Step, preconditioner, adaptive step and rescaling: each weight has a role",
    statement=r"""
        Of a diagonal layer's four weights, $\omega_{yx}$ takes the gradient step, $\omega_{xx}$ preconditions the
        inputs, $\omega_{xy}$ adapts the step to the labels' size and $\omega_{yy}$ rescales the labels by it. Networks
        that lack one of them can't be trained to the same loss. A layer with only $\omega_{xy}$ before a step
        multiplies the step by $1 + \omega_{xy} \lambda$, $\lambda = |y|^2$.
    """,
    refuted_by="A weight that can be left out of all layers without a larger loss after training.",
    method=r"""
        Three-layer networks on $\sigma \in \{1, 3\}$ with all four weights free, and with one of them held at zero in
        every layer, each trained from the trained DIAG and GD++ without that weight, from shallower ones, and from
        random weights. Without $\omega_{yx}$ the answer is identically zero, which is checked on random weights. The
        exact effect of $\omega_{xy}$ is checked too.
    """,
    quick="{1, 3}, 3 layers",
    full="the same with larger pools and more starts",
    seconds=150,
)
def roles_of_weights(lab: Lab) -> Evidence:
    """Losses with all weights and with each left out."""
    free = networks(lab, LAW, "free").measured
    value, error = free.ordinary_mean(f"free {ABLATED_LAYERS}")
    losses = {"none": (value, error)}
    for name in TRAINED:
        measured = networks(lab, LAW, f"without-{name}").measured
        losses[name] = measured.ordinary_mean(f"without-{name} {ABLATED_LAYERS}")
    gd, gd_error = networks(lab, LAW).measured.ordinary_mean(f"gd++ {ABLATED_LAYERS}")
    zero, adapted = _exact_roles(lab)
    checks = [
        at_most(
            "largest answer without w_yx, random networks",
            zero,
            0.0,
            tolerance=1e-14,
            reason="Without a step nothing is ever written into the query's label.",
        ),
        at_most(
            "w_xy alone before a step: prediction against step × (1 + w_xy |y|²), relative",
            adapted,
            0.0,
            tolerance=1e-12,
            reason="An identity in float64. The paper has |y|² replaced by its noise part, an approximation.",
        ),
    ]
    for name in TRAINED:
        times, spread = ratio(losses[name], (value, error))
        checks.append(
            at_least(
                f"loss without {name} ({ROLES[name]}) over the loss with all four",
                times,
                1.1,
                error=spread,
                reason="10% is five times the spread of trained losses between starts and pools.",
            )
        )
    names = ["none", *TRAINED]
    labels = {"none": "none", **{name: f"{name} ({ROLES[name]})" for name in OMEGAS}}
    rows = [(labels[name], *losses[name], losses[name][0] / value) for name in names]
    rows += [("w_xy and w_yy (GD++)", gd, gd_error, gd / value)]
    positions = tuple(float(index) for index in range(len(rows)))
    figure = Figure(
        "roles-of-weights",
        "Loss of three layers when one kind of weight is left out",
        "Every weight is needed. Without both of the weights that see the labels' size, GD++ is left, which can't "
        "adapt to the noise.",
        (
            Panel(
                "3 layers, σ ∈ {1, 3}, trained again",
                Axis("weight left out", ticks=tuple((float(index), str(row[0])) for index, row in enumerate(rows))),
                Axis("adjusted half-MSE"),
                (
                    Series(
                        "3 layers",
                        positions,
                        tuple(row[1] for row in rows),
                        tuple(row[2] for row in rows),
                        style="bars",
                    ),
                ),
            ),
        ),
        columns=1,
    )
    table = Table("ablation", "Left out, and trained again", ("left out", "loss", "±", "over all four"), tuple(rows))
    return Evidence(tuple(checks), (figure,), (table,))


def _exact_roles(lab: Lab) -> tuple[float, float]:
    """The answers of random networks without w_yx; and the exact effect of w_xy."""
    task = task_of("uniform:5")
    answers, differences = [], []
    for index in range(20):
        key = jax.random.fold_in(lab.key("roles"), index)
        moments = task.sample_moments(key=jax.random.fold_in(key, 0))
        w_xx, w_xy, w_yy = jax.random.normal(jax.random.fold_in(key, 1), (3, ABLATED_LAYERS)) / (N * D)
        silent = FreeDiag(w_xx, w_xy, jnp.zeros_like(w_xx), w_yy)
        answers.append(np.abs(silent.weights(moments)).max())
        step = -1.0 / N
        zero = jnp.zeros(2)
        adaptive = FreeDiag(zero, zero.at[0].set(w_xy[0]), zero.at[1].set(step), zero)
        expected = -step * (1 + w_xy[0] * moments.yy) * moments.xy
        differences.append(np.abs(adaptive.weights(moments) - expected).max() / np.abs(expected).max())
    return float(max(answers)), float(max(differences))
