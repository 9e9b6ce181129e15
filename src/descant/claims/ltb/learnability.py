"""How hard it is to learn the prior mean: against dimension, context length and the mean's size."""

import jax
import numpy as np
from scipy.integrate import solve_ivp
from threadpoolctl import threadpool_limits

from ..._sampling import standard_error
from ...attention import MergedLTB
from ...theory import Problem, gd_beta_risk
from .. import (
    Axis,
    Evidence,
    Figure,
    Lab,
    Panel,
    Series,
    Table,
    at_least,
    at_most,
    claim,
    consistent,
    equal,
    mean_over,
    paired,
)
from ._descent import curves, first_below
from ._problems import isotropic

GOAL = 0.01
DIMENSIONS = (2, 4, 8, 16)
LENGTHS = (4, 16, 64)
SIZES = (1.0, 3.0, 10.0, 30.0)
# Adam is followed to larger means.
FURTHER = (1.0, 3.0, 10.0, 30.0, 100.0)
RATE, BLOCKS, ITERATIONS = 0.01, 8, 12_000
# Tasks of one sample, and samples: the spread over samples gives the standard error.
TASKS, SAMPLES = 1000, 40


def reduced_risk(d: int, n: int, size: float, b: float, p: float, q: float) -> float:
    """The risk of GD-beta for N(0, I) inputs and N(mu, I) tasks, |mu| = size, no noise; exact.

    The start is b along mu, the preconditioner p along mu and q across it: by symmetry,
    gradient flow from zero keeps this form.
    """
    along = 1 + (size - b) ** 2
    total = along + d - 1
    spread = p**2 + (d - 1) * q**2
    square = p**2 * along + (d - 1) * q**2
    return total - 2 * (p * along + (d - 1) * q) + (n + 1) / n * square + total / n * spread


def velocity(d: int, n: int, size: float, state: np.ndarray) -> np.ndarray:
    """Minus the gradient of half the risk; q stands for d - 1 equal entries, each of which moves like one."""
    b, p, q = state
    gap = size - b
    along, total = 1 + gap**2, d + gap**2
    start = gap * (1 - 2 * p + (n + 1) / n * p**2 + (p**2 + (d - 1) * q**2) / n)
    return np.array([start, along - (n + 1) / n * p * along - total / n * p, 1 - (n + 1) / n * q - total / n * q])


def learning_time(d: int, n: int, size: float) -> tuple[float, float]:
    """Time of the flow from zero until the start is within 1 % of the mean, and its rate once within 0.1 %."""

    def near(_, state):
        return abs(size - state[0]) - GOAL * size

    def nearer(_, state):
        return abs(size - state[0]) - GOAL / 10 * size

    nearer.terminal = True  # pyright: ignore[reportFunctionMemberAccess]
    end = solve_ivp(
        lambda _, state: velocity(d, n, size, state),
        (0, 1e4),
        [0.0, 0.0, 0.0],
        method="LSODA",
        events=(near, nearer),
        rtol=1e-9,
        atol=1e-12,
    )
    state = end.y[:, -1]
    return float(end.t_events[0][0]), float(velocity(d, n, size, state)[0] / (size - state[0]))


def tasks_needed(d: int, n: int, rng: np.random.Generator) -> dict[str, float]:
    """How well TASKS tasks determine the mean: the scatter of the least-squares start, times TASKS; its standard error.

    With Gamma at its best, a task asks for `<g, z>` = y_query - (what the step adds), z = (I - gamma S/n) x_query; its
    error is `<w - mu, z>`. `predicted` is d^2 kappa, kappa = E|z|^4 / (E|z|^2)^2, from the same draws.
    """
    gamma = n / (n + d + 1)
    scatters, fourth, second = [], 0.0, 0.0
    for _ in range(SAMPLES):
        x = rng.standard_normal((TASKS, n, d))
        query, task = rng.standard_normal((2, TASKS, d))
        z = query - gamma / n * np.einsum("tnd,tn->td", x, np.einsum("tnd,td->tn", x, query))
        errors = np.einsum("td,td->t", z, task)
        apart = np.linalg.lstsq(z, errors, rcond=None)[0]
        scatters.append(TASKS * apart @ apart)
        norms = np.einsum("td,td->t", z, z)
        second, fourth = second + norms.mean(), fourth + np.mean(norms**2)
    kappa = SAMPLES * fourth / second**2
    return {
        "scatter": float(np.mean(scatters)),
        "error": float(standard_error(scatters)),
        "predicted": float(d**2 * kappa),
    }


