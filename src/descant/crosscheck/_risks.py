"""Every name's risk on four tasks, three ways: exact, over moments, over tokens."""

import math
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

import equinox as eqx
import jax

from .. import _kept
from .._code import code_digest
from .._unknown import Unknown
from ..measure import ESTIMATORS, Risk, best, exact_risk, moment_risks, token_risks
from ..tasks import (
    CategoricalNoise,
    GaussianInputs,
    GaussianPrior,
    LinearRegression,
    UniformNoise,
)

# An estimate this close to the exact value, relative to the size of the signal, differs from it by rounding alone.
ROUNDING = 1e-12


def four_tasks() -> dict[str, LinearRegression]:
    """The tasks of the table: three papers' own, and one with everything at once."""
    return {
        "LTB, fig. 1: d = n = 5, mean 1, no noise": LinearRegression(5, 5, GaussianPrior.isotropic(5, 1.0)),
        "Initial guess: d = n = 10, mean 1, no noise": LinearRegression(10, 10, GaussianPrior.isotropic(10, 1.0)),
        "Linear transformers: d = 10, n = 20, noise U(0, 5)": LinearRegression(10, 20, noise=UniformNoise(5.0)),
        "All at once: d = 6, n = 24, mean 0.5, input condition 10, noise 0.5 or 1": LinearRegression(
            6,
            24,
            GaussianPrior.isotropic(6, 0.5),
            GaussianInputs.conditioned(6, 10.0),
            CategoricalNoise([0.5, 1.0]),
        ),
    }


@dataclass(frozen=True)
class RiskRow:
    """One name on one task. `exact` is None where no closed form is known; `note` says why a name can't be computed."""

    task: str
    name: str
    exact: float | None = None
    moments: float | None = None
    moments_error: float | None = None
    tokens: float | None = None
    tokens_error: float | None = None
    z_moments: float | None = None
    z_tokens: float | None = None
    note: str = ""


def measure_task(label: str, task: LinearRegression, samples: int, seed: int) -> list[RiskRow]:
    """Measure all names on one task. Where one has no closed form, moments and tokens are compared with each other."""
    predictors, notes = {}, {}
    for name in ESTIMATORS.names():
        try:
            predictors[name] = best(name, task)
        except ValueError as reason:
            notes[name] = str(reason)
    # Independent draws for the two estimates: their difference then has the error that the z-score takes it to have.
    key_moments, key_tokens = jax.random.split(jax.random.key(seed))
    together = list(predictors.values())
    moments = moment_risks(together, task, samples=samples, key=key_moments)
    tokens = token_risks(together, task, samples=samples, key=key_tokens)
    scale = exact_risk(best("zero", task), task)

    def exact(name: str) -> float | None:
        try:
            return exact_risk(predictors[name], task)
        except Unknown:
            return None

    measured = {
        name: _compare(label, name, exact(name), in_moments, in_tokens, scale)
        for name, in_moments, in_tokens in zip(predictors, moments, tokens, strict=True)
    }
    return [
        measured[name] if name in measured else RiskRow(label, name, note=notes[name]) for name in ESTIMATORS.names()
    ]


def _compare(label: str, name: str, exact: float | None, moments: Risk, tokens: Risk, scale: float) -> RiskRow:
    reference, error = (moments.value, moments.standard_error) if exact is None else (exact, 0.0)
    if math.isinf(reference):
        # Least squares with noise and about as many tokens as dimensions: no number of samples has that mean.
        return RiskRow(label, name, exact, moments.value, moments.standard_error, tokens.value, tokens.standard_error)
    return RiskRow(
        label,
        name,
        exact,
        moments.value,
        moments.standard_error,
        tokens.value,
        tokens.standard_error,
        None if exact is None else z_score(moments.value - exact, moments.standard_error, scale),
        z_score(tokens.value - reference, math.hypot(tokens.standard_error, error), scale),
    )


def z_score(difference: float, standard_error: float, scale: float) -> float:
    """The difference in standard errors; 0 where it is rounding."""
    return 0.0 if abs(difference) <= ROUNDING * scale else difference / standard_error


def measure_all(folder: Path, samples: int, seed: int) -> Iterator[list[RiskRow]]:
    """The rows of each task, kept on disk as soon as they are known: after an interruption they are found again."""
    for label, task in four_tasks().items():
        asked = _kept.digest(code_digest(), jax.__version__, label, eqx.tree_pformat(task), samples, seed)
        rows = _kept.kept(
            folder / f"{asked}.json",
            lambda label=label, task=task: [asdict(row) for row in measure_task(label, task, samples, seed)],
        )
        yield [RiskRow(**row) for row in rows]


def largest_z(rows: list[RiskRow]) -> tuple[float, int]:
    """The largest |z| and how many there are."""
    scores = [abs(z) for row in rows for z in (row.z_moments, row.z_tokens) if z is not None]
    return max(scores), len(scores)
