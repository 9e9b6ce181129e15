"""More heads than d + 1 buy nothing."""

import jax
import jax.numpy as jnp
import numpy as np

from ...attention import LSA, AbstractGuess, ConstantGuess, LinearGuess, NoGuess
from ...theory import best_heads
from .. import Axis, Baseline, Evidence, Figure, Lab, Panel, Series, Table, at_least, claim, equal
from ._descend import Kind, train_kinds
from ._setting import one_step, problem, task

# A case in which all d + 1 heads are needed: little data, much noise, a large mean.
D = N = 3
C, SIGMA = 3.0, 2**0.5
PROMPTS = 200
HEADS, SEEDS, STEPS, RATE = (1, 2, 3, 4, 5, 8), 6, 8000, 0.02
# How near training comes to the least risk: 1e-14 in what we saw.
REACHED = 1e-12


def folded(layer: LSA) -> LSA:
    """The same layer with d + 1 heads: v_j = e_j, U_j = sum_h (v_h)_j U_h."""
    return LSA(jnp.eye(layer.d + 1), jnp.einsum("hj,hkl->jkl", layer.v, layer.u), layer.guess, layer.query_masked)


@claim(
    "head-bound",
    paper="initial-guess",
    whose="paper",
    seen="summary",
    identity=True,
    where="Section on multi-head LSA: the bound of d + 1 heads, which the paper proves",
    title="More heads than $d+1$ don't help",
    statement=r"""
        A prediction $y_q + \sum_h v_h^\top G U_h e_q$ depends on the heads only through the tensor
        $\sum_h v_h \otimes U_h$, and $d+1$ heads with keys of size $d+1$ realise every such tensor. So for every law of
        the data, every guess, and a query that is masked or not, what more than $d+1$ heads compute, $d+1$ heads
        compute too, and the least risk no longer falls. There are cases in which the $(d+1)$-th head is needed
        (`head-saturation`).
    """,
    refuted_by={
        "folding": "A layer with more heads that the $d+1$ heads built from it don't equal.",
        "risk": "Training with more heads that ends below the least risk of $d+1$, or above.",
        "needed": "A fourth head that is worth nothing where $d+1 = 4$ are said to be needed.",
    },
    method=r"""
        Layers with $3(d+1)$ random heads are folded into $d+1$ heads, and both predict random prompts: with no guess, a
        constant and a linear one, query masked and attending. Then LSA is trained from random weights on its exact risk
        (Adam, six starts) with fewer, just as many, and more heads, at $d=n=3$, noise variance 2 and $|\mu|^2=27$,
        where all $d+1$ are needed, and compared with the closed form for many heads.
    """,
    quick="six layers on 200 prompts; 1 to 8 heads trained from six starts",
    full="the same",
    seconds=11,
)
def head_bound(lab: Lab) -> Evidence:
    """Fold many heads into d + 1, and train with more than d + 1."""
    law, posed = task(C, d=D, n=N, sigma=SIGMA), problem(C, d=D, n=N, sigma=SIGMA)
    lab.tell("folding heads", 0.1)
    rows = []
    guesses: dict[str, AbstractGuess] = {
        "none": NoGuess(),
        "constant": ConstantGuess(jnp.asarray(0.7)),
        "linear": LinearGuess(jnp.arange(1.0, D + 1)),
    }
    for name, guess in guesses.items():
        for masked in (True, False):
            many = LSA.random(D, 3 * (D + 1), key=lab.key(name), guess=guess, query_masked=masked)
            prompts = jax.vmap(lambda key: law.sample(key=key))(jax.random.split(lab.key("prompts"), PROMPTS))
            theirs, ours = jax.vmap(many)(prompts), jax.vmap(folded(many))(prompts)
            difference = float(jnp.abs(theirs - ours).max() / jnp.abs(theirs).max())
            rows.append((name, "masked" if masked else "attends", many.heads, D + 1, difference))
    lab.tell("training with 1 to 8 heads", 0.3)
    kinds, key = [Kind(heads, (0.0,) * D) for heads in HEADS], lab.key("starts")

    def trained() -> list[float]:
        risks = train_kinds(kinds, posed, seeds=SEEDS, steps=STEPS, looks=1, rate=RATE, key=key).risks
        return risks[:, :, -1].min(axis=1).tolist()

    found = lab.keep("trained", trained)
    # The closed form for many heads: |mu|^2 / (1 + d n / 2 + sigma^4 / V) above one gradient step, prior covariance I.
    kappa, noise = D + SIGMA**2, SIGMA**2
    variance = 2 * kappa**2 / N + 2 * D * (1 + 1 / N)
    gap = D * C**2 / (1 + D * N / 2 + noise**2 / variance)
    closed = gap + one_step(D, N, SIGMA)
    theory = [best_heads(posed, each).risk for each in (1, 2, 3, 4)]
    checks = (
        equal(
            "relative difference of many heads and the same folded into d + 1, worst of six layers",
            float(np.max([row[-1] for row in rows])),
            0.0,
            tolerance=1e-13,
            against="folding",
            reason="An identity: rounding of sums of a few hundred products.",
        ),
        *(
            equal(
                f"risk trained with {heads} heads",
                risk,
                closed,
                tolerance=REACHED,
                against="risk",
                reason="Exact risks, and what Adam leaves at its end; the fourth head is worth 0.064.",
            )
            for heads, risk in zip(HEADS, found, strict=True)
            if heads > D
        ),
        at_least(
            "least risk of d heads less that of d + 1",
            theory[D - 1] - theory[D],
            0.05,
            against="needed",
            reason="Descents are good to 1e-9: a twentieth is far above what they leave open.",
        ),
    )
    figure = Figure(
        "head-bound",
        "Least risk against the number of heads where all d + 1 are needed",
        "The trained risk falls up to d + 1 = 4 heads and is flat from there on.",
        (
            Panel(
                "d = n = 3, noise variance 2, |μ|² = 27",
                Axis("heads"),
                Axis("in-context risk", log=True),
                (
                    Series("trained", HEADS, tuple(found), style="points"),
                    Series("best, by theory", (1, 2, 3, 4), tuple(theory)),
                ),
                (Baseline("closed form, d + 1 or more", closed),),
            ),
        ),
        columns=1,
    )
    table = Table(
        "folding",
        "Many heads folded into d + 1",
        ("guess", "query", "heads", "folded", "relative difference"),
        tuple(rows),
        f"Largest difference of the predictions on {PROMPTS} random prompts, relative to the largest prediction.",
    )
    return Evidence(checks, (figure,), (table,), headline=f"risk trained with {HEADS[-1]} heads")
