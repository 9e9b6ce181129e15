"""How far every class of one layer is from Bayes when there are only K tasks, as K grows."""

import math
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from scipy.stats import norm, t as student

from ..._checks import Z
from ...measure import best, exact_risk
from ...tasks import FixedNoise, GaussianPrior, LinearRegression, PoolPrior
from .. import Axis, Baseline, Check, Evidence, Figure, Lab, Panel, Series, Table, at_least, at_most, claim, equal

D, N, SIGMA = 2, 4, 0.7
# How many pools are drawn of each size K, and on how many of them heads are looked for by descent, which takes longest.
POOLS = {1: (64, 32), 2: (16, 8), 8: (64, 14), 32: (16, 6), 128: (8, 6), 1024: (6, 6)}
# Where the distance is compared with that of the Gaussian law.
MIDDLE = 8
CONTEXTS, ALL_CONTEXTS = 4096, 262_144
CLASSES = {
    "gd": "GD",
    "lsa": "LSA, one head",
    "multi-head-lsa": "LSA, d + 1 heads",
    "gd-beta": "GD-beta",
    "ltb": "LTB, y_q-LSA",
}
# Those with a learnt start, which can answer with the prior mean alone; and those of one head, found by descent.
LEARNT, DESCENTS = ("gd-beta", "ltb"), ("lsa", "ltb")


def posed(prior) -> LinearRegression:
    """Gaussian inputs of covariance I and a fixed noise level."""
    return LinearRegression(D, N, prior, noise=FixedNoise(SIGMA))


def pool_bayes(tasks: np.ndarray, *, seed: int) -> tuple[float, float]:
    """The Bayes risk of a pool, and its standard error: the mean posterior variance over drawn contexts.

    With as many tasks as this, every one of them weighed by its likelihood; inputs have covariance I.
    """
    random = np.random.default_rng(seed)
    x = random.standard_normal((CONTEXTS, N, D))
    w = tasks[random.integers(len(tasks), size=CONTEXTS)]
    y = np.einsum("cnd,cd->cn", x, w) + SIGMA * random.standard_normal((CONTEXTS, N))
    fits = -np.sum((y[:, :, None] - x @ tasks.T) ** 2, axis=1) / (2 * SIGMA**2)
    weights = np.exp(fits - fits.max(1, keepdims=True))
    weights /= weights.sum(1, keepdims=True)
    variances = weights @ np.sum(tasks**2, axis=1) - np.sum((weights @ tasks) ** 2, axis=1)
    return float(variances.mean()), float(variances.std(ddof=1) / CONTEXTS**0.5)


def gaussian_bayes(*, seed: int) -> tuple[float, float]:
    """The same for the Gaussian law that pools are drawn from: the mean of tr (I + X^T X / sigma^2)^-1."""
    x = np.random.default_rng(seed).standard_normal((ALL_CONTEXTS, N, D))
    precisions = np.eye(D) + x.swapaxes(1, 2) @ x / SIGMA**2
    variances = np.trace(np.linalg.inv(precisions), axis1=1, axis2=2)
    return float(variances.mean()), float(variances.std(ddof=1) / ALL_CONTEXTS**0.5)


def over_pools(values: np.ndarray) -> tuple[float, float]:
    """The mean over pools, with an error of which Z are the t quantile that Z would be for normal numbers."""
    count = len(values)
    quantile = student.isf(norm.sf(Z), count - 1)
    return float(values.mean()), float(values.std(ddof=1) / count**0.5 * quantile / Z)


