"""Weights that are best for one context length, at another one: exactly."""

from typing import Any

import jax.numpy as jnp
import numpy as np

from ...estimators import GramAffine
from ...forms import PlainProblem
from ...measure import token_risks
from ...tasks import LinearRegression
from ...theory import Problem, best_heads, gd_beta_minimum, gd_beta_risk, gram_risk, optimal_gamma, zero_risk
from .. import (
    Axis,
    Baseline,
    Check,
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
)
from ..ltb._least_block import spectrum
from ..ltb._problems import crooked, isotropic

LENGTHS = (1, 2, 3, 4, 6, 8, 12, 16, 32, 128, 1024)
PROMPTS, ASKED = 32_768, 3


def at_length(problem: Problem, n: int) -> PlainProblem:
    """The same laws with another context length; in NumPy, which compiles nothing for each of them."""
    mean, cov, inputs = (np.asarray(each) for each in (problem.mean, problem.cov, problem.inputs))
    return PlainProblem(mean, cov, inputs, n, np.float64(problem.noise2), np.float64(problem.noise4))


def steps(problem: Problem) -> np.ndarray:
    """g_i = n phi_i / ((n+1) phi_i + s): how far the best step of this length goes in each direction."""
    phi, n = spectrum(problem), problem.n
    bottom = (n + 1) * phi + phi.sum() + float(problem.noise2)
    return n * phi / np.where(bottom > 0, bottom, 1.0)


def moved_risk(problem: Problem, n: int) -> float:
    """The risk at length n of the block that is best for the problem's own: sum phi (1 - g)(1 - g + g n_0 / n)."""
    phi, g = spectrum(problem), steps(problem)
    return float(np.sum(phi * (1 - g) * (1 - g + g * problem.n / n)))


def break_length(problem: Problem) -> float:
    """Below this length the same block is worse than the prior mean alone."""
    phi, g = spectrum(problem), steps(problem)
    return float(problem.n * np.sum(phi * g * (1 - g)) / np.sum(phi * g * (2 - g)))


def measured(problem: Problem) -> dict[str, Any]:
    """Risks at all lengths of the best block and the best head for the problem's own length; where they break."""
    own = at_length(problem, problem.n)
    gamma, head = optimal_gamma(own, own.mean), best_heads(problem, 1)

    def attention(n: int) -> float:
        return float(gram_risk(at_length(problem, n), head.offset, head.tensor))

    block = {n: float(gd_beta_risk(at_length(problem, n), own.mean, gamma)) for n in LENGTHS}
    lsa = {n: attention(n) for n in LENGTHS}
    # A fixed layer's risk is a + b / n.
    slope = (attention(1) - attention(2)) * 2
    zero = float(zero_risk(problem))
    return {
        "block": [block[n] for n in LENGTHS],
        "lsa": [lsa[n] for n in LENGTHS],
        "best": [float(gd_beta_minimum(at_length(problem, n))) for n in LENGTHS],
        "formula": [moved_risk(problem, n) for n in LENGTHS],
        "line": max(abs((attention(1) - slope + slope / n) / lsa[n] - 1) for n in LENGTHS),
        "zero": zero,
        "prior": float(problem.signal),
        "breaks": [break_length(problem), slope / (zero - attention(1) + slope)],
    }


def _tasks(lab: Lab) -> dict[str, LinearRegression]:
    return {
        "isotropic, d = 4, n = 16, mean 1, noise 0.5": isotropic(4, 16, 1.0, 0.5),
        "isotropic, d = 5, n = 8, mean 1, no noise": isotropic(5, 8, 1.0),
        "without symmetry, d = 3, n = 12, noise 0.5": crooked(3, 12, 0.5, key=lab.key("crooked")),
        "inputs of rank 2, d = 3, n = 8, noise 0.5": crooked(3, 8, 0.5, key=lab.key("flat"), rank=2),
    }


