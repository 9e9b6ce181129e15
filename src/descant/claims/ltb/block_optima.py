"""Which weights of a block are optimal (Theorem 5.3), and what changes where only one direction is to be learnt."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from ...attention import MergedLTB
from ...tasks import FixedNoise, GaussianInputs, GaussianPrior, LinearRegression
from ...theory import Problem, gd_beta_minimum, ltb_risk, optimal_gamma
from .. import Check, Evidence, Lab, Table, at_least, at_most, claim, equal
from ._least_block import Block, block_ends, narrow_risk, spectrum
from ._problems import crooked, isotropic

STARTS, MOST_STARTS = 4, 20
EXACT = 1e-12
ROUNDING = "Two exact risks in float64: rounding alone."
# Curvatures below this share of the largest are directions along which the risk does not change.
FLAT = 1e-9


def span(problem: Problem) -> np.ndarray:
    """The projection on the span of the inputs."""
    values, vectors = np.linalg.eigh(np.asarray(problem.inputs))
    kept = vectors[:, values > 1e-9 * values.max()]
    return kept @ kept.T


def satisfying(problem: Problem, random: np.random.Generator) -> Block:
    """Weights that satisfy the conditions of the theorem, whatever these leave open drawn at random."""
    d, inside = problem.d, span(problem)
    outside = np.eye(d) - inside
    mean, gamma = np.asarray(problem.mean), np.asarray(optimal_gamma(problem, problem.mean))
    last, free = 0.5 + random.random(), random.standard_normal((d, d))
    v = np.append(-last * mean + outside @ random.standard_normal(d), last)
    label = outside @ random.standard_normal(d)
    inner = gamma.T / last - np.outer(mean, label) + free - inside @ free @ inside
    u, skip = np.vstack([inner, label]), mean + outside @ random.standard_normal(d)
    return Block(float(ltb_risk(problem, jnp.asarray(v), jnp.asarray(u), jnp.asarray(skip))), v, u, skip)


def violations(problem: Problem, block: Block) -> dict[str, float]:
    """How far a block is from each condition, on the span of the inputs, in units of the mean and of Gamma*."""
    inside, mean = span(problem), np.asarray(problem.mean)
    gamma, last = np.asarray(optimal_gamma(problem, problem.mean)), block.v[-1]
    size, step = np.linalg.norm(inside @ mean), np.linalg.norm(gamma)
    inner = last * (block.u[:-1] + np.outer(mean, block.u[-1]))
    return {
        "values": float(np.linalg.norm(inside @ (block.v[:-1] / last + mean)) / size),
        "skip": float(np.linalg.norm(inside @ (block.skip - mean)) / size),
        "labels in keys": float(np.linalg.norm(last * inside @ block.u[-1]) * size / step),
        "step": float(np.linalg.norm(inside @ (inner - gamma.T) @ inside) / step),
    }


@jax.jit
def _hessian(flat: Float[Array, " p"], problem: Problem) -> Float[Array, "p p"]:
    d = problem.d

    def risk(flat):
        v, u, skip = jnp.split(flat, np.cumsum([d + 1, (d + 1) * d]))
        return ltb_risk(problem, v, u.reshape(d + 1, d), skip)

    return jax.hessian(risk)(flat)


def curvatures(problem: Problem, block: Block) -> np.ndarray:
    """Eigenvalues of the Hessian of the risk in (v, U, skip), over the largest."""
    flat = np.concatenate([block.v, block.u.ravel(), block.skip])
    values = np.linalg.eigvalsh(np.asarray(_hessian(jnp.asarray(flat), problem)))
    return values / values.max()


def _tasks(lab: Lab) -> dict[str, LinearRegression]:
    return {
        "isotropic, mean 1, noise 0.5": isotropic(3, 6, 1.0, 0.5),
        "without symmetry, noise 0.4": crooked(3, 6, 0.4, key=lab.key("crooked")),
        "inputs of rank 2, noise 0.4": crooked(3, 6, 0.4, key=lab.key("flat"), rank=2),
    }


@claim(
    "ltb-conditions",
    paper="ltb",
    whose="paper",
    seen="transcription",
    where="Theorem 5.3, its conditions",
    title="Which blocks are optimal: GD-beta's step and start, up to a scale and what no input meets",
    statement=r"""
        Write a block as $\langle\gamma, x\rangle + (v_{21}, v)^\top \tfrac{G}{n} \binom{V_{11}}{v_{12}^\top} x$. If
        $\Lambda^{1/2}\Psi^{1/2}$ has rank two or more, it is optimal if and only if $v \ne 0$ and, up to the null space
        of $\Lambda$ on every side that an input meets: $v_{21} = -v\mu$, $\gamma = \mu$, $v\,v_{12} = 0$ and
        $v V_{11} = \Gamma^{*\top} - v\mu v_{12}^\top$. (Gaussian inputs and tasks, noise of a fixed level, query
        masked, the same $n$ in training and test.)
    """,
    refuted_by={
        "enough": "Weights that satisfy the conditions and have another risk than the least.",
        "needed": "An optimal block that does not satisfy them, or a way to leave them on which the risk stays.",
    },
    method=r"""
        Enough: the exact risk of weights that satisfy the conditions, all else drawn at random. Needed: the blocks of
        least risk that quasi-Newton steps find from random weights are put into the conditions; and the directions
        along which the Hessian of the risk vanishes at an optimum are counted. The conditions leave
        $1 + 3m + d^2 - k^2$ of them ($k$ the rank of $\Lambda$, $m = d - k$), one of which is the scale of values
        against keys.
    """,
    quick="3 problems in 3 dimensions, 4 to 20 starts each",
    full="the same",
    seconds=8,
)
def ltb_conditions(lab: Lab) -> Evidence:
    """Random weights within the conditions, found weights put into them, flat directions counted."""
    checks: list[Check] = []
    rows: list[tuple[Any, ...]] = []
    for number, (name, task) in enumerate(_tasks(lab).items()):
        lab.tell(name, None)
        problem = Problem.of(task)
        least, random = float(gd_beta_minimum(problem)), np.random.default_rng([lab.seed, number])
        built = [satisfying(problem, random) for _ in range(5)]
        off = max(built, key=lambda block: abs(block.risk / least - 1))
        best = block_ends(problem, starts=STARTS, seed=number, goal=(1 + EXACT) * least, most=MOST_STARTS)[0]
        apart = violations(problem, best)
        worst = max(apart, key=lambda key: apart[key])
        flat = int(np.sum(np.abs(curvatures(problem, built[0])) < FLAT))
        missing = problem.d - round(float(np.trace(span(problem))))
        left = 1 + 3 * missing + problem.d**2 - (problem.d - missing) ** 2
        checks += [
            equal(
                f"risk of weights within the conditions over the least, furthest off of 5, {name}",
                off.risk / least,
                1.0,
                against="enough",
                exact=True,
                tolerance=EXACT,
                reason=ROUNDING,
            ),
            equal(
                f"least risk of a block found over GD-beta's, {name}",
                best.risk / least,
                1.0,
                against="needed",
                tolerance=EXACT,
                reason="Descents that arrive end within 1e-14; one below would be a better block than the theorem's.",
            ),
            equal(
                f"furthest of the block found from a condition ({worst}), {name}",
                apart[worst],
                0.0,
                against="needed",
                tolerance=1e-6,
                reason="A risk within 1e-14 of its minimum means weights within about 1e-7 of it.",
            ),
            equal(
                f"flat directions at an optimum, {name}",
                flat,
                left,
                against="needed",
                tolerance=0.0,
                reason="Counted; curvatures are either rounding (below 1e-14) or above 1e-6 of the largest.",
            ),
        ]
        rows.append((name, least, off.risk / least - 1, best.risk / least - 1, apart[worst], flat, left))
    columns = (
        "problem", "least risk", "within the conditions: relative excess", "found: relative excess",
        "found: furthest from a condition", "flat directions", "left by the conditions",
    )  # fmt: skip
    return Evidence(
        tuple(checks), (), (Table("ltb-conditions", "Optimal blocks", columns, tuple(rows)),), headline=checks[2].name
    )


def one_direction(d: int, n: int, sigma: float, seed: int) -> LinearRegression:
    """Inputs without symmetry, tasks that differ from their mean along one direction only."""
    random = np.random.default_rng(seed)
    normal, along = random.standard_normal((d, d)), random.standard_normal(d)
    inputs = GaussianInputs(jnp.asarray(normal @ normal.T / d + 0.2 * np.eye(d)))
    prior = GaussianPrior(jnp.asarray(random.standard_normal(d)), jnp.asarray(np.outer(along, along)))
    return LinearRegression(d, n, prior, inputs, FixedNoise(sigma))


def exchanged(problem: Problem) -> Block:
    """Values that read the inputs along one direction, keys that read centred labels: v = 0 in the theorem's terms."""
    gamma = np.asarray(optimal_gamma(problem, problem.mean))
    values, vectors = np.linalg.eigh((gamma + gamma.T) / 2)
    h = np.sqrt(values[-1]) * vectors[:, -1]
    v, u = np.append(h, 0.0), np.outer(np.append(-np.asarray(problem.mean), 1.0), h)
    skip = np.asarray(problem.mean)
    return Block(float(ltb_risk(problem, jnp.asarray(v), jnp.asarray(u), jnp.asarray(skip))), v, u, skip)


