"""One module subtracts the gradient, and touches nothing else."""

from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np

from ...programs.paper import RidgeByHand, ridge_as_elsa, ridge_as_lsa
from .. import Evidence, Lab, Table, claim, equal
from ._descent import draw
from ._formula import outputs

N, D, DRAWS = 9, 4, 20


def loss(w, x, y, lam):
    """The ridge objective, to be differentiated."""
    return jnp.sum((y - x @ w) ** 2) / 2 + lam * jnp.sum(w**2) / 2


def changed(by_hand: RidgeByHand, w: np.ndarray) -> tuple[np.ndarray, float]:
    """What one module adds to w, and the largest change of any other entry of H."""
    h = np.asarray(by_hand.input).copy()
    rows = slice(by_hand.top, by_hand.top + by_hand.d)
    h[rows, by_hand.column] = w
    change = outputs(by_hand.network, h)[-1] - h
    step = change[rows, by_hand.column].copy()
    change[rows, by_hand.column] = 0.0
    return step, float(np.abs(change).max())


@claim(
    "elsa-single-step",
    paper="elsa",
    whose="paper",
    seen="summary",
    identity=True,
    where="Sections 3.4 and 3.5: the update of one module; the weights are derived",
    title="One module adds $-\\eta$ times the ridge gradient at $w$, and changes nothing else",
    statement=r"""
        From any $w$, one module of either construction adds $-\eta\nabla\ell(w)$ to the place of $w$ in $H$ and leaves
        every other entry as it was, so that the same weights serve for the next step.
    """,
    refuted_by={
        "step": "A change of $w$ that is not $-\\eta$ times the gradient.",
        "elsewhere": "A change of any other entry of $H$.",
    },
    method=r"""
        Networks of one step are run on random problems from random $w$; the change is compared with the gradient of
        $\tfrac12|y-Xw|^2 + \tfrac\lambda2|w|^2$ by automatic differentiation, which knows nothing of the construction.
    """,
    quick="20 random problems for each of three constructions",
    full="the same",
    seconds=6,
)
def single_step(lab: Lab) -> Evidence:
    """The module's change beside the gradient, by automatic differentiation."""
    gradient = jax.jit(jax.grad(loss))
    constructions: dict[str, Callable[..., RidgeByHand]] = {
        "LSA, designed input": ridge_as_lsa,
        "ELSA, η and λ in the weights": ridge_as_elsa,
        "ELSA, η and λ in the input": lambda *a, **k: ridge_as_elsa(*a, in_weights=False, **k),
    }
    rows, checks = [], []
    for name, construct in constructions.items():
        random = np.random.default_rng(lab.seed)
        worst = elsewhere = 0.0
        for _ in range(DRAWS):
            p, w = draw(N, D, random), random.standard_normal(D)
            x, y, query = (jnp.asarray(each) for each in (p.x, p.y, p.query))
            step, other = changed(construct(x, y, query, eta=p.eta, lam=p.lam, steps=1), w)
            wanted = -p.eta * np.asarray(gradient(jnp.asarray(w), x, y, p.lam))
            worst = max(worst, float(np.abs(step - wanted).max() / np.abs(wanted).max()))
            elsewhere = max(elsewhere, other)
        rows.append((name, worst, elsewhere))
        reason = "Rounding of sums of a few dozen products."
        checks += [
            equal(_step(name), worst, 0.0, against="step", tolerance=1e-13, reason=reason),
            equal(
                f"{name}: largest change elsewhere in H",
                elsewhere,
                0.0,
                against="elsewhere",
                tolerance=1e-14,
                reason=reason,
            ),
        ]
    table = Table(
        "steps",
        "One module against the gradient",
        ("construction", "worst relative error of the step", "largest change elsewhere"),
        tuple(rows),
        f"{DRAWS} random problems with {N} samples in {D} dimensions, from random w.",
    )
    return Evidence(tuple(checks), tables=(table,), headline=_step("ELSA, η and λ in the weights"))


def _step(name: str) -> str:
    return f"{name}: worst relative error of the step"
