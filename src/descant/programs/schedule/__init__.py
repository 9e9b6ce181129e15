"""The schedule: which block stores what, and the heads that compute it, on named places."""

from ._emit import emit as emit
from ._evaluate import evaluate_schedule as evaluate_schedule
from ._generations import generations as generations, mixes_generations as mixes_generations
from ._lifetimes import with_lifetimes as with_lifetimes
from ._plan import plan as plan
from ._planned import Region as Region, Strategy as Strategy
from ._stability import unstable_loops as unstable_loops
from ._steps import (
    Block as Block,
    Head as Head,
    Loop as Loop,
    Place as Place,
    Reading as Reading,
    Schedule as Schedule,
    Step as Step,
    Write as Write,
)
