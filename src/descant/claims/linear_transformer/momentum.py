"""Lemma 4.4: in a diagonal network, w and u descend with a momentum; and what the appendix has for K."""

import itertools
from typing import NamedTuple

import jax.numpy as jnp
import numpy as np

from ...attention import Diag
from ...tasks import LinearRegression, UniformNoise
from .. import CONTROL, Axis, Evidence, Figure, Lab, Panel, Series, Table, at_least, at_most, claim
from ._contexts import Contexts

D, N, LAYERS, HEADS = 10, 20, 4, 2
ROUNDING = 1e-12
WHY = "An identity in float64; solving for w* with the condition numbers met here costs two or three digits of 16."
# Powers of a on u w*^T, in Gamma and in Pi.
READINGS = {
    "K = M + u w*ᵀ": (0, 0),
    "K = M + a u w*ᵀ": (1, 1),
    "a in Γ alone": (1, 0),
    "a in Π alone": (0, 1),
    "K = M + a² u w*ᵀ": (2, 2),
    "K = M + u w*ᵀ / a": (-1, -1),
}
DERIVED, AS_TRANSCRIBED = list(READINGS)[:2]
# Random networks, and contexts for each.
NETWORKS, EACH = (10, 100), 10


class State(NamedTuple):
    """What the theorem's four are before or after a layer, and the Gram matrix of the tokens, context by context."""

    m: np.ndarray
    u: np.ndarray
    a: np.ndarray
    w: np.ndarray
    gram: np.ndarray


@claim(
    "diagonal-momentum",
    paper="linear-transformer",
    whose="paper",
    seen="no equations",
    identity=True,
    where="Lemma 4.4",
    title="A diagonal network descends with momentum",
    statement=r"""
        Let $w^*$ be the least-squares solution of the context, $\rho$ its sum of squared residuals, $\Sigma = X^\top
        X$. In a diagonal network, $u' = (I - \Lambda) u + \Gamma\,\Sigma(a w^* - w)$ and $w' = (1 + s) w -
        \Pi\,\Sigma(a w^* - w) - \Phi u$: a gradient step of $\sum_i (a y_i - \langle w, x_i\rangle)^2$ with a momentum
        $u$ and matrices for coefficients. As we derive them: $\Lambda = -\omega_{xy} a^2 \rho I - \omega_{xx}
        \Sigma^l$, $\Gamma = a\,\omega_{xy} K$, $s = \omega_{yy} \lambda^l$, $\Pi = \omega_{yx} M^\top K$, $\Phi = a
        \rho\,\omega_{yx} M^\top$ and $K = M + u w^{*\top}$.
    """,
    refuted_by="A context and a diagonal network in which the two sides of either equation differ beyond rounding.",
    method=r"""
        Random diagonal networks on random contexts with $n > d$, in the eigenbasis of $\Sigma$ (a diagonal network does
        not depend on the basis). The states $(M, u, a, w)$ are what has become of the tokens, layer by layer; the
        right-hand sides are built from $w^*$ and $\rho$. What the appendix has for $K$ is judged in `appendix-k`.
    """,
    quick="10 random networks on 10 contexts each, 2 heads, 4 layers, d = 10, n = 20",
    full="100 random networks",
    seconds=1,
)
def diagonal_momentum(lab: Lab) -> Evidence:
    """Both sides of the two equations."""
    found = _all_misfits(lab)
    worst = found[DERIVED].max(axis=0)
    name = "largest relative difference between the two sides"
    checks = (
        at_most(name, worst.max(), 0.0, tolerance=ROUNDING, reason=WHY),
        at_least(
            "the same with K = M + a u w*ᵀ, last layer, median over contexts",
            np.median(found[AS_TRANSCRIBED], axis=0)[-1],
            1e-3,
            against=CONTROL,
            reason="The experiment can tell: where a has left 1, a wrong factor is an error of that size.",
        ),
    )
    words = (
        "The reading as momentum, $u' = (1 - \\beta) u + \\nabla f(w)$ and $w' = w - \\eta u$, is an analogy, as the "
        "paper "
        "says: the coefficients are matrices that depend on the context, and $w'$ has a gradient term of its own.",
    )
    return Evidence(checks, (_figure(found, [DERIVED, AS_TRANSCRIBED]),), words=words)