@claim(
    "task-diversity",
    paper="descant",
    where="Beside Raventós et al. 2023, on pools of K tasks",
    title="At d = 2 and n = 4, one layer is farther from Bayes with eight tasks than with a thousand",
    statement=r"""
        Let tasks be a pool of $K$, drawn once from $N(\mu, I)$ with $\mu = (1, \dots, 1)$; inputs Gaussian, $d=2$,
        $n=4$, noise 0.7. On average over pools, the least risk of every class of one layer (gradient descent from 0;
        LSA with one head and with $d+1$; GD-$\beta$; LTB and y_q-LSA) is above the Bayes risk of the pool for all $K$
        from 1 to 1024 that were looked at, but for one: with a single task, the classes with a learnt start are Bayes.
        At $K = 8$ the distance is larger than for the Gaussian law that pools are drawn from, for every class; at
        $K = 1024$ it is that of the Gaussian law, within a twentieth.
    """,
    refuted_by={
        "reached": "A class that reaches Bayes at another $K$, or one without a learnt start that does at $K = 1$.",
        "single": "A learnt start that is not Bayes at $K = 1$.",
        "middle": "A distance at $K = 8$ that is not larger than the Gaussian law's.",
        "end": "A distance at $K = 1024$ that is a twentieth away from the Gaussian law's.",
    },
    method=r"""
        For each pool, the least risk of each class is exact (of one head, by descent on the exact risk). The Bayes risk
        is the mean posterior variance over drawn contexts, each of the $K$ tasks weighed by its likelihood. Means over
        pools have errors from $t$ quantiles. To make these small, $1 - 1/K$ times what the Gaussian law's best member
        has on the pool is subtracted, and $1 - 1/K$ times its risk under the Gaussian law added, which is the mean of
        that over pools, exactly. LTB is measured by its difference from GD-$\beta$.

        The Gaussian law's best member also shows that, on average over pools, no class does worse than under the
        Gaussian law; nor does Bayes, which gains more from few tasks.

        $K = 8$, where the distance was largest, the numbers of pools, and that $K = 1024$ need only be within a
        twentieth were chosen after a look at seed 0.
    """,
    quick="six sizes K, 4 to 64 pools each, 4,096 contexts for each Bayes risk",
    full="four times as many pools",
    seconds=40,
)
def task_diversity(lab: Lab) -> Evidence:
    """Distances to Bayes over pools, beside the Gaussian law's."""
    law = posed(GaussianPrior(jnp.ones(D), jnp.eye(D)))
    members = {name: best(name, law) for name in CLASSES}
    limits = {name: exact_risk(member, law) for name, member in members.items()}
    found: dict[int, list[dict[str, Any]]] = {}
    for index, (K, counts) in enumerate(POOLS.items()):
        lab.tell(f"pools of {K}", index / len(POOLS))
        pools, descents = (lab.pick(count, 4 * count) for count in counts)
        found[K] = lab.keep(
            f"pools-{K}",
            lambda K=K, pools=pools, descents=descents: [
                _on_pool(lab, K, each, members, each < descents) for each in range(pools)
            ],
        )
    gaussian = gaussian_bayes(seed=lab.seed)
    bayes = [over_pools(np.array([row["bayes"] for row in rows])) for rows in found.values()]
    distances = {name: [_distance(K, rows, name, limits[name]) for K, rows in found.items()] for name in CLASSES}
    limit = {name: limits[name] - gaussian[0] for name in CLASSES}
    checks = (*_apart(found, distances), *_beside(distances, limit, gaussian[1]))
    figure = _figure(distances, bayes, limit, gaussian[0])
    middle = f"{CLASSES['gd-beta']}: distance at K = {MIDDLE}, beside the Gaussian law's"
    return Evidence(checks, (figure,), (_table(distances, bayes, limit, gaussian),), headline=middle)


def _on_pool(lab: Lab, K: int, index: int, members: dict[str, Any], descents: bool) -> dict[str, Any]:
    """Least risks, those of the Gaussian law's best members, the risk of the zero predictor, and the Bayes risk."""
    prior = PoolPrior.drawn(D, K, key=jax.random.fold_in(lab.key(f"pools of {K}"), index), mean=1.0)
    task, tasks = posed(prior), np.asarray(prior.tasks)
    names = [name for name in CLASSES if descents or name not in DESCENTS]
    return {
        "least": {name: exact_risk(best(name, task), task) for name in names},
        "member": {name: exact_risk(members[name], task) for name in names},
        "zero": float(np.mean(np.sum(tasks**2, axis=1))),
        "bayes": pool_bayes(tasks, seed=lab.seed + 1000 * K + index)[0],
    }


def _distance(K: int, rows: list[dict[str, Any]], name: str, limit: float) -> tuple[float, float]:
    """Of a class to Bayes, over pools; `limit` is what the Gaussian law's best member costs on average over pools."""
    if name == "ltb":
        # Always near GD-beta, which is known on more pools.
        value, error = _distance(K, rows, "gd-beta", limit)
        pairs = [row["least"] for row in rows if name in row["least"]]
        less, its = over_pools(np.array([pair[name] - pair["gd-beta"] for pair in pairs]))
        return value + less, math.hypot(error, its)
    share = 1 - 1 / K
    return over_pools(
        np.array(
            [
                row["least"][name] - share * (row["member"][name] - limit) - row["bayes"]
                for row in rows
                if name in row["least"]
            ]
        )
    )


