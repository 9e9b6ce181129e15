"""Inputs of constant norm hand LSA the constant that it lacks, so it needs no initial guess."""

from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np

from ...attention import LSA
from ...measure import best, exact_risk, risk
from ...tasks import (
    AbstractInputs,
    AbstractPrior,
    FixedNoise,
    GaussianInputs,
    GaussianPrior,
    LinearRegression,
    MappedInputs,
    PoolPrior,
    RademacherInputs,
    SphereInputs,
)
from ...theory import GramMoments, best_heads
from ...training import PopulationTrainer, to_end
from .. import Axis, Baseline, Check, Evidence, Figure, Lab, Panel, Series, Table, at_least, at_most, claim, consistent
from ._inputs import partly_on_a_sphere

# The sizes of the figure; with d inputs, the circle takes two of them.
D, N, SIGMA = 5, 6, 0.5
# (d, n, c, sigma): tasks are N(c (1, ..., 1), I).
SETTINGS = ((2, 3, 1.0, 0.0), (3, 3, 1.0, 0.0), (3, 8, 3.0, 1.0), (4, 2, 0.3, 0.5), (6, 12, 1.0, 0.2))
COVARIANCE = np.array([[1.0, 0.3, 0.1], [0.3, 0.6, -0.2], [0.1, -0.2, 0.8]])
POOL = PoolPrior([[-0.2, 0.9, 1.2], [2.0, 0.2, 1.7], [1.1, 0.2, 0.9]])
TRAINED, STARTS, PROMPTS = (3, 5, 1.0, 0.5), 3, 65_536
ROUNDING = "Both are exact: rounding alone, at most 1e-12 in what we saw."


class Law(NamedTuple):
    """Inputs of covariance I, and the rank of a form that is constant on them (None if there is none)."""

    label: str
    inputs: AbstractInputs
    rank: int | None

    def heads(self, d: int) -> int:
        """That suffice: one for the step and one per rank, but no more than d; d + 1 do whatever can be done."""
        return d + 1 if self.rank is None else min(d, 1 + self.rank)


def laws(d: int) -> tuple[Law, ...]:
    """From no form that is constant to the simplest one."""
    return (
        Law("Gaussian", GaussianInputs(jnp.eye(d)), None),
        Law("on the sphere", SphereInputs(), d),
        Law("two coordinates on a circle, the others Gaussian", partly_on_a_sphere(d, 2), 2),
        Law("corners of the cube", RademacherInputs(), 1),
    )


def posed(d: int, n: int, c: float, sigma: float, inputs: AbstractInputs, prior: AbstractPrior | None = None):
    """Tasks are N(c (1, ..., 1), I) unless a prior is given."""
    prior = GaussianPrior(c * jnp.ones(d), jnp.eye(d)) if prior is None else prior
    return LinearRegression(d, n, prior, inputs=inputs, noise=FixedNoise(sigma))


def excess(task: LinearRegression, heads: int) -> float:
    """The least risk of LSA, guess 0, over that of the best affine function of the Gram matrix, less 1."""
    moments = GramMoments.of(task)
    return best_heads(moments, heads).risk / best_heads(moments, task.d + 1, free_offset=True).risk - 1


