"""What came of a point: a number with its method and standard error, or the reason why there is none."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """The answer at a point.

    - `value`, `standard_error`, `method`: the number, how far it may be off, and how it was found (`exact`, ...).
    - `theory`: what exact theory says the value should be, or be no less than; None where it says nothing.
    - `reason`: of a point that failed, why; of others a remark, or nothing.
    - `more`: further numbers and words by name, columns of the table.

    A point has failed if it has no value.
    """

    value: float | None = None
    standard_error: float | None = None
    method: str = ""
    theory: float | None = None
    reason: str = ""
    more: Mapping[str, Any] = field(default_factory=dict)

    @property
    def done(self) -> bool:
        """Whether there is a value."""
        return self.value is not None

    @classmethod
    def failed(cls, reason: str) -> "Outcome":
        """No value, and why."""
        return cls(reason=" ".join(reason.split()) or "no reason was given")

    @classmethod
    def of(cls, answer: Any) -> "Outcome":
        """What a function of one's own returns: an outcome, a number, or a dictionary with `value` in it."""
        if isinstance(answer, cls):
            return answer
        named = dict(answer) if isinstance(answer, Mapping) else {"value": answer}
        if "value" not in named:
            raise ValueError(f"the answer has {', '.join(named) or 'nothing'}; expected `value` among its names.")
        known = {name: named.pop(name) for name in ("standard_error", "method", "theory", "reason") if name in named}
        return cls(value=float(named.pop("value")), **known, more=named)

    def as_json(self) -> dict[str, Any]:
        """As plain values."""
        return asdict(self)

    @classmethod
    def from_json(cls, raw: dict[str, Any]) -> "Outcome":
        """What `as_json` made; a `TypeError` of anything else."""
        return cls(**raw)
