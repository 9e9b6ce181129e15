"""The classes of predictors whose exact risks the room Ask draws: their words, formulas, and who computes them."""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache

from .._unknown import Unknown
from ..forms import gd_beta_minimum, least_risk, lsa_gap_bounds, oracle_risk, saturated_risk
from ._task import Task

# Contexts that the oracle's risk is a mean over, where it has no closed form.
SAMPLES = 512
# Numbers that are remembered: a slider that is moved back asks for the same again.
REMEMBERED = 20_000
# Classes that know the prior mean, so that it costs them nothing; and those whose number of heads is the slider's.
CENTRED, COUNTED = ("gd-beta", "oracle"), ("multi-head-lsa",)


@dataclass(frozen=True)
class Value:
    """A risk, with its standard error if it is a mean over contexts; infinite where it is."""

    risk: float
    error: float = 0.0


@dataclass(frozen=True)
class Class:
    """A class of predictors, or a bound: its curve, and the formula behind it."""

    name: str
    label: str
    about: str
    formula: str
    value: Callable[[Task, int], Value]
    family: str = ""
    dashed: bool = False
    # Whether the best member is searched for where inputs are not isotropic, and for how many heads.
    heads: Callable[[Task, int], int] | None = None

    def searched(self, task: Task, heads: int) -> bool:
        """Whether the answer takes longer than a slider may: it is found by descent, not by a formula."""
        return self.heads is not None and not task.isotropic and self.heads(task, heads) <= task.d

    def named(self, heads: int) -> str:
        """What the legend calls it."""
        return self.label.format(heads=heads, s="" if heads == 1 else "s")

    @property
    def python(self) -> str:
        """The expression that is its risk and the standard error, of a `problem` and `heads`."""
        if self.name == "oracle":
            return f"oracle_risk(problem, samples={SAMPLES}, entropy=(0, 0))"
        own = {
            "bound": "gd_beta_minimum(problem) + lsa_gap_bounds(problem).proved",
            "saturated": "saturated_risk(problem)",
            "multi-head-lsa": 'least_risk("multi-head-lsa", problem, heads=heads)',
        }
        plain = f'least_risk("{self.name}", problem)'
        return f"({own.get(self.name, plain)}, 0.0)"


def _exact(name: str) -> Callable[[Task, int], Value]:
    def value(task: Task, heads: int) -> Value:
        del heads
        return Value(least_risk(name, task.problem()))

    return value


def _heads(task: Task, heads: int) -> Value:
    return Value(least_risk("multi-head-lsa", task.problem(), heads=heads))


def _saturated(task: Task, heads: int) -> Value:
    del heads
    return Value(float(saturated_risk(task.problem())))


def _bound(task: Task, heads: int) -> Value:
    del heads
    problem = task.problem()
    return Value(float(gd_beta_minimum(problem) + lsa_gap_bounds(problem).proved))


def _oracle(task: Task, heads: int) -> Value:
    del heads
    return Value(*oracle_risk(task.problem(), samples=SAMPLES, entropy=(0, 0)))


def value_of(name: str, task: Task, heads: int) -> Value | None:
    """The risk of a class on a task; None where it is not known."""
    # What a class knows nothing of, or does not care for, is no reason to compute it again.
    return _value_of(name, replace(task, mean=0.0) if name in CENTRED else task, heads if name in COUNTED else 1)


@lru_cache(REMEMBERED)
def _value_of(name: str, task: Task, heads: int) -> Value | None:
    try:
        found = CLASSES[name].value(task, heads)
    except Unknown:
        return None
    return None if math.isnan(found.risk) else found