@claim(
    "other-length",
    paper="descant",
    whose="extension",
    where="Derived in the method",
    title="Trained at length n, one layer beats its start at every length from n/2 on; at shorter ones it may not",
    statement=r"""
        Inputs $N(0, \Lambda)$, tasks $N(\mu, \Psi)$, noise of a fixed level, query masked, the Gram matrix divided by
        the context's own length. Weights of one layer that are best for length $n$ are used at $n'$.

        The risk is $a + b/n'$. For LTB and GD-$\beta$ it is $\sum_i \phi_i (1 - g_i)(1 - g_i + g_i\, n/n')$, with
        $g_i = n\phi_i/((n+1)\phi_i + s)$: longer contexts help, but never below $\sum_i \phi_i(1-g_i)^2$, where the
        best block for each length tends to 0. Below $n^\circ = n \sum_i \phi_i g_i(1-g_i) / \sum_i \phi_i g_i(2-g_i)$
        it is worse than the prior mean alone, and $n^\circ < n/2$ always. Single-head LSA is likewise worse than
        answering 0 only below some length smaller than $n/2$.
    """,
    refuted_by={
        "formula": "A length at which the risk is another.",
        "safe": "A problem on which a layer breaks at half the length it was made for, or more.",
        "breaks": "A length below the stated one at which the block still beats the prior mean, or one above at which "
        "it does not.",
        "floor": "A long context at which the block is below the floor, or the best block for that length is not far "
        "below it.",
    },
    method=r"""
        Given a fixed layer, $E\,(G/n') \otimes (G/n')$ is affine in $1/n'$, and $E\,G/n'$ does not depend on it. If a
        class may scale what it adds to its start, its best member $T$ for $n$ has $\langle T, N_n T\rangle = \langle T,
        t\rangle$; with $N_{n'} = N_\infty + B/n'$ it beats its start exactly where $\langle T, B T\rangle / n' <
        \langle T, N_\infty T\rangle + 2\langle T, B T\rangle/n$, so for all $n' \ge n/2$.

        Exact risks on four problems; the best head is found by descent. Prompts drawn token by token at another length
        than that of the weights confirm two of them.
    """,
    quick="4 problems, 11 lengths, 32,768 prompts",
    full="the same, 262,144 prompts",
    seconds=8,
)
def other_length(lab: Lab) -> Evidence:
    """Risks at other lengths, where they break, and prompts."""
    rows: dict[str, dict[str, Any]] = {}
    checks: list[Check] = []
    for name, task in _tasks(lab).items():
        lab.tell(name, None)
        problem = Problem.of(task)
        rows[name] = lab.keep(name, lambda problem=problem: measured(problem))
        checks += _judged(name, problem, rows[name])
    checks += _on_prompts(lab)
    columns = ("problem", "n", "LTB breaks below", "over n", "LSA breaks below", "over n", "LTB's floor, n' → ∞")
    lines = []
    for name, task in _tasks(lab).items():
        problem, (block, lsa) = Problem.of(task), rows[name]["breaks"]
        floor = float(np.sum(spectrum(problem) * (1 - steps(problem)) ** 2))
        lines.append((name, task.n, block, block / task.n, lsa, lsa / task.n, floor))
    table = Table("other-length", "Where weights made for length n break", columns, tuple(lines))
    headline = next(check.name for check in checks if check.against == "safe")
    return Evidence(tuple(checks), (_figure(lab, rows),), (table,), headline=headline)


