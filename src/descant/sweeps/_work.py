"""What a worker does, whoever started it: one job, in a way that gives the same bits everywhere."""

from collections.abc import Callable, Sequence
from contextlib import contextmanager

from threadpoolctl import threadpool_limits

from .._registry import told
from .._watching import watching
from ._evaluator import Evaluator, Point, find_evaluator
from ._outcome import Outcome
from ._plan import Job, code_of


def work(job: Job) -> list[Outcome]:
    """An outcome for every point of a job; a `ValueError` if this worker has other code than who planned it."""
    import numpy  # noqa: F401, PLC0415  # its libraries have to be there to be told to use one thread

    evaluator = find_evaluator(job.evaluator)
    here = code_of(job.evaluator)
    if here != job.code:
        raise ValueError(
            f"a worker's code is {here}, and {job.code} planned the sweep; expected the same version of Descant, and "
            "of your own modules, on all machines."
        )
    # One thread of BLAS: how sums are cut up must not depend on how many cores a worker has.
    with threadpool_limits(1, user_api="blas"), _unwatched():
        return answers(evaluator, job.points)


def answers(evaluator: Evaluator, points: Sequence[Point]) -> list[Outcome]:
    """Outcomes of points of one shape. If all together raise, each is tried alone, so that only the guilty fail."""
    try:
        found = list(evaluator.run(list(points)))
        if len(found) != len(points):
            raise RuntimeError(f"{evaluator.reference} gave {len(found)} outcomes for {len(points)} points")
        return found
    except Exception as error:
        if len(points) == 1:
            return [Outcome.failed(str(error) if isinstance(error, (ValueError, OverflowError)) else told(error))]
    return [answers(evaluator, [point])[0] for point in points]


def each_alone(answer: Callable[[Point], Outcome]) -> Callable[[list[Point]], list[Outcome]]:
    """The `run` of an evaluator whose points have nothing to share."""

    def run(points: list[Point]) -> list[Outcome]:
        return [answer(point) for point in points]

    return run


@contextmanager
def _unwatched():
    """What evaluators tell of their own way is not shown: the line on the terminal is about points."""
    token = watching.set(lambda share, what: None)
    try:
        yield
    finally:
        watching.reset(token)
