"""A network for one step size, given inputs of another scale."""

import jax.numpy as jnp
import numpy as np

from ...programs.paper import ridge_as_elsa
from .. import Axis, Baseline, Evidence, Figure, Lab, Panel, Series, Table, at_least, at_most, claim, equal
from ._descent import Ridge, draw
from ._formula import outputs

N, D, STEPS = 12, 3, 100
# Factors for X, those beside the threshold apart.
SCALES = (0.1, 0.3, 0.6, 1.0, 1.2, 1.5)
NEAR = 0.02


def stable_below(problem: Ridge) -> float:
    """The factor c beyond which descent diverges on c X: eta (c^2 lambda_max + lam) = 2."""
    return float(np.sqrt((2 / problem.eta - problem.lam) / np.linalg.norm(problem.x, 2) ** 2))


def scaled(problem: Ridge, factor: float) -> Ridge:
    """X times a factor; labels, penalty and step size stay."""
    return problem._replace(x=factor * problem.x)


def distances(problem: Ridge, steps: int) -> tuple[float, float]:
    """|w_T - ridge| over |w_0 - ridge| from w_0 = 0: of the network by hand, and by the eigenvalues of X^T X."""
    given = (jnp.asarray(each) for each in (problem.x, problem.y, problem.query))
    by_hand = ridge_as_elsa(*given, eta=problem.eta, lam=problem.lam, steps=steps)
    solution = problem.solution()
    w = outputs(by_hand.network, np.asarray(by_hand.input))[-1][by_hand.top :, by_hand.column]
    values, vectors = np.linalg.eigh(problem.x.T @ problem.x)
    left = (1 - problem.eta * (values + problem.lam)) ** steps * (vectors.T @ solution)
    size = np.linalg.norm(solution)
    return float(np.linalg.norm(w - solution) / size), float(np.linalg.norm(left) / size)


@claim(
    "elsa-scale",
    paper="elsa",
    whose="derived",
    identity=True,
    where="Section 3.5: the step size is a weight, and nothing is normalised",
    title="Built for $X$, ridge descent diverges on $cX$ once $c^2 > (2/\\eta - \\lambda)/\\lambda_{\\max}(X^\\top X)$",
    statement=r"""
        From $w_0 = 0$, a network of ridge descent whose weights hold $\eta$ approaches the ridge estimate on $cX$ if
        and only if $c^2 < (2/\eta-\lambda)/\lambda_{\max}(X^\top X)$, but for right-hand sides without a share in the
        largest eigenvector. With the step $\eta = 1/(\lambda_{\max}+\lambda)$ that is a factor of
        $\sqrt{2+\lambda/\lambda_{\max}}$: about 1.41, unless $\lambda$ is large. Built anew with a step size for $cX$,
        it converges again.
    """,
    refuted_by={
        "distance": "A distance to the ridge estimate other than that of descent, at some scale.",
        "below": "A network that has not come closer to the ridge estimate just below the threshold.",
        "above": "A network that has come closer just above it.",
        "anew": "A scale at which the network with a step size of its own does not converge.",
    },
    method=r"""
        The network by hand for $\eta = 1/(\lambda_{\max}+\lambda)$ is run on $cX$, with factors from a tenth to 1.5 and
        2% to either side of the threshold; its distance to the ridge estimate of the scaled problem is compared with
        $|(I-\eta(c^2X^\top X+\lambda I))^T\hat w|$ by eigenvalues. Then $\eta$ is chosen for each $cX$.
    """,
    quick="12 samples in 3 dimensions, 100 iterations, eight scales",
    full="the same",
    seconds=4,
)
def scale(lab: Lab) -> Evidence:
    """Distances after 100 iterations, by scale."""
    problem = draw(N, D, np.random.default_rng(lab.seed))
    problem = problem._replace(eta=1 / (np.linalg.norm(problem.x, 2) ** 2 + problem.lam))
    threshold = stable_below(problem)
    factors = sorted((*SCALES, threshold * (1 - NEAR), threshold * (1 + NEAR)))
    rows = []
    for factor in factors:
        changed = scaled(problem, factor)
        found, wanted = distances(changed, STEPS)
        own = changed._replace(eta=1 / (np.linalg.norm(changed.x, 2) ** 2 + changed.lam))
        rows.append((factor, found, wanted, distances(own, STEPS)[0], distances(own, STEPS)[1]))
    below, above = ([row for row in rows if (row[0] > threshold) is side] for side in (False, True))
    reason = "Distances relative to the start; 1 is no progress."
    decisive = f"distance after {STEPS} iterations, X {NEAR:.0%} beyond the threshold"
    checks = (
        equal(
            "worst relative difference from descent by eigenvalues",
            max(abs(row[1] - row[2]) / max(1.0, row[2]) for row in rows),
            0.0,
            against="distance",
            tolerance=1e-11,
            reason="Rounding, which a hundred unstable steps multiply.",
        ),
        at_most(
            "largest distance at scales below the threshold",
            max(r[1] for r in below),
            1.0,
            against="below",
            reason=reason,
        ),
        at_least(decisive, min(r[1] for r in above), 1.0, against="above", reason=reason),
        at_most(
            "largest distance with a step size of its own", max(r[3] for r in rows), 1.0, against="anew", reason=reason
        ),
    )
    figure = Figure(
        "scale",
        "A network for one scale of X, at others",
        f"Distance to the ridge estimate after {STEPS} iterations over that at the start. The fixed network is slow "
        "where X is smaller and diverges where it is larger than the threshold.",
        (
            Panel(
                f"{N} samples, d = {D}",
                Axis("factor of X", log=True),
                Axis("|w_T − ridge| / |ridge|", log=True, limits=(1e-12, 1e6)),
                (
                    Series("fixed network", tuple(r[0] for r in rows), tuple(r[1] for r in rows), style="points"),
                    Series(
                        "step size for each X", tuple(r[0] for r in rows), tuple(r[3] for r in rows), style="points"
                    ),
                ),
                (Baseline("no progress", 1.0),),
            ),
        ),
        columns=1,
    )
    columns = ("factor of X", "fixed network", "descent by eigenvalues", "step size of its own", "by eigenvalues")
    table = Table("scales", "Distances to the ridge estimate, relative to the start", columns, tuple(rows))
    words = (
        f"Here the threshold is a factor of {threshold:.3f}. What the network computes is gradient descent at every "
        "scale; it is the step size in its weights that no longer fits. A network that was *trained* at one scale is "
        "inexact at others besides: see the trained gradient step.",
    )
    return Evidence(checks, (figure,), (table,), words, headline=decisive)