def adam_iterations(lab: Lab) -> list[list[float]]:
    """Iterations of Adam on the block's exact risk until its skip is within 1 % of mu: by size of mu and start."""
    d, n = 4, 8
    blocks = [MergedLTB.random(d, key=jax.random.fold_in(lab.key("blocks"), member)) for member in range(BLOCKS)]
    members = [(block, size) for size in FURTHER for block in blocks]
    problems = [Problem.of(isotropic(d, n, size / d**0.5)) for _, size in members]
    models = [block for block, _ in members]
    found = curves(models, problems, [RATE] * len(members), method="Adam", steps=ITERATIONS)[..., 1]
    counts = [first_below(curve, GOAL * size) for curve, (_, size) in zip(found, members, strict=True)]
    return np.reshape(counts, (len(FURTHER), BLOCKS)).tolist()


@claim(
    "mean-learnability",
    paper="ltb",
    whose="extension",
    where="Section 6 and the discussion; the scaling is ours",
    title="The prior mean takes more time in longer contexts, more tasks in more dimensions, and more steps of Adam "
    "if it is large",
    statement=r"""
        Learnability of $\mu$ is the effort until the learnt start is within 1 % of $\mu$. (a) In time of gradient flow:
        close to the optimum the rate is $(d+1)/(n+d+1)$, so the time is about $\ln(100)\,(n+d+1)/(d+1)$ for $|\mu| =
        1$, and grows by less than three times while $|\mu|$ grows by thirty. (b) In tasks: with the preconditioner at
        its best, least squares needs $N = \kappa\, d^2 / (0.01\,|\mu|)^2$ tasks of unit covariance, $\kappa$ a kurtosis
        that falls from 3 or 4 at $d = 2$ towards 1: quadratic in $d$ once $d$ is large, inverse to $|\mu|^2$, and with
        the length of the context only through $\kappa$.
        (c) In iterations of Adam with a fixed step size, at $d = 4$, $n = 8$: more for larger means, from 1 to 100, by
        less than in proportion to $|\mu|$, and at the largest not fewer than the largest entry of $\mu$ over the step
        size. This is no power law: its slope changes from one pair of neighbouring means to the next. (Inputs $N(0,
        I)$, tasks $N(\mu, I)$, no noise, query masked.)
    """,
    refuted_by={
        "rate": "A rate or a time off the formula.",
        "size": "A time of the flow that grows by a tenth of $|\\mu|$ or more.",
        "tasks": "A number of tasks off the formula, or a kurtosis that does not fall with $d$.",
        "adam": "Iterations of Adam that don't grow with the mean, or in proportion to it or faster.",
        "steps": "Fewer iterations than steps of that size need.",
        "power": "Slopes between neighbouring means that are all alike.",
    },
    method=r"""
        (a) The flow from zero keeps a form with three numbers; its equations are solved to nine digits. (b) Least
        squares on samples of 1,000 tasks, the scatter of 40 fits against the asymptotic formula. (c) Adam on the exact
        risk of the block with merged weights. All for inputs $N(0, I)$, tasks $N(\mu, I)$, no noise. What is said in
        (c) was written after a look: first versions had a power law, of exponent 0.7 and then 0.75.
    """,
    quick="4 dimensions, 3 context lengths, 4 sizes of the mean",
    full="the same",
    seconds=10,
)
def mean_learnability(lab: Lab) -> Evidence:
    """Time, tasks and iterations."""
    rng = np.random.default_rng([lab.seed, 64])
    lab.tell("time of the flow", None)
    times = {(d, n, size): learning_time(d, n, size) for d in DIMENSIONS for n in LENGTHS for size in SIZES}
    stated = {(d, n): (d + 1) / (n + d + 1) for d in DIMENSIONS for n in LENGTHS}
    ratios = {key: rate / stated[key[:2]] for key, (_, rate) in times.items()}
    worst = max(ratios, key=lambda key: abs(ratios[key] - 1))
    spans = [
        max(times[d, n, size][0] for size in SIZES) / min(times[d, n, size][0] for size in SIZES) for d, n in stated
    ]
    example = isotropic(3, 5, 2.0 / 3**0.5)
    problem = Problem.of(example)
    mean = np.asarray(problem.mean) / 2.0
    gamma = 0.3 * np.eye(3) + 0.4 * np.outer(mean, mean)
    polynomial = float(gd_beta_risk(problem, 0.5 * jax.numpy.asarray(mean), jax.numpy.asarray(gamma)))
    lab.tell("tasks", 0.3)
    with threadpool_limits(1, "blas"):
        needed = lab.keep("tasks", lambda: {f"{d} {n}": tasks_needed(d, n, rng) for d in DIMENSIONS for n in LENGTHS})
    lab.tell("iterations of Adam", 0.6)
    adam = lab.keep("adam", lambda: adam_iterations(lab))
    slopes = np.diff(np.log(adam), axis=0) / np.diff(np.log(FURTHER))[:, None]
    whole = mean_over(np.log(np.divide(adam[-1], adam[0])) / np.log(FURTHER[-1] / FURTHER[0]))
    steepest, flattest = int(np.argmax(slopes.mean(axis=1))), int(np.argmin(slopes.mean(axis=1)))
    bend = paired(slopes[steepest], slopes[flattest])
    units = {key: times[*key, 1.0][0] * rate / np.log(1 / GOAL) for key, rate in stated.items()}
    oddest = max(units, key=lambda key: abs(units[key] - 1))
    few, most = ([needed[f"{d} {n}"]["predicted"] / d**2 for n in LENGTHS] for d in (DIMENSIONS[0], DIMENSIONS[-1]))
    off = max(needed, key=lambda key: abs(needed[key]["scatter"] - needed[key]["predicted"]) / needed[key]["error"])
    checks = (
        equal(
            "risk in the three numbers of the flow beside the library's",
            reduced_risk(3, 5, 2.0, 0.5, 0.7, 0.3),
            polynomial,
            against="rate",
            exact=True,
            tolerance=1e-12,
            reason="Two exact expressions in float64: rounding alone.",
        ),
        equal(
            f"rate of approach over (d+1)/(n+d+1), furthest off (d, n, |μ| = {worst})",
            ratios[worst],
            1.0,
            against="rate",
            tolerance=5e-3,
            reason="At a thousandth of the mean the preconditioner is near its limit, and the rate with it.",
        ),
        equal(
            f"time at |μ| = 1 over ln(100) (n+d+1)/(d+1), furthest off (d, n = {oddest})",
            units[oddest],
            1.0,
            against="rate",
            tolerance=0.1,
            reason="About: the first moments, in which the preconditioner is not there yet, "
            "make a difference of order one.",
        ),
        at_most(
            "longest time over shortest as |μ| goes from 1 to 30, at the worst d and n",
            max(spans),
            3.0,
            against="size",
            reason="Hardly depends: |μ| grows by a factor of 30, the time by at most a tenth of that.",
        ),
        consistent(
            f"scatter of the fits times N beside d²κ, furthest off (d n = {off})",
            needed[off]["scatter"],
            needed[off]["predicted"],
            error=needed[off]["error"],
            freedom=SAMPLES - 1,
            against="tasks",
            resolution=needed[off]["predicted"],
            reason="Sampling error of 40 fits; the formula is the limit of many tasks. A factor of two would be seen.",
        ),
        at_most(
            f"slope of log iterations of Adam against log |μ|, from {FURTHER[0]:g} to {FURTHER[-1]:g}",
            whole.value,
            1.0,
            error=whole.error,
            freedom=whole.freedom,
            against="adam",
            reason="Proportional growth would be 1; the error is over random starts.",
        ),
        at_least(
            "the same slope, beside no growth",
            whole.value,
            0.0,
            error=whole.error,
            freedom=whole.freedom,
            against="adam",
            reason="More for larger means; the error is over random starts.",
        ),
        at_least(
            f"steepest slope ({_between(steepest)}) less the flattest ({_between(flattest)})",
            bend.value,
            0.1,
            error=bend.error,
            freedom=bend.freedom,
            against="power",
            reason="A power law has one slope; paired by random start. A tenth would show in every prediction.",
        ),
        at_least(
            f"fewest iterations at |μ| = {FURTHER[-1]:g} beside the largest entry over the step size",
            min(adam[-1]),
            (1 - GOAL) * FURTHER[-1] / 2 / RATE,
            against="steps",
            reason="A step of Adam moves a weight by hardly more than the step size; mu has four equal entries.",
        ),
        at_most(
            f"largest κ at d = {DIMENSIONS[-1]} over the smallest at d = {DIMENSIONS[0]}",
            max(most) / min(few),
            0.75,
            against="tasks",
            reason="It falls with the dimension: until it is near 1, tasks grow more slowly than d². Sampled, to a few "
            "hundredths.",
        ),
    )
    rows = tuple(
        (d, n, times[d, n, 1.0][0], 1 / stated[d, n], found["scatter"] / GOAL**2, found["error"] / GOAL**2)
        for d, n in stated
        for found in (needed[f"{d} {n}"],)
    )
    table = Table(
        "mean-learnability",
        "To 1 % of a mean of size 1",
        ("d", "n", "time of the flow", "(n+d+1)/(d+1)", "tasks", "±"),
        rows,
        "Times come from solving the equations to nine digits; tasks are extrapolated from the scatter at 1,000 tasks "
        "by 1/N.",
    )
    words = (
        "Slopes of Adam's iterations between neighbouring means: "
        + ", ".join(f"{slope.mean():.2f} ({_between(index)})" for index, slope in enumerate(slopes))
        + ".",
    )
    return Evidence(checks, (_figure(times, needed, adam),), (table,), words, headline=checks[1].name)


