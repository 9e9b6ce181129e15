"""A risk and how it was found; what is above the oracle's is computed when it is asked for."""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple


class Excess(NamedTuple):
    """What a risk has above the oracle's, and its standard error; both are None where the oracle is not known."""

    value: float | None
    standard_error: float | None


@dataclass(frozen=True)
class Risk:
    """A risk, how it was found, and its standard error (0 if exact).

    `adjusted` is the risk less the oracle's, who knows the prior and is told the prompt's noise level (for Gaussian
    tasks the oracle ridge), with a standard error of its own, `adjusted_error`: on sampled contexts the two are paired,
    so it is the smaller one. Both are None where the task doesn't know its posterior. Beside an exact risk, the
    oracle's may have to be sampled: that is done when `adjusted` is first read, and once per task.

    `note` says why a risk that was sampled is not exact; if a moment is infinite, so may be the risk, and then no
    number of samples has that mean.
    """

    value: float
    standard_error: float
    method: str
    above_oracle: Callable[[], Excess] = field(repr=False, compare=False)
    note: str = ""

    @cached_property
    def _excess(self) -> Excess:
        return self.above_oracle()

    @property
    def adjusted(self) -> float | None:
        """The risk less the oracle's."""
        return self._excess.value

    @property
    def adjusted_error(self) -> float | None:
        """The standard error of `adjusted`."""
        return self._excess.standard_error