@claim(
    "ltb-rank-one",
    paper="ltb",
    whose="extension",
    where="Theorem 5.3, which leaves out rank one",
    title="At rank one the block still can't beat GD-beta, but values may read no label at all",
    statement=r"""
        If $\Lambda^{1/2}\Psi^{1/2}$ has rank one, the least risk of a block is still that of GD-$\beta$, and the best
        block is still that function. What fails is the condition $v \ne 0$ on its weights: values that read inputs and
        keys that read labels do as well. A block with $v = 0$ makes a step of rank one, so at larger rank its least
        risk is that of keys of width one (`key-width`), strictly above. In two problems without symmetry that were
        looked at it is a local minimum of the risk over all blocks all the same, in which descents from random weights
        end; with $\Lambda = \Psi = I$, $d = 3$, $n = 6$ it is a saddle.
    """,
    refuted_by={
        "below": "A block at rank one whose risk differs from GD-beta's, or another function with that risk.",
        "exchange": "At rank one, exchanged roles of values and keys that cost something; at larger rank, that don't.",
        "stuck": "No descent that ends at the least risk with $v = 0$, or one that ends there in a saddle.",
        "saddle": "A least risk with $v = 0$ that has no direction downwards, although all directions are alike.",
    },
    method=r"""
        Rank one: the exact risk of the exchanged block, its answers beside GD-$\beta$'s on sampled contexts, and the
        least risk that quasi-Newton steps find from random weights. Larger rank: where these steps end when they do not
        end in the optimum, and the curvatures of the risk there.
    """,
    quick="1 problem of rank one, 2 of larger rank, 8 to 20 starts each, d = 3, n = 6",
    full="the same",
    seconds=8,
)
def ltb_rank_one(lab: Lab) -> Evidence:
    """The exchanged block at rank one, and the ends of descents at larger rank."""
    task = one_direction(3, 6, 0.4, lab.seed)
    problem = Problem.of(task)
    least, other = float(gd_beta_minimum(problem)), exchanged(problem)
    found = block_ends(problem, starts=STARTS, seed=lab.seed, goal=(1 + EXACT) * least, most=MOST_STARTS)[0]
    rank_two = Problem.of(_tasks(lab)["without symmetry, noise 0.4"])
    checks = [
        equal(
            "rank one: least risk of a block found over GD-beta's",
            found.risk / least, 1.0, against="below", tolerance=EXACT,
            reason="Descents that arrive end within 1e-14.",
        ),
        equal(
            "rank one: distance of the found block from GD-beta, on 200 contexts, relative",
            _apart(task, found, lab), 0.0, against="below", tolerance=1e-7,
            reason="A risk within 1e-14 of its minimum means weights within about 1e-7 of it.",
        ),
        equal(
            "rank one: risk of the block with exchanged roles over the least",
            other.risk / least, 1.0, against="exchange", exact=True, tolerance=EXACT, reason=ROUNDING,
        ),
        at_least(
            "rank three: least risk with v = 0 over the least of all",
            narrow_risk(rank_two, 1) / float(gd_beta_minimum(rank_two)), 1.001, against="exchange", exact=True,
            reason="Closed forms: strictly above, by more than a thousandth.",
        ),
    ]  # fmt: skip
    checks += _saddle(Problem.of(isotropic(3, 6, 1.0, 0.5)))
    rows = []
    for name, each in list(_tasks(lab).items())[1:]:
        lab.tell(name, None)
        larger = Problem.of(each)
        bottom, poor = float(gd_beta_minimum(larger)), narrow_risk(larger, 1)
        ends = block_ends(larger, starts=2 * STARTS, seed=lab.seed, goal=(1 + EXACT) * bottom, most=MOST_STARTS)
        stuck = [end for end in ends if abs(end.risk / poor - 1) < 1e-9]
        reached = [end for end in ends if abs(end.risk / bottom - 1) < 1e-9]
        rows.append((name, len(spectrum(larger)), len(ends), len(reached), len(stuck), bottom, poor))
        checks += _where_stuck(name, larger, stuck)
    columns = ("problem", "d", "descents", "ended in the optimum", "ended with v = 0", "least risk", "least with v = 0")
    table = Table("ltb-rank-one", "Where descents over blocks end", columns, tuple(rows),
                  "Descents that are in neither column were stopped on the way.")  # fmt: skip
    return Evidence(tuple(checks), (), (table,), headline=checks[2].name)