@claim(
    "constant-norm",
    paper="descant",
    where="docs/theory/gram.md, Other inputs",
    title="With inputs of constant norm, d + 1 heads need no initial guess",
    statement=r"""
        If some quadratic form is constant on the inputs, $\langle x, Ax\rangle = 1$ (inputs on a sphere, on an
        ellipsoid, at the corners of a cube), then linear self-attention with the guess 0, its query masked, and $d+1$
        heads has the least risk of all affine functions of the Gram matrix, for every law of tasks and noise.

        Where tasks are symmetric about their mean and noise about 0, this is the least risk of GD-$\beta$ and of
        y_q-LSA, and $\min(d, 1 + \operatorname{rank} A)$ heads do: $d$ on the sphere, for $d \ge 2$ two at the corners
        of a cube, whatever $d$. For other tasks, such as a pool of three, it can take $d+1$.

        With Gaussian inputs of the same covariance and a prior mean that is not 0, no number of heads does.
    """,
    refuted_by={
        "all": "A setting of constant norm in which $d+1$ heads stay above the best affine function.",
        "enough": "One in which $\\min(d, 1 + \\operatorname{rank} A)$ heads do, tasks being symmetric.",
        "step": "A setting with symmetric tasks in which GD-beta is not the best affine function.",
        "needed": "One head fewer that reaches it, on the sphere, with a circle, or at the corners of a cube.",
        "pool": "A pool of three tasks on the sphere for which $d$ heads do.",
        "gaussian": "Gaussian inputs with which $d+1$ heads reach it.",
        "trained": "Training from random weights, or sampled prompts, that end elsewhere.",
    },
    method=r"""
        $\langle A, X^\top X/n\rangle$ is then the constant 1, so affine functions of the Gram matrix are linear. In
        labels $y - \langle\mu,x\rangle$ the best one is the matrices $\mu_l A + \mathrm{sym}(e_y\Gamma_l^\top)$;
        heads whose values span $e_y$ and the range of $A$ have them, and so do heads whose values span all inputs. For
        tasks that are not symmetric $|y|^2$ helps, and takes a head more. On the sphere $A$ is definite and the only
        such form: the matrices vanish together on a line at most, and $d$ heads are needed.

        Risks are exact, from the moments of the laws; those of fewer than $d+1$ heads are minima by descent. Then
        Newton steps on the exact risk from random weights, and the layer they end as on prompts drawn token by token.
    """,
    quick="five sizes with four laws of inputs, an ellipsoid, a pool of tasks; three random starts; 65,536 prompts",
    full="1,048,576 prompts",
    seconds=25,
)
def constant_norm(lab: Lab) -> Evidence:
    """Exact risks for every number of heads, then training and sampling."""
    curves = {}
    for index, law in enumerate(laws(D)):
        lab.tell(f"heads, inputs {law.label}", index / 10)
        curves[law.label] = lab.keep(
            f"curve-{index}",
            lambda i=law.inputs: [excess(posed(D, N, 1.0, SIGMA, i), heads) for heads in range(1, D + 2)],
        )
    lab.tell("other sizes", 0.4)
    settings = lab.keep("settings", _settings)
    checks = [*_checks_on(settings), *_needed(curves), *_beyond()]
    lab.tell("training", 0.7)
    checks += _trained(lab)
    return Evidence(tuple(checks), (_figure(curves),), (_table(settings),), headline=checks[0].name)


def _settings() -> list[dict[str, Any]]:
    """Excess risks of the heads that suffice, of d + 1, and of GD-beta, for all sizes and laws."""
    rows = []
    for size in SETTINGS:
        for law in laws(size[0]):
            task, heads = posed(*size, law.inputs), law.heads(size[0])
            affine = best_heads(GramMoments.of(task), task.d + 1, free_offset=True).risk
            gd_beta = exact_risk(best("gd-beta", task), task)
            rows.append(
                {
                    "size": size,
                    "law": law.label,
                    "constant": law.rank is not None,
                    "heads": heads,
                    "enough": excess(task, heads),
                    "all": excess(task, task.d + 1),
                    "risk": gd_beta,
                    "step": gd_beta / affine - 1,
                }
            )
    return rows


def _checks_on(settings: list[dict[str, Any]]) -> list[Check]:
    constant = [row for row in settings if row["constant"]]
    return [
        at_most(
            f"constant norm: largest excess of {words} over the best affine function, {len(rows)} settings",
            max(abs(row[name]) for row in rows),
            1e-11,
            exact=name != "enough",
            against=name,
            reason=ROUNDING,
        )
        for words, name, rows in (
            ("d + 1 heads", "all", constant),
            ("min(d, 1 + rank A) heads", "enough", constant),
            ("GD-beta", "step", settings),
        )
    ] + [
        at_least(
            "Gaussian inputs: least excess of d + 1 heads",
            min(row["all"] for row in settings if not row["constant"]),
            0.01,
            exact=True,
            against="gaussian",
            reason="Whatever is not rounding; a hundredth of the risk is far from it.",
        )
    ]


