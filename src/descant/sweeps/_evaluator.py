"""What is asked at every point, and how a group of points is answered."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from .._registry import imported
from ._outcome import Outcome

# A point: its fields by dotted names, as JSON has them.
Point = Mapping[str, Any]
# Points of a function of one's own that one worker does before it tells of them.
TOGETHER = 16


@dataclass(frozen=True, kw_only=True)
class Evaluator:
    """A question that is asked at points; workers find it by `reference`, so it stands in a module.

    **Arguments:**

    - `reference`: where it is, as module:name; `sentence`: what it asks, for lists.
    - `completed(fields)`: a whole point of the fields that were given, with defaults filled in; a `ValueError` if a
      field is unknown or not of its type. Equal points must be equal here: they are kept by what this returns.
    - `shape(point)`: a text that is the same for points that one compiled program serves; cheap.
    - `run(points)`: an outcome for each of some points of one shape, in their order. An outcome must not depend on the
      other points, to the last bit. An exception fails the only point, or has each of several tried alone.
    - `together`: how many points are handed to `run` at once, at most.
    """

    reference: str
    sentence: str
    completed: Callable[[Point], dict[str, Any]]
    run: Callable[[list[Point]], Iterable[Outcome]]
    shape: Callable[[Point], str] = lambda point: ""
    together: int = TOGETHER


def as_evaluator(reference: str, thing: Any) -> Evaluator:
    """A record itself, or that of a function of one's own from a point to a number."""
    if isinstance(thing, Evaluator):
        return thing
    if not callable(thing):
        raise ValueError(f"evaluator is {reference!r}, a {type(thing).__name__}; expected a function of a point.")
    sentence = (thing.__doc__ or reference).strip().partition("\n")[0]
    return Evaluator(
        reference=reference,
        sentence=sentence,
        completed=dict,
        run=lambda points: (Outcome.of(thing(dict(point))) for point in points),
    )


def find_evaluator(reference: str) -> Evaluator:
    """The evaluator that `module:name` stands for."""
    return as_evaluator(reference, imported(reference, "evaluator"))