def _apart(found: dict[int, list[dict[str, Any]]], distances: dict[str, list[tuple[float, float]]]) -> list[Check]:
    """Bayes or not Bayes: with one task, whose Bayes risk is 0, pool by pool; with several, on average."""
    checks: list[Check] = []
    for name, label in CLASSES.items():
        shares = [row["least"][name] / row["zero"] for row in found[1] if name in row["least"]]
        if name in LEARNT:
            why = "Exact: rounding alone."
            name_of = f"{label}: largest risk with one task, over |w|²"
            checks.append(at_most(name_of, max(shares), 1e-12, against="single", reason=why))
        else:
            why = "Exact, the least over pools. Whatever is not 0."
            name_of = f"{label}: least risk with one task, over |w|²"
            checks.append(at_least(name_of, min(shares), 0.01, against="reached", reason=why))
        several = range(1, len(POOLS))
        least = min(several, key=lambda index, name=name: distances[name][index][0] - Z * distances[name][index][1])
        value, error = distances[name][least]
        checks.append(
            at_least(
                f"{label}: least distance to Bayes with several tasks, at K = {tuple(POOLS)[least]}",
                value,
                0.01,
                error=error,
                against="reached",
                reason="Whatever is not 0; over pools, by a t quantile.",
            )
        )
    return checks


def _beside(distances, limit: dict[str, float], error: float) -> list[Check]:
    """In the middle and at the end, with the Gaussian law."""
    sizes = list(POOLS)
    checks: list[Check] = []
    for name, label in CLASSES.items():
        (middle, middle_error), (last, last_error) = distances[name][sizes.index(MIDDLE)], distances[name][-1]
        checks += [
            at_least(
                f"{label}: distance at K = {MIDDLE}, beside the Gaussian law's",
                middle,
                limit[name],
                error=middle_error,
                bound_error=error,
                against="middle",
                reason="Above it by a t quantile over pools.",
            ),
            equal(
                f"{label}: distance at K = {sizes[-1]}, beside the Gaussian law's",
                last,
                limit[name],
                error=last_error,
                bound_error=error,
                tolerance=0.05 * limit[name],
                against="end",
                reason="A twentieth: at every finite K there is a difference, and pools tell them apart no further.",
            ),
        ]
    return checks


def _figure(distances, bayes, limit: dict[str, float], gaussian: float) -> Figure:
    def series(label: str, values) -> Series:
        return Series(label, tuple(POOLS), tuple(value for value, _ in values), tuple(error for _, error in values))

    return Figure(
        "task-diversity",
        "Distance to Bayes against the number of tasks",
        "Left: the levels are the Gaussian law's, from which pools are drawn. Classes with a learnt start are Bayes "
        "with one task; with eight, all are farther from it than under the Gaussian law; in the end they are as far. "
        "Right: the Bayes risk itself grows with the number of tasks.",
        (
            Panel(
                f"d = {D}, n = {N}, noise {SIGMA:g}",
                Axis("tasks in the pool, K", log=True),
                Axis("least risk less the Bayes risk"),
                tuple(series(label, distances[name]) for name, label in CLASSES.items()),
                tuple(
                    Baseline(f"Gaussian law, {label}", limit[name], label, listed=False)
                    for name, label in CLASSES.items()
                    # The same as GD-beta's.
                    if name != "ltb"
                ),
            ),
            Panel(
                "Bayes",
                Axis("tasks in the pool, K", log=True),
                Axis("Bayes risk"),
                (series("Bayes, pool", bayes),),
                (Baseline("Bayes, Gaussian law", gaussian, "Bayes, pool"),),
            ),
        ),
    )


def _table(distances, bayes, limit: dict[str, float], gaussian: tuple[float, float]) -> Table:
    columns = [("K", "Bayes risk", "±"), *((label, "±") for label in CLASSES.values())]
    rows = [
        (str(K), *bayes[index], *(number for name in CLASSES for number in distances[name][index]))
        for index, K in enumerate(POOLS)
    ]
    last = ("Gaussian law", *gaussian, *(number for name in CLASSES for number in (limit[name], gaussian[1])))
    return Table(
        "distances",
        "Bayes risks, and distances to them",
        tuple(name for group in columns for name in group),
        (*rows, last),
        "Means over pools; three standard errors are a t quantile of 99.7%.",
    )
