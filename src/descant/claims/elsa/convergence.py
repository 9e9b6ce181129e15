"""How many iterations the networks need, against the condition number of X^T X."""

from collections.abc import Callable
from functools import cache

import equinox as eqx
import jax.numpy as jnp
import numpy as np

from ...programs import CompiledProgram, compile_program
from ...programs.paper import RidgeByHand, ridge_as_elsa, ridge_as_lsa
from .. import Axis, Evidence, Figure, Lab, Panel, Series, Table, claim, equal
from ._descent import Ridge

# Condition numbers of X^T X, whose largest eigenvalue is LARGEST; 20 samples in 4 dimensions.
CONDITIONS = (1, 10, 100, 1000, 1_000_000)
N, D, LARGEST, LAM = 20, 4, 100.0, 0.5
ITERATIONS = (1, 5, 10, 20)
# Distance to the ridge estimate, relative to its start, that counts as having arrived; networks are run on their own
# result in stretches of this many iterations.
ARRIVED, STRETCH = 1e-6, 20

Network = Callable[[np.ndarray], np.ndarray]


def conditioned(condition: float, random: np.random.Generator) -> Ridge:
    """X through its singular values; labels such that every eigenvector has an equal share in the ridge estimate.

    With a quarter of the largest stable step every mode shrinks without changing its sign.
    """
    left, right = (np.linalg.qr(random.standard_normal((size, D)))[0] for size in (N, D))
    values = np.geomspace(LARGEST / condition, LARGEST, D)
    x, y = left @ np.diag(np.sqrt(values)) @ right.T, left @ ((values + LAM) / np.sqrt(values))
    return Ridge(x, y, random.standard_normal(D), LAM, 0.5 / (LARGEST + LAM))


def left_over(problem: Ridge, steps: int) -> float:
    """|w_T - ridge| over |ridge| from w_0 = 0, in closed form."""
    values, vectors = np.linalg.eigh(problem.x.T @ problem.x)
    share = vectors.T @ problem.solution()
    shrunk = (1 - problem.eta * (values + problem.lam)) ** steps
    return float(np.linalg.norm(shrunk * share) / np.linalg.norm(share))


def networks(problem: Ridge, steps: int) -> dict[str, Network]:
    """From w to w after so many iterations: both constructions by hand, and the compiled program."""
    given = [jnp.asarray(each) for each in (problem.x, problem.y, problem.query)]
    eta, lam = float(problem.eta), problem.lam
    compiled = _compiled(eta, lam, steps)
    return {
        "ELSA by hand": _by_hand(ridge_as_elsa(*given, eta=eta, lam=lam, steps=steps)),
        "LSA by hand, designed input": _by_hand(ridge_as_lsa(*given, eta=eta, lam=lam, steps=steps)),
        "compiled": lambda w: np.asarray(compiled.run({"X": problem.x, "y": problem.y[:, None], "w": w[:, None]})["w"])[
            :, 0
        ],
    }


@cache
def _compiled(eta: float, lam: float, steps: int) -> CompiledProgram:
    return compile_program("ridge", n=N, d=D, eta=eta, lam=lam, T=steps)


def _by_hand(built: RidgeByHand) -> Network:
    rows = slice(built.top, built.top + built.d)
    return lambda w: np.asarray(_run(built.network, built.input.at[rows, built.column].set(w))[rows, built.column])


@eqx.filter_jit
def _run(network, h):
    return network(h)