def _needed(curves: dict[str, list[float]]) -> list[Check]:
    return [
        at_least(
            f"{law.label}, d = {D}: excess of {law.heads(D) - 1} {'head' if law.rank == 1 else 'heads'}, one fewer",
            curves[law.label][law.heads(D) - 2],
            0.01,
            against="needed",
            reason="Whatever is not rounding, nor what descent leaves.",
        )
        for law in laws(D)
        if law.rank is not None
    ]


def _beyond() -> list[Check]:
    """Another covariance, and tasks that are not symmetric about their mean."""
    ellipsoid = posed(3, 5, 2.0, 0.7, MappedInputs.with_covariance(SphereInputs(), COVARIANCE))
    pool = posed(3, 5, 0.0, 0.7, SphereInputs(), POOL)
    return [
        at_most(
            "on an ellipsoid, covariance not diagonal, d = 3: excess of d heads",
            abs(excess(ellipsoid, 3)),
            1e-11,
            against="enough",
            reason=ROUNDING,
        ),
        at_most(
            "on the sphere, a pool of three tasks, d = 3: excess of d + 1 heads",
            abs(excess(pool, 4)),
            1e-11,
            exact=True,
            against="all",
            reason=ROUNDING,
        ),
        at_least(
            "on the sphere, a pool of three tasks, d = 3: excess of d heads",
            excess(pool, 3),
            0.01,
            against="pool",
            reason="Whatever is not rounding, nor what descent leaves.",
        ),
    ]


def _trained(lab: Lab) -> list[Check]:
    """d + 1 heads from random weights; and the layer they end as, on tokens."""
    task = posed(*TRAINED, SphereInputs())
    goal = exact_risk(best("gd-beta", task), task)
    start = LSA.random(task.d, task.d + 1, key=lab.key("start"))
    trainer = PopulationTrainer(start, task, key=lab.key("starts"), random_starts=STARTS - 1)
    ends: list[float] = []
    state = to_end(trainer, each=lambda _, rows: ends.extend(row["loss"] for row in rows))
    on_tokens = risk(
        trainer.model(state), task, "tokens", samples=lab.pick(PROMPTS, 16 * PROMPTS), key=lab.key("prompts")
    )
    return [
        at_most(
            f"on the sphere, trained from {STARTS} random starts: worst risk over the least risk of GD-beta, less 1",
            max(ends) / goal - 1,
            1e-11,
            against="trained",
            reason="Newton steps end where the gradient is a billionth of the risk; we saw rounding alone.",
        ),
        consistent(
            "on the sphere, the trained layer on sampled prompts, beside GD-beta's least risk",
            on_tokens.value,
            goal,
            error=on_tokens.standard_error,
            resolution=0.05 * goal,
            against="trained",
            reason="Three standard errors; with Gaussian inputs it would be a quarter above.",
        ),
    ]


def _figure(curves: dict[str, list[float]]) -> Figure:
    heads = range(1, D + 2)
    return Figure(
        "constant-norm",
        "What is lost without an initial guess",
        "All inputs have covariance I. With Gaussian ones the loss stops falling; on the sphere it is gone at d heads, "
        "with two coordinates on a circle at three, at the corners of a cube at two.",
        (
            Panel(
                f"d = {D}, n = {N}, noise {SIGMA:g}, prior mean (1, ..., 1)",
                Axis("heads"),
                Axis("least risk over that of GD-beta, less 1"),
                tuple(Series(label, tuple(heads), tuple(curve)) for label, curve in curves.items()),
                (Baseline("GD-beta", 0.0),),
            ),
        ),
        columns=1,
    )


def _table(settings: list[dict[str, Any]]) -> Table:
    return Table(
        "settings",
        "Least risk over that of the best affine function, less 1",
        ("d", "n", "c", "noise", "inputs", "GD-beta's least risk", "heads", "excess", "excess of d + 1 heads"),
        tuple((*row["size"], row["law"], row["risk"], row["heads"], row["enough"], row["all"]) for row in settings),
        "Tasks are N(c (1, ..., 1), I). Exact; what is below 1e-11 is rounding.",
    )
