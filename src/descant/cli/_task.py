"""The flags that describe a task, shared by every command that needs one."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..tasks import LinearRegression


@dataclass(frozen=True, kw_only=True)
class TaskFlags:
    """Linear regression in context: w ~ N(C 1, S^2 I), Gaussian inputs, one noise level per prompt."""

    d: int
    "Input dimension."
    n: int
    "Context length: how many labelled inputs a prompt holds."
    prior_mean: float = 0.0
    "Prior mean C, the same in every coordinate."
    prior_scale: float = 1.0
    "Prior standard deviation S of every coordinate."
    input_condition: float = 1.0
    "Condition number K of the input covariance: log-spaced eigenvalues from 1 to 1/K, scaled to trace d."
    noise: str = "0"
    "Noise level: 0.5 (fixed), uniform:5 (U(0, 5), drawn per prompt), or 1,3 (either, equal weights)."

    def build(self) -> "LinearRegression":
        """The task that the flags describe."""
        from ..tasks import GaussianInputs, GaussianPrior, LinearRegression, parse_noise

        return LinearRegression(
            self.d,
            self.n,
            GaussianPrior.isotropic(self.d, self.prior_mean, self.prior_scale),
            GaussianInputs.conditioned(self.d, self.input_condition),
            parse_noise(self.noise),
        )

    def in_words(self) -> str:
        """One line for the head of a table."""
        return (
            f"d = {self.d}, n = {self.n}, prior N({self.prior_mean:g}, {self.prior_scale:g}²), "
            f"input condition {self.input_condition:g}, noise {self.noise}"
        )
