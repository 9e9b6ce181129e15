"""The task that the sliders of a page describe: for closed forms, for JAX, as Python, and as flags of a command."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ..forms import PlainProblem
from ._fields import Fields
from ._spectrum import POWER, checked_spectrum, covariance, isotropic, numbers_of, shortest

if TYPE_CHECKING:
    from ..tasks import LinearRegression

# As many as sliders can be moved to, and as closed forms answer while they move.
MOST_D, MOST_N = 12, 400
MOST_CONDITION = 1000.0
LARGEST = 10.0
LAWS = ("fixed", "uniform", "levels")
MOST_LEVELS, MOST_LETTERS = 4, 400
# What `Task.python` speaks of.
IMPORTS = (
    "from descant import CategoricalNoise, FixedNoise, GaussianInputs, GaussianPrior, LinearRegression, UniformNoise\n"
    "from descant.tasks import parse_inputs\n"
)


@dataclass(frozen=True)
class Task:
    """Linear regression in context with Gaussian laws: what every room of the explorer asks about.

    `law` says how the noise level varies: `fixed` at the first of `levels`, `uniform` between zero and it, or each of
    `levels` equally often. `spectrum` stands in the place of `condition`: `power:1.5`, or d eigenvalues.

    >>> Task(d=5, n=5, mean=1.0, levels=(0.0,)).flags()
    '--d 5 --n 5 --prior-mean 1 --noise 0'
    """

    d: int = 5
    n: int = 20
    mean: float = 0.0
    scale: float = 1.0
    condition: float = 1.0
    law: str = "fixed"
    levels: tuple[float, ...] = (0.5,)
    spectrum: str = ""

    @classmethod
    def read(cls, raw: Any, most_d: int = MOST_D) -> "Task":
        """The task of a request."""
        fields = Fields(raw, "task")
        d = fields.whole("d", 1, most_d)
        found = cls(
            d=d,
            n=fields.whole("n", 1, MOST_N),
            mean=fields.number("mean", -LARGEST, LARGEST, 0.0),
            scale=fields.number("scale", 0.0, LARGEST, 1.0),
            condition=fields.number("condition", 1.0, MOST_CONDITION, 1.0),
            law=fields.choice("law", LAWS, "fixed"),
            levels=fields.numbers("levels", 0.0, LARGEST, MOST_LEVELS),
            spectrum=checked_spectrum(fields.text("spectrum", MOST_LETTERS, ""), d),
        )
        fields.done()
        if found.law != "levels" and len(found.levels) > 1:
            raise ValueError(f"levels has {len(found.levels)} numbers; expected one for the law {found.law!r}.")
        if found.spectrum and found.condition != 1:
            raise ValueError(f"condition is {found.condition:g}, beside a spectrum; expected one of the two.")
        return found

    @property
    def isotropic(self) -> bool:
        """Whether the best heads need no search."""
        return isotropic(self.d, self.condition, self.spectrum)

    @property
    def noise(self) -> str:
        """The law of the noise level, as the command line spells it."""
        numbers = ",".join(map(shortest, self.levels))
        return f"uniform:{numbers}" if self.law == "uniform" else numbers

    def with_(self, axis: str, value: float) -> "Task":
        """The same task but for one number; `noise` stands for the first, or the only, level."""
        if axis in self.fixed:
            raise ValueError(f"{axis} can't vary along an axis while the inputs have the spectrum {self.spectrum}.")
        if axis in ("d", "n"):
            return replace(self, **{axis: round(value)})
        return replace(self, levels=(value, *self.levels[1:])) if axis == "noise" else replace(self, **{axis: value})

    @property
    def fixed(self) -> tuple[str, ...]:
        """What can't be moved because the spectrum has it already."""
        if not self.spectrum:
            return ()
        return ("condition",) if self.spectrum.startswith(POWER) else ("condition", "d")

    def _covariance(self) -> np.ndarray:
        return covariance(self.d, self.condition, self.spectrum)

    def at(self, axis: str) -> float:
        """The number that an axis is about."""
        return self.levels[0] if axis == "noise" else float(getattr(self, axis))

    def problem(self) -> PlainProblem:
        """What closed forms need, in NumPy."""
        second, fourth = (self._noise_moment(power) for power in (2, 4))
        return PlainProblem(
            np.full(self.d, self.mean),
            self.scale**2 * np.eye(self.d),
            self._covariance(),
            self.n,
            np.float64(second),
            np.float64(fourth),
        )

    def _noise_moment(self, power: int) -> float:
        mean = sum(level**power for level in self.levels) / len(self.levels)
        return mean / (power + 1) if self.law == "uniform" else mean

    def regression(self) -> "LinearRegression":
        """The task itself, for whatever needs JAX."""
        from ..tasks import LinearRegression, parse_inputs, parse_noise, parse_prior

        return LinearRegression(
            self.d,
            self.n,
            parse_prior("gaussian", self.d, self.mean, self.scale),
            parse_inputs("gaussian", self.d, self.condition, self._spectrum()),
            parse_noise(self.noise),
        )

    def _spectrum(self) -> str | list[float] | None:
        """As the library takes it."""
        if not self.spectrum or self.spectrum.startswith(POWER):
            return self.spectrum or None
        return numbers_of(self.spectrum)

    def flags(self) -> str:
        """The task as flags of `descant risk` and its like; defaults are left out."""
        return " ".join(f"--{name} {value}" for name, value in self._flags())

    def _flags(self) -> Iterator[tuple[str, str]]:
        yield "d", str(self.d)
        yield "n", str(self.n)
        for name, value, usual in (
            ("prior-mean", self.mean, 0.0),
            ("prior-scale", self.scale, 1.0),
            ("input-condition", self.condition, 1.0),
        ):
            if value != usual:
                yield name, shortest(value)
        if self.spectrum:
            yield "input-spectrum", self.spectrum
        yield "noise", self.noise

    def python(self, **changed: str) -> str:
        """An expression that makes the task; `changed` puts names of variables for some of its numbers."""
        d, n = changed.get("d", str(self.d)), changed.get("n", str(self.n))
        mean, condition = changed.get("mean", f"{self.mean!r}"), changed.get("condition", f"{self.condition!r}")
        numbers = [changed.get("noise", repr(self.levels[0])), *map(repr, self.levels[1:])]
        noise = {
            "fixed": f"FixedNoise({numbers[0]})",
            # Between zero and zero there is but one level.
            "uniform": f"UniformNoise({numbers[0]})" if self.levels[0] or "noise" in changed else "FixedNoise(0.0)",
            "levels": f"CategoricalNoise([{', '.join(numbers)}])",
        }[self.law]
        inputs = f"GaussianInputs.conditioned({d}, {condition})"
        if self.spectrum:
            inputs = f'parse_inputs("gaussian", {d}, spectrum={self._spectrum()!r})'
        return (
            "LinearRegression(\n"
            f"    d={d},\n"
            f"    n={n},\n"
            f"    prior=GaussianPrior.isotropic({d}, mean={mean}, scale={self.scale!r}),\n"
            f"    inputs={inputs},\n"
            f"    noise={noise},\n"
            ")"
        )
