"""What every law of label noise has."""

from abc import abstractmethod
from typing import NamedTuple

from jaxtyping import Array, Float, PRNGKeyArray

from ..._final import AbstractOpen
from ..._unknown import Unknown


class LabelMoments(NamedTuple):
    """E eta^2, E eta^3 and E eta^4; infinite or unknown ones are None. The mean is 0."""

    second: float = 1.0
    third: float | None = 0.0
    fourth: float | None = None


class AbstractLabelNoise(AbstractOpen):
    """A law of eta in y_i = `<w, x_i>` + sigma eta_i: independent from token to token, of mean 0 and variance 1.

    With variance 1, sigma is the standard deviation of the noise. `sample` is all a law must have; what else it knows
    is asked of it:

    | method | what it makes possible |
    |---|---|
    | `placed`, `place` | prompts as functions of standard normal numbers: faster draws |
    | `gaussian` | posteriors from a context's moments, the papers' closed forms |
    | `moments` | exact risks of one-layer attention: E eta^2, and the third and fourth for whoever reads y^T y |
    | `log_density` | the posterior by Monte Carlo |
    """

    @abstractmethod
    def sample(self, n: int, *, key: PRNGKeyArray) -> Float[Array, " n"]:
        """Draw the noise of n labels, not yet multiplied by sigma."""

    @property
    def placed(self) -> bool:
        """Whether there is a `place`."""
        return False

    def place(self, normals: Float[Array, " n"]) -> Float[Array, " n"]:
        """The noise that standard normal numbers stand for, one by one."""
        raise Unknown(f"{type(self).__name__} is not made of normal numbers")

    @property
    def gaussian(self) -> bool:
        """Whether eta is standard normal: then a context's moments are all that its labels tell."""
        return False

    def moments(self) -> LabelMoments:
        """What is known of its moments, for exact risks."""
        raise Unknown(f"the moments of {type(self).__name__} are not known")

    def log_density(self, eta: Float[Array, " n"]) -> Float[Array, " n"]:
        """The logarithm of the density of each eta, constants included, for posteriors by Monte Carlo."""
        raise Unknown(f"the density of {type(self).__name__} is not known")