def _between(index: int) -> str:
    return f"|μ| from {FURTHER[index]:g} to {FURTHER[index + 1]:g}"


def _figure(times: dict, needed: dict, adam: list[list[float]]) -> Figure:
    return Figure(
        "mean-learnability",
        "Effort until the start is within 1 % of the prior mean",
        "Longer contexts make the mean slower to learn, because the step does its work (left); tasks grow with the "
        "dimension, in the end like its square, and hardly with the context length (middle); Adam's iterations grow "
        "more slowly than the mean (right).",
        (
            Panel(
                "gradient flow, |μ| = 1",
                Axis("context length n", log=True),
                Axis("time", log=True),
                tuple(Series(f"d = {d}", LENGTHS, tuple(times[d, n, 1.0][0] for n in LENGTHS)) for d in DIMENSIONS),
            ),
            Panel(
                "least squares, |μ| = 1",
                Axis("dimension d", log=True),
                Axis("tasks to 1 %", log=True),
                tuple(
                    Series(
                        f"n = {n}",
                        DIMENSIONS,
                        tuple(needed[f"{d} {n}"]["scatter"] / GOAL**2 for d in DIMENSIONS),
                        tuple(needed[f"{d} {n}"]["error"] / GOAL**2 for d in DIMENSIONS),
                    )
                    for n in LENGTHS
                ),
            ),
            Panel(
                "Adam, step size 0.01, d = 4, n = 8",
                Axis("|μ|", log=True),
                Axis("iterations to 1 %", log=True),
                (
                    Series(
                        "block, merged weights",
                        FURTHER,
                        tuple(np.mean(adam, axis=1)),
                        tuple(standard_error(adam, axis=1)),
                    ),
                ),
            ),
        ),
        columns=3,
    )