SYMBOLS = (
    r"x\sim\mathcal N(0,\Lambda),\quad w\sim\mathcal N(\mu,\Psi),\quad y=\langle w,x\rangle+\sigma\varepsilon,\quad "
    r"\Lambda=\text{input covariance},\quad C=\Psi+\mu\mu^\top"
)
_ONE_STEP = (
    r"\sum_i\frac{{\varphi_i(\varphi_i+s)}}{{(n+1)\varphi_i+s}},\qquad "
    r"\varphi_i=\operatorname{{eig}}_i\,\Lambda^{{1/2}}{}\,\Lambda^{{1/2}},\quad s=\sum_i\varphi_i+\mathbb E\sigma^2"
)
_SEARCH = (
    r"\min_{v_h,U_h}\;\mathbb E\Bigl(\tfrac1n\sum_{h=1}^{%s}v_h^\top G\,U_h e_q-\langle w,x_q\rangle\Bigr)^2,\qquad "
    r"G=\sum_i e_ie_i^\top,\; e_i=(x_i,y_i)"
)
CLASSES: dict[str, Class] = {
    each.name: each
    for each in (
        Class(
            "zero",
            "predict zero",
            "Knows nothing: its risk is the size of the signal.",
            r"\operatorname{tr}\Lambda C",
            _exact("zero"),
        ),
        Class(
            "gd",
            "one step of gradient descent",
            "From zero, with the best step size.",
            r"\operatorname{tr}\Lambda C-\frac{n\,(\operatorname{tr}\Lambda^2C)^2}{(n+1)\operatorname{tr}\Lambda^3C+"
            r"(\operatorname{tr}\Lambda C+\mathbb E\sigma^2)\operatorname{tr}\Lambda^2}",
            _exact("gd"),
        ),
        Class(
            "preconditioned-gd",
            "one preconditioned step",
            "From zero, with the best matrix for a step size.",
            _ONE_STEP.format("C"),
            _exact("preconditioned-gd"),
        ),
        Class(
            "lsa",
            "LSA, one head",
            "The best layer of linear self-attention with one head. Where inputs are not isotropic it is found by "
            "descent on the exact risk.",
            _SEARCH % "1",
            _exact("lsa"),
            heads=lambda task, heads: 1,
        ),
        Class(
            "bound",
            "no LSA with one head is below",
            "The lower bound that the proof of Theorem 4.1 of Zhang, Wu and Bartlett yields.",
            r"R_{\text{GD-}\beta}+\Bigl[\frac1{n+1}-\frac{s^2}{(n+1)^2D}\Bigr]\lVert\mu\rVert_\Lambda^2,\quad "
            r"s=\operatorname{tr}\Lambda\Psi+\mathbb E\sigma^2,\; "
            r"D=2\operatorname{tr}(\Lambda\Psi)^2+\frac{3n+2}{n(n+1)}s^2",
            _bound,
            family="lsa",
            dashed=True,
        ),
        Class(
            "multi-head-lsa",
            "LSA, {heads} head{s}",
            "The best layer of linear self-attention with as many heads as the slider says.",
            _SEARCH % "H",
            _heads,
            heads=lambda task, heads: heads,
        ),
        Class(
            "saturated",
            "LSA, any number of heads",
            "d + 1 heads, which no further head improves on: what a missing guess costs.",
            r"R_{\text{GD-}\beta}+\frac{\lVert\mu\rVert_\Lambda^2}{1+\tfrac{dn}2+(\mathbb E\sigma^2)^2/V},\quad "
            r"V=\tfrac2n\mathbb E(\lvert u\rvert^2+\sigma^2)^2+2\bigl(1-\tfrac1n\bigr)\operatorname{tr}(\Lambda\Psi)^2"
            r"+\operatorname{Var}\sigma^2",
            _saturated,
            family="multi-head-lsa",
            dashed=True,
        ),
        Class(
            "gd-beta",
            "LTB, y_q-LSA, GD-β",
            "One preconditioned step from the prior mean: an initial guess, or a linear MLP, can learn it with one "
            "head. No function that is affine in the Gram matrix is better.",
            _ONE_STEP.format(r"\Psi"),
            _exact("gd-beta"),
        ),
        Class(
            "ols",
            "least squares",
            "Of least norm where it is not unique; with noise it is infinite for n = d − 1, d, d + 1.",
            r"\mathbb E\sigma^2\,\frac d{n-d-1}\quad(n>d+1)",
            _exact("ols"),
        ),
        Class(
            "oracle",
            "oracle ridge",
            "Knows the prior and each prompt's noise level: nothing is below it. With noise a mean over contexts, with "
            "its standard error.",
            r"\mathbb E\operatorname{tr}\Lambda\operatorname{Cov}(w\mid X,y,\sigma)\qquad"
            r"\Bigl(=\bigl(1-\tfrac nd\bigr)_+\operatorname{tr}\Lambda\Psi\text{ if }\sigma=0\text{, isotropic}\Bigr)",
            _oracle,
        ),
    )
}