def _judged(name: str, problem: Problem, row: dict[str, Any]) -> list[Check]:
    rounding = "Exact risks in float64: rounding alone."
    off = max(range(len(LENGTHS)), key=lambda index: abs(row["block"][index] / row["formula"][index] - 1))
    below, above = (
        [risk for n, risk in zip(LENGTHS, row["block"], strict=True) if (n < row["breaks"][0]) == short]
        for short in (True, False)
    )
    floor = float(np.sum(spectrum(problem) * (1 - steps(problem)) ** 2))
    return [
        equal(
            f"block's risk over the formula, furthest off (n' = {LENGTHS[off]}), {name}",
            row["block"][off] / row["formula"][off], 1.0, against="formula", exact=True, tolerance=1e-12,
            reason=rounding,
        ),
        equal(
            f"furthest of LSA's risk from a + b/n', relative, {name}",
            row["line"], 0.0, against="formula", exact=True, tolerance=1e-11, reason=rounding,
        ),
        at_most(
            f"longest length at which a layer breaks, over n, {name}",
            max(row["breaks"]) / problem.n, 0.5, against="safe",
            reason="The block's is a closed form; the best head is found by descent, to 1e-8.",
        ),
        at_least(
            f"block over the prior mean alone, at lengths below the stated one, least, {name}",
            min(below) / row["prior"], 1.0, against="breaks", exact=True, reason=rounding,
        ),
        at_most(
            f"block over the prior mean alone, at lengths above, largest, {name}",
            max(above) / row["prior"], 1.0, against="breaks", exact=True, reason=rounding,
        ),
        at_least(
            f"block over its floor, least, {name}",
            min(row["block"]) / floor, 1.0, against="floor", exact=True, reason=rounding,
        ),
        at_most(
            f"best block for n' = {LENGTHS[-1]} over that floor, {name}",
            row["best"][-1] / floor, 0.5, against="floor", exact=True, reason="Half of it is far below.",
        ),
    ]  # fmt: skip


def _on_prompts(lab: Lab) -> list[Check]:
    lab.tell("prompts", None)
    made = isotropic(4, 16, 1.0, 0.5)
    problem = Problem.of(made)
    head, gamma = best_heads(problem, 1), optimal_gamma(problem, problem.mean)
    asked = at_length(problem, ASKED)
    tensor = head.tensor
    step = jnp.zeros((4, 5, 5)).at[:, :4, 4].set(gamma)
    step = step.at[:, :4, :4].set(-gamma[:, :, None] * problem.mean[None, None, :])
    layers = {
        "LSA": (GramAffine(np.zeros(4), tensor), float(gram_risk(asked, np.zeros(4), tensor))),
        "LTB": (GramAffine(problem.mean, step), moved_risk(problem, ASKED)),
    }
    samples = lab.pick(PROMPTS, 8 * PROMPTS)
    task = isotropic(4, ASKED, 1.0, 0.5)
    sampled = token_risks([layer for layer, _ in layers.values()], task, samples=samples, key=lab.key("prompts"))
    return [
        consistent(
            f"{name} made for n = 16 on sampled prompts of length {ASKED}",
            found.value, exact, error=found.standard_error, against="formula", resolution=0.1 * exact,
            reason="Three standard errors of the sample; the closed form is exact.",
        )
        for (name, (_, exact)), found in zip(layers.items(), sampled, strict=True)
    ]  # fmt: skip


def _figure(lab: Lab, rows: dict[str, dict[str, Any]]) -> Figure:
    panels = []
    for name, task in list(_tasks(lab).items())[::2]:
        row = rows[name]
        panels.append(
            Panel(
                name,
                Axis("context length n' in test", log=True),
                Axis("in-context risk", log=True),
                (
                    Series(f"LTB made for n = {task.n}", LENGTHS, tuple(row["block"])),
                    Series(f"LSA made for n = {task.n}", LENGTHS, tuple(row["lsa"])),
                    Series("LTB made for n'", LENGTHS, tuple(row["best"]), style="line"),
                ),
                (Baseline("prior mean alone", row["prior"]), Baseline("answering 0", row["zero"])),
            )
        )
    return Figure(
        "other-length",
        "Weights made for one length, at others",
        "At short contexts the step is too long and the layer worse than no context at all; at long ones its risk "
        "stops at a floor, where weights made for that length go on falling.",
        tuple(panels),
    )