@claim(
    "appendix-k",
    paper="linear-transformer",
    whose="paper",
    seen="transcription",
    identity=True,
    where="Appendix A.2, the sentence after Lemma A.1",
    title=r"The momentum's matrices contain $M + a u w^{*\top}$",
    statement=r"""
        In Lemma 4.4, $\Gamma = a\,\omega_{xy} (M + a\,u w^{*\top})$ and $\Pi = \omega_{yx} M^\top (M + a\,u
        w^{*\top})$. So a text without displayed equations has it, in a sentence that is garbled elsewhere.
    """,
    refuted_by="Contexts and diagonal networks in which the two sides of the lemma's equations then differ.",
    method=r"""
        The equations of `diagonal-momentum` with several readings of $K$, on the same random networks and contexts.
    """,
    quick="10 random networks on 10 contexts each, 2 heads, 4 layers, d = 10, n = 20",
    full="100 random networks",
    seconds=1,
)
def appendix_k(lab: Lab) -> Evidence:
    """The equations with K as transcribed, and with other readings."""
    found = _all_misfits(lab)
    rows = [(reading, *map(float, np.median(each, axis=0)), _outcome(each)) for reading, each in found.items()]
    check = at_most(
        f"median relative difference between the two sides, {AS_TRANSCRIBED}, last layer",
        np.median(found[AS_TRANSCRIBED], axis=0)[-1],
        0.0,
        tolerance=ROUNDING,
        reason=WHY,
    )
    table = Table(
        "readings",
        "Readings of K: median relative difference after each layer",
        ("reading", *(f"layer {layer}" for layer in range(1, LAYERS + 1)), "holds"),
        tuple(rows),
        "The first layer has u = 0, where all readings are one.",
    )
    words = (
        "Only $K = M + u w^{*\\top}$ holds. It is also what the appendix's own proof gives: $\\alpha^l$, the sum of "
        "$(M "
        "x_i + y_i u)(a y_i - \\langle w, x_i\\rangle)$ with $y_i = \\langle w^*, x_i\\rangle + r_i$, is $(M + u "
        "w^{*\\top})\\Sigma(a w^* - w) + a \\rho u$. A slip of one factor, in print or in the transcription.",
    )
    return Evidence((check,), (_figure(found, list(READINGS)),), (table,), words)


def _outcome(misfits: np.ndarray) -> str:
    return "yes" if misfits.max() <= ROUNDING else "no"


def _figure(found: dict[str, np.ndarray], readings: list[str]) -> Figure:
    layers = tuple(range(1, LAYERS + 1))
    return Figure(
        "diagonal-momentum",
        "Lemma 4.4: left-hand sides against right-hand sides",
        "With K = M + u w*ᵀ the equations hold to rounding at every layer; with a factor a they hold only while u = "
        "0 or "
        "a = 1, at the first layer.",
        (
            Panel(
                "random diagonal networks",
                Axis("layer"),
                Axis("median relative difference", log=True),
                tuple(
                    Series(reading, layers, tuple(np.maximum(np.median(found[reading], axis=0), 1e-17)))
                    for reading in readings
                ),
            ),
        ),
    )


def _all_misfits(lab: Lab) -> dict[str, np.ndarray]:
    """For each reading, [context][layer]; every network sees a few contexts."""
    task = LinearRegression(D, N, noise=UniformNoise(5.0))
    found = {reading: [] for reading in READINGS}
    for index in range(lab.pick(*NETWORKS)):
        p_x, p_y, q_x, q_y = np.random.default_rng([lab.seed, index]).standard_normal((4, LAYERS, HEADS))
        # In units of the inverse Gram blocks, so that an update is as large as the tokens.
        model = Diag(*map(jnp.asarray, (p_x, p_y, 0.2 * q_x / N, 0.2 * q_y / (N * D))))
        contexts = Contexts.draw(task, EACH, lab.seed + index)
        states = _states(contexts, model)
        for reading, powers in READINGS.items():
            found[reading].append(_misfit(contexts, np.asarray(model.omegas()), states, *powers))
    return {reading: np.concatenate(each) for reading, each in found.items()}


def _states(contexts: Contexts, model: Diag) -> list[State]:
    """The four before the first layer and after each, and the Gram matrix of the tokens."""
    return [
        State(now[:, :-1, :-1], now[:, :-1, -1], now[:, -1, -1], -now[:, -1, :-1], gram)
        for now, gram in contexts.tokens(model)
    ]


def _misfit(contexts: Contexts, omegas: np.ndarray, states: list[State], in_gamma: int, in_pi: int) -> np.ndarray:
    """Largest difference of u' and w' from the lemma, [context][layer], relative to the larger of them."""
    solution, residual = contexts.products / contexts.values, contexts.residuals[:, None]
    worst = []
    for ((w_xx, w_xy), (w_yx, w_yy)), (now, then) in zip(omegas, itertools.pairwise(states), strict=True):
        a, size = now.a[:, None], now.gram[:, -1, -1][:, None]
        slope = contexts.values * (a * solution - now.w)
        along = (solution * slope).sum(axis=1)[:, None]
        # K times the slope, either way.
        gamma, pi = (_times(now.m, slope) + a**power * now.u * along for power in (in_gamma, in_pi))
        u = now.u + w_xy * a**2 * residual * now.u + w_xx * _times(now.gram[:, :-1, :-1], now.u) + a * w_xy * gamma
        back = now.m.swapaxes(1, 2)
        w = (1 + w_yy * size) * now.w - w_yx * _times(back, pi) - a * residual * w_yx * _times(back, now.u)
        off = np.maximum(np.abs(u - then.u).max(axis=1), np.abs(w - then.w).max(axis=1))
        worst.append(off / np.maximum(np.abs(then.u).max(axis=1), np.abs(then.w).max(axis=1)))
    return np.stack(worst, axis=1)


def _times(matrices: np.ndarray, vectors: np.ndarray) -> np.ndarray:
    return np.einsum("cij,cj->ci", matrices, vectors)
