"""What is known of a model after a look inside: plain data, in words and as JSON."""

from dataclasses import asdict, dataclass, field
from typing import Any

from ._directions import Directions
from ._layers import Layer
from ._match import Match
from ._probing import Linearity
from ._regression import Share

IS, IS_NEARLY, NONE, CONSTANT, DIVERGES = "is", "is nearly", "none of these", "constant", "diverges"


@dataclass(frozen=True)
class Penalty:
    """The penalty with which ridge regression is nearest to a model at a noise level, beside sigma^2, the right one.

    `right` is None where the law of the tasks is not known; `error` is the standard error of `penalty`.

    For tasks of another scale than 1 it is that of the prior's own metric, where sigma^2 is right again.
    """

    sigma: float
    penalty: float
    right: float | None
    share: Share
    error: float = 0.0

    def as_json(self) -> dict[str, Any]:
        """Plain values."""
        return asdict(self)


@dataclass(frozen=True)
class Estimate:
    """A known estimator beside a model: how much of the variance of the model's predictions it explains."""

    name: str
    share: Share

    def as_json(self) -> dict[str, Any]:
        """Plain values."""
        return {"name": self.name, "share": self.share.as_json()}


@dataclass(frozen=True)
class OneStep:
    """The start and the matrix Gamma of a single layer, beside those of least risk on the task, where they are known.

    `others` is how much of the layer's weights neither is: 0 for GD-beta, a share of squares.
    """

    start: tuple[float, ...]
    gamma: tuple[tuple[float, ...], ...]
    others: float
    true_start: tuple[float, ...] | None = None
    true_gamma: tuple[tuple[float, ...], ...] | None = None
    start_off: float | None = None
    gamma_off: float | None = None

    def as_json(self) -> dict[str, Any]:
        """Plain values."""
        return asdict(self)


@dataclass(frozen=True)
class Explanation:
    """What `explain` found.

    - `model` and `task` in words; `contexts` were looked at, of which `left_out` are a share on which the model
      overflows, or answers a hundred times as large as usual.
    - `verdict`: "is", "is nearly", "none of these", "constant" (it does not look at the context) or "diverges".
    - `match`: the known algorithm that is told; `matches`: all of them, the nearest first, from answers;
      `not_told_apart`: names of others that explain as much.
    - `how`: where the weight vectors were read; `linearity`: how linear in the query the answers are, where that is not
      known beforehand.
    - `layers`, `penalties`, `directions`, `one_step`, `estimators`: the parts.
    - `sentence` is for a person; `sentences` has one for every layer, and more where there is more to say.
    """

    model: str
    task: str
    contexts: int
    left_out: float
    verdict: str
    how: str
    sentence: str = ""
    sentences: tuple[str, ...] = ()
    match: Match | None = None
    matches: tuple[Match, ...] = ()
    not_told_apart: tuple[str, ...] = ()
    layers: tuple[Layer, ...] = ()
    penalties: tuple[Penalty, ...] = ()
    directions: Directions | None = None
    one_step: OneStep | None = None
    estimators: tuple[Estimate, ...] = ()
    linearity: Linearity | None = None
    parts: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)

    @property
    def text(self) -> str:
        """All sentences, a line each."""
        return "\n".join((self.sentence, *self.sentences))

    def as_json(self) -> dict[str, Any]:
        """Plain values, without the arrays that figures are drawn from."""
        found: dict[str, Any] = {}
        for name, value in vars(self).items():
            if name == "parts":
                continue
            if isinstance(value, tuple):
                found[name] = [each if isinstance(each, str) else each.as_json() for each in value]
            else:
                found[name] = value.as_json() if hasattr(value, "as_json") else value
        return found