def arrives(network: Network, problem: Ridge, limit: int) -> int:
    """Iterations until the distance is ARRIVED of its start, in whole stretches; at most the limit."""
    w, solution = np.zeros(D), problem.solution()
    for stretch in range(1, limit // STRETCH + 1):
        w = network(w)
        if np.linalg.norm(w - solution) <= ARRIVED * np.linalg.norm(solution):
            return STRETCH * stretch
    return limit


def theory(problem: Ridge, limit: int) -> int:
    """The same by the closed form."""
    stretches = range(STRETCH, limit + 1, STRETCH)
    return next((steps for steps in stretches if left_over(problem, steps) <= ARRIVED), limit)


REFUTED = {
    "distance": "A distance after some number of iterations that is not that of gradient descent.",
    "arrival": "A number of iterations to one millionth that is not that of gradient descent.",
    "bounded": "A number of iterations that grows in proportion to the condition number of $X^\\top X$ although "
    "$\\lambda > 0$.",
}


@claim(
    "elsa-convergence",
    paper="elsa",
    whose="paper",
    seen="summary",
    identity=True,
    where="Section 3.5: T stacked modules approach the ridge estimate; the rate and its bound are derived",
    title="Stacked modules approach the ridge estimate at the rate of gradient descent, for a stable step size",
    statement=r"""
        With a step size below $2/(\lambda_{\max}(X^\top X)+\lambda)$ and $w_0=0$, the stacked modules approach the
        ridge estimate as $T$ grows: $w_T-\hat w = -(I-\eta(X^\top X+\lambda I))^T\hat w$. With
        $\eta \propto 1/(\lambda_{\max}+\lambda)$ the iterations follow the condition number of $X^\top X+\lambda I$. It
        is at most $1+\lambda_{\max}/\lambda$, so that they stay bounded however large that of $X^\top X$ is.
    """,
    refuted_by=REFUTED,
    method=r"""
        Problems are built through their singular values: the condition number of $X^\top X$ is 1 to $10^6$, its largest
        eigenvalue 100, $\lambda = 0.5$. ELSA by hand on the natural input, plain attention by hand on the designed one,
        and the compiled program (each with a quarter of the largest stable step) are run for $T$ = 1, 5, 10 and 20, and
        then on their own result until one millionth of the distance is left; beside the closed form by eigenvalues.
    """,
    quick="five condition numbers; 20 samples in 4 dimensions; three networks",
    full="the same",
    seconds=8,
)
def elsa_convergence(lab: Lab) -> Evidence:
    """Distances and arrivals, per network and condition number."""
    random, names = np.random.default_rng(lab.seed), ()
    rows, arrivals, worst = [], [], 0.0
    for index, condition in enumerate(CONDITIONS):
        lab.tell(f"condition number {condition}", index / len(CONDITIONS))
        problem = conditioned(condition, random)
        size, limit = np.linalg.norm(problem.solution()), int(20 / problem.eta / LAM / STRETCH) * STRETCH
        for steps in ITERATIONS:
            wanted, built = left_over(problem, steps), networks(problem, steps)
            names = tuple(built)
            each = [float(np.linalg.norm(run(np.zeros(D)) - problem.solution()) / size) for run in built.values()]
            worst = max(worst, *(abs(distance - wanted) for distance in each))
            rows.append((condition, steps, wanted, *each))
        needed = [arrives(run, problem, limit) for run in networks(problem, STRETCH).values()]
        whole = (LARGEST + LAM) / (LARGEST / condition + LAM)
        arrivals.append((condition, whole, theory(problem, limit), *needed))
    decisive = "iterations at condition number 10⁶ of XᵀX over those at 1000"
    checks = (
        equal(
            "largest difference from the distance of gradient descent, T = 1, 5, 10 and 20",
            worst,
            0.0,
            against="distance",
            tolerance=1e-13,
            reason="Distances relative to that at the start; rounding over twenty iterations.",
        ),
        equal(
            f"largest difference in the iterations to {ARRIVED:g} of the start",
            max(abs(count - row[2]) for row in arrivals for count in row[3:]),
            0,
            against="arrival",
            tolerance=0,
            reason=f"Counted in stretches of {STRETCH}.",
        ),
        equal(
            decisive,
            arrivals[-1][3] / arrivals[-2][3],
            arrivals[-1][1] / arrivals[-2][1],
            against="bounded",
            tolerance=0.05,
            reason="The condition number of XᵀX + λI grows by this factor only; stretches, and −log(1 − x) for x, make "
            "a few hundredths.",
        ),
    )
    figure = Figure(
        "convergence",
        "Distance to the ridge estimate, and iterations to a millionth of it",
        "Left: the network by hand (points) and the closed form (lines). Right: iterations follow the condition number "
        "of XᵀX + λI, which λ bounds.",
        (
            Panel(
                "ELSA by hand, relative distance after T iterations",
                Axis("iterations T"),
                Axis("|w_T − ridge| / |ridge|", log=True),
                tuple(series for condition in CONDITIONS for series in _lines(condition, rows)),
            ),
            Panel(
                f"iterations to {ARRIVED:g} of the start",
                Axis("condition number of XᵀX", log=True),
                Axis("iterations", log=True),
                (
                    Series("ELSA by hand", CONDITIONS, tuple(row[3] for row in arrivals), style="points"),
                    Series("closed form", CONDITIONS, tuple(row[2] for row in arrivals), style="line"),
                ),
            ),
        ),
    )
    tables = (
        Table(
            "distances",
            "Relative distance after T iterations",
            ("condition number of XᵀX", "T", "closed form", *names),
            tuple(rows),
        ),
        Table(
            "arrivals",
            f"Iterations to {ARRIVED:g} of the start",
            ("condition number of XᵀX", "of XᵀX + λI", "closed form", *names),
            tuple(arrivals),
        ),
    )
    return Evidence(checks, (figure,), tables, headline=decisive)


def _lines(condition: int, rows: list[tuple]) -> tuple[Series, Series]:
    own = [row for row in rows if row[0] == condition]
    label = f"κ = {condition:g}"
    steps = tuple(row[1] for row in own)
    return (
        Series(label, steps, tuple(row[3] for row in own), style="points", family=label),
        Series(f"{label}, closed form", steps, tuple(row[2] for row in own), style="line", family=label, listed=False),
    )