def _saddle(problem: Problem) -> list[Check]:
    """That where all directions are alike, the least risk with v = 0 is no local minimum."""
    block = exchanged(problem)
    return [
        equal(
            "isotropic: risk of the block with exchanged roles over the least with v = 0",
            block.risk / narrow_risk(problem, 1), 1.0, against="saddle", exact=True, tolerance=EXACT, reason=ROUNDING,
        ),
        at_most(
            "isotropic: least curvature of the risk there, over the largest",
            float(curvatures(problem, block).min()), -1e-3, against="saddle",
            reason="Far from rounding, which is 1e-14 here.",
        ),
    ]  # fmt: skip


def _where_stuck(name: str, problem: Problem, stuck: list[Block]) -> list[Check]:
    """That the ends which are not optimal are local minima whose values read no label."""
    labels = [abs(end.v[-1]) / np.linalg.norm(end.v) for end in stuck]
    return [
        at_least(
            f"descents that ended at the least risk with v = 0, {name}",
            len(stuck), 1, against="stuck", reason="Counted: one is enough to be stuck there.",
        ),
        equal(
            f"how much of labels their values read, largest share, {name}",
            max(labels, default=np.inf), 0.0, against="stuck", tolerance=1e-7,
            reason="Weights within about 1e-7 of the local minimum.",
        ),
        at_least(
            f"least curvature of the risk there, over the largest, {name}",
            min((float(curvatures(problem, end).min()) for end in stuck), default=-np.inf), 0.0, against="stuck",
            tolerance=FLAT, reason="A saddle would have a negative one; flat directions are rounding of 0.",
        ),
    ]  # fmt: skip


def _apart(task: LinearRegression, block: Block, lab: Lab) -> float:
    """Root mean square distance of weight vectors on sampled contexts from GD-beta's, relative."""
    problem = Problem.of(task)
    step = np.asarray(optimal_gamma(problem, problem.mean))
    merged = MergedLTB(jnp.asarray(block.v), jnp.asarray(block.u), jnp.asarray(block.skip))

    def pair(key):
        moments = task.sample_moments(key=key)
        own = problem.mean + jnp.asarray(step) @ (moments.xy - moments.xx @ problem.mean) / moments.n
        root = problem.root
        return root @ merged.weights(moments), root @ own

    ours, theirs = jax.jit(jax.vmap(pair))(jax.random.split(lab.key("contexts"), 200))
    return float(np.sqrt(np.mean((ours - theirs) ** 2) / np.mean(theirs**2)))
