"""Section 5.3: what a layer of w_xy does to the step after it, as the paper approximates it and exactly."""

import jax.numpy as jnp
import numpy as np

from ..._sampling import standard_error
from ...attention import FreeDiag
from .. import Axis, Baseline, Evidence, Figure, Lab, Panel, Series, Table, at_least, at_most, claim
from ._contexts import Contexts
from ._networks import D, N, task_of

LEVELS = (0.5, 1.0, 2.0, 3.0, 4.0, 5.0, 7.0)
COUNT = (4_096, 65_536)
# Of the size that trained networks have in their middle layers, and a step of gradient descent.
W_XY, W_YX = -1e-3, -1.0 / N


def _contexts(lab: Lab) -> dict[float, Contexts]:
    task = task_of("uniform:5")
    return {sigma: Contexts.draw(task, lab.pick(*COUNT), lab.seed, sigma) for sigma in LEVELS}


@claim(
    "adaptive-step",
    paper="linear-transformer",
    whose="control",
    where="Section 5.3, where the multiplicative effect is assumed to be small",
    title=r"In the paper's setting, what section 5.3 keeps of the step's adaptation is more than what it sets aside",
    statement=r"""
        A layer with $\omega_{xy}$ alone, then one with $\omega_{yx}$ alone, are a step of gradient descent of size
        $-\omega_{yx} (1 + \omega_{xy} \sum_i r_i^2)$, $r$ the residuals of least squares, if the multiplicative effect
        on the inputs is small. Read as a statement on the paper's setting ($d = 10$, $n = 20$, noise levels up to 7):
        of the factor's distance from 1, the residuals make up more than half.
    """,
    refuted_by="Noise levels of the paper at which what is set aside is larger than what is kept.",
    method=r"""
        Exactly, the factor is $1 + \omega_{xy} |y|^2$ (`adaptive-step-exact`), and $|y|^2 = \sum_i r_i^2 + w^{*\top}
        \Sigma w^*$, $w^*$ least squares: what is kept, and the multiplicative effect that is set aside. Both are
        multiplied by $\omega_{xy}$, so that no weight makes one small beside the other. Their shares, by noise level.
    """,
    quick="seven noise levels, 4,096 contexts each",
    full="65,536 contexts each",
    seconds=2,
)
def adaptive_step(lab: Lab) -> Evidence:
    """The share of the residuals in |y|^2."""
    rows = []
    for sigma, contexts in _contexts(lab).items():
        share = contexts.residuals / contexts.squares
        rows.append((sigma, float(share.mean()), float(standard_error(share)), _in_the_mean(sigma)))
    best = max(rows, key=lambda row: row[1])
    check = at_least(
        f"largest share of the residuals in |y|², in the mean over contexts, at σ = {best[0]:g}",
        best[1],
        0.5,
        error=best[2],
        reason="What is kept of an approximation should be the larger part.",
    )
    table = Table(
        "shares",
        "How much of the adaptation the approximation keeps",
        ("σ", "residuals / |y|²", "±", "ratio of the means"),
        tuple(rows),
        f"The ratio of the means is (n - d) σ² / (n d + n σ²); it rises to (n - d) / n = {(N - D) / N:g} and no "
        "further.",
    )
    figure = Figure(
        "adaptive-step",
        "What the approximation keeps of the step's adaptation",
        f"With n = {N} and d = {D} least squares fits half of the noise, so that residuals are less than half of "
        "|y|² at "
        "any noise level.",
        (
            Panel(
                "d = 10, n = 20",
                Axis("noise level σ of the context"),
                Axis("share of the residuals in |y|²"),
                (Series("mean over contexts", LEVELS, tuple(row[1] for row in rows), tuple(row[2] for row in rows)),),
                (Baseline("limit, (n - d) / n", (N - D) / N),),
            ),
        ),
    )
    words = (
        "The paper says that it assumes the multiplicative effect to be small, for simplicity. In its own setting the "
        "term it drops is the larger one at every noise level, as with every n up to 2d. The "
        "direction of what it concludes stands while the factor is positive: with $\\omega_{xy}, \\omega_{yx} < 0$ the "
        "step is smaller when there is more noise (`adaptive-step-exact`).",
    )
    return Evidence((check,), (figure,), (table,), words)


def _in_the_mean(sigma: float) -> float:
    return (N - D) * sigma**2 / (N * D + N * sigma**2)


@claim(
    "adaptive-step-exact",
    paper="linear-transformer",
    whose="derived",
    identity=True,
    where="Section 5.3",
    title=r"A layer of $\omega_{xy}$ multiplies the next step by one plus $\omega_{xy}$ times the squared labels",
    statement=r"""
        A layer with $\omega_{xy}$ alone, then one with $\omega_{yx}$ alone, answer $\hat w = -\omega_{yx} (1 +
        \omega_{xy} |y|^2) \sum_i y_i x_i$ on every context whose query is masked: no approximation is needed. As
        $E|y|^2 = n (d + \sigma^2)$ for tasks and inputs $N(0, I)$, with both weights negative the step is smaller when
        there is more noise, as long as $|\omega_{xy}| |y|^2 < 1$; beyond, it changes its sign.
    """,
    refuted_by={
        "factor": "A context on which the two layers answer something else, beyond rounding.",
        "noise": "A mean of $|y|^2$ that is not $n (d + \\sigma^2)$.",
    },
    method="Both sides on sampled contexts; the mean of $|y|^2$ at each noise level beside its formula.",
    quick="seven noise levels, 4,096 contexts each",
    full="65,536 contexts each",
    seconds=3,
)
def adaptive_step_exact(lab: Lab) -> Evidence:
    """The two layers beside the formula, and |y|^2 by noise level."""
    zeros = jnp.zeros(2)
    network = FreeDiag(zeros, jnp.array([W_XY, 0.0]), jnp.array([0.0, W_YX]), zeros)
    off, rows = [], []
    for sigma, contexts in _contexts(lab).items():
        expected = -W_YX * (1 + W_XY * contexts.squares)[:, None] * contexts.products
        off.append(float(np.abs(contexts.answers(network) - expected).max() / np.abs(expected).max()))
        mean, error = float(contexts.squares.mean()), float(standard_error(contexts.squares))
        rows.append((sigma, mean, error, N * (D + sigma**2), 1 + W_XY * mean))
    apart = max(rows, key=lambda row: abs(row[1] - row[3]) / row[2])
    checks = (
        at_most(
            "largest difference of the two layers from the formula, relative",
            max(off),
            0.0,
            tolerance=3e-14,
            against="factor",
            reason="An identity in float64.",
        ),
        at_most(
            f"mean of |y|² against n (d + σ²), largest distance in standard errors, at σ = {apart[0]:g}",
            abs(apart[1] - apart[3]) / apart[2],
            4.0,
            against="noise",
            reason="The largest of seven: one case in two thousand.",
        ),
    )
    table = Table(
        "factors",
        f"The factor at ω_xy = {W_XY:g}",
        ("σ", "mean of |y|²", "±", "n (d + σ²)", "mean factor of the step"),
        tuple(rows),
    )
    return Evidence(checks, tables=(table,))
