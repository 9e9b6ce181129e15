"""Training by Levenberg-Marquardt on a pool of contexts: in seconds, to the optimum."""

import math
from typing import Any

import jax
import numpy as np
from jaxtyping import Float, PRNGKeyArray

from .. import _check, _memory
from .._cores import cores
from .._linalg import psd_root
from .._predictor import AbstractPredictor
from .._trainer import State
from .._unknown import Unknown
from ..attention import MOST_STARTS, RANDOM_STARTS, Level, kind_of, plan
from ..tasks import AbstractTask
from ._flat import flatten, parameters, rebuild
from ._least_squares import STUCK, LeastSquares, Point
from ._objective import check_objective, natural_objective
from ._pool import draw_pool, pieces_for
from ._solver import Solver, able

# Pool pieces (of PIECE contexts) for screening many starts, for the fits of levels on the way, and for the last level.
SCREEN_PIECES, LEVEL_PIECES = 2, 8
# Screening takes about this share of a level's time.
SCREEN_SHARE = 0.3
# A start that has hardly moved for so many steps has arrived.
STALLED = 4
# The pool grows while contexts it has not seen cost more than this much over those it has.
OVERFIT = 1.02
# From so many parameters on a model is watched on contexts held out: it is as good as it gets when so many steps have
# not made it better there.
WATCHED, PATIENCE = 128, 4
POOL_KEY, START_KEY, HELD_OUT = 0, 1, 2
# A Gauss-Newton matrix of this many parameters still fits and factorises in a second.
MOST_PARAMETERS = 2500


class LMTrainer:
    """Fits a linear model (one with `weights`) to a task; see `train`.

    Every level of the plan is screened (all starts, few contexts, few steps) and refined (the best starts, more
    contexts, until they stand still). At the end the pool doubles, up to `most_pieces`, while contexts that were held
    out cost more than those that were fitted; the last row says what they cost. Models of many parameters (FULL)
    overfit soon: they are watched on contexts held out at every step, the best there is kept, and their pools grow at
    every level.

    With `sentinels` the pool has contexts beyond the largest drawn, for networks that are good in the mean over all
    contexts, the rarest too. `drawn` contexts are drawn for each one in the pool (1, 8 or 64 by depth): the largest of
    them are kept. Where there is always noise, few will do. `levels` replace those that lead to `model`.
    """

    def __init__(
        self,
        model: AbstractPredictor,
        task: AbstractTask,
        *,
        objective: str = "posterior",
        key: PRNGKeyArray,
        random_starts: int = RANDOM_STARTS,
        screen_steps: int = 15,
        refine_steps: int = 100,
        keep: int = 2,
        pieces: int = 16,
        most_pieces: int = 32,
        sentinels: bool = True,
        drawn: int | None = None,
        levels: list[Level] | None = None,
    ):
        check_objective(objective, model, task)
        if objective == "query":
            raise ValueError("objective is 'query'; Levenberg-Marquardt fits weight vectors: use weights or posterior.")
        sizes = {"keep": keep, "pieces": pieces, "most_pieces": most_pieces}
        for name, value in {**sizes, "screen_steps": screen_steps, "refine_steps": refine_steps}.items():
            _check.size(name, value)
        _check.size("random_starts", random_starts, least=0, most=MOST_STARTS)
        if drawn is not None:
            _check.size("drawn", drawn)
        size = parameters(model)
        # A Gauss-Newton matrix for each piece of the pool that is at work, and their sum.
        _memory.need(
            f"least squares with {size} parameters", (cores() + 3) * size * size, "layers, heads or d, or use adam"
        )
        self.task, self.objective = task, objective
        self.levels = plan(model, task, random_starts) if levels is None else levels
        self.screen_steps, self.refine_steps, self.keep = screen_steps, refine_steps, keep
        self.pieces, self.most_pieces = pieces, max(most_pieces, pieces)
        self.sentinels, self.drawn = sentinels, drawn
        self._layers = kind_of(model).layers(model)
        self._key = key
        self._root = psd_root(task.query_metric())
        self._contexts: dict[int, list[Any]] = {}
        self._made: dict[tuple[int, str], list[Any]] = {}
        self._problems: dict[tuple[str, int, int], LeastSquares] = {}

    def init(self) -> State:
        """The first level's starts, not yet moved."""
        return self._begin(0, {})

    def finished(self, state: State) -> bool:
        """After the last level."""
        return state.info["level"] == len(self.levels)

    def advance(self, state: State) -> tuple[State, list[dict[str, Any]]]:
        """One step of every start that still moves; then, where it is time, the next phase, pool or level."""
        info = state.info
        problem = self._problem(info["level"], info["pieces"])
        points = [problem.step(point) if _moving(point) else point for point in _points(state)]
        info = {**info, "step": info["step"] + 1}
        level = self.levels[info["level"]]
        row = {
            "level": level.name,
            "phase": info["phase"],
            "step": info["step"],
            "contexts": problem.contexts,
            "loss": min(point.loss for point in points),
            "starts": sum(_moving(point) for point in points),
            "progress": self._progress(info),
        }
        watched = None
        if self._watches(info):
            watched = self._watch(points, info, state)
            row["held_out"] = float(watched.loss)
        stopped = _stopped(points, watched, info["step"], self._limit(info))
        if stopped is None:
            return _state(points, info, state, watched), [row]
        return self._next(points, {**info, "stopped": stopped}, state, row, watched)

    def model(self, state: State) -> Any:
        """The best model of the last level, or of the level at work."""
        if self.finished(state):
            return self.found(state)[self.levels[-1].name]
        best = _watched(state) or min(_points(state), key=lambda point: point.loss)
        return rebuild(self.levels[state.info["level"]].template, best.theta)

    def found(self, state: State) -> dict[str, Any]:
        """The best model of every level that is done: the networks on the way come for free."""
        return {
            level.name: rebuild(level.template, state.arrays[f"found/{level.name}"])
            for level in self.levels
            if f"found/{level.name}" in state.arrays
        }

    def _begin(self, number: int, kept: dict[str, np.ndarray], stopped: str = "there is nothing to do") -> State:
        """Start screening a level; behind the last, say why the one before stopped."""
        info = {"level": number, "phase": "screen", "step": 0, "pieces": min(SCREEN_PIECES, self.pieces)}
        if number == len(self.levels):
            return State(kept, {**info, "phase": "done", "stopped": stopped})
        found = self.found(State(kept))
        key = jax.random.fold_in(jax.random.fold_in(self._key, START_KEY), number)
        thetas = [flatten(start) for start in self.levels[number].starts(found, key)]
        if len(thetas) == 1:
            info |= {"phase": "refine", "pieces": self._level_pieces(number)}
            return self._refine(thetas[0], info, State(kept))
        problem = self._problem(number, info["pieces"])
        return _state([problem.start(theta) for theta in thetas], info, State(kept))

    def _watches(self, info: dict[str, Any]) -> bool:
        return info["phase"] == "refine" and flatten(self.levels[info["level"]].template).size >= WATCHED

    def _watch(self, points: list[Point], info: dict, state: State) -> Point:
        """The best so far on contexts held out; `stalled` says for how many steps it has been."""
        problem = self._problem(info["level"], info["pieces"], held_out=True)
        best = min((problem.start(point.theta) for point in points), key=lambda point: point.loss)
        before = _watched(state)
        return best if before is None or best.loss < before.loss else before._replace(stalled=before.stalled + 1)

    def _next(
        self, points: list[Point], info: dict, state: State, row: dict, watched: Point | None
    ) -> tuple[State, list[dict[str, Any]]]:
        number, stopped = info["level"], info.pop("stopped")
        ranked = sorted(points, key=lambda point: point.loss)
        if info["phase"] == "screen":
            pieces = self._level_pieces(number)
            problem = self._problem(number, pieces)
            info = {**info, "phase": "refine", "step": 0, "pieces": pieces}
            return _state([problem.start(point.theta) for point in ranked[: self.keep]], info, state), [row]
        theta = ranked[0].theta if watched is None else watched.theta
        if number == len(self.levels) - 1 or watched is not None:
            if watched is None:
                row["held_out"] = self._problem(number, info["pieces"], held_out=True).loss(theta)
            fitted = self._problem(number, info["pieces"]).loss(theta)
            if row["held_out"] > OVERFIT * fitted and 2 * info["pieces"] <= self.most_pieces:
                info = {**info, "step": 0, "pieces": 2 * info["pieces"]}
                return self._refine(theta, info, state), [row]
        found = {**_done(state), f"found/{self.levels[number].name}": theta}
        return self._begin(number + 1, found, stopped), [row]

    def _refine(self, theta: Float[np.ndarray, " p"], info: dict[str, Any], state: State) -> State:
        """Begin to refine a single start; a model that is watched may turn out to have been best here."""
        points = [self._problem(info["level"], info["pieces"]).start(theta)]
        fresh = State(_done(state))
        return _state(points, info, fresh, self._watch(points, info, fresh) if self._watches(info) else None)

    def _limit(self, info: dict[str, Any]) -> int:
        return self.screen_steps if info["phase"] == "screen" else self.refine_steps

    def _progress(self, info: dict[str, Any]) -> float:
        """About how much of the work is done, between 0 and 1: large models take longer steps, but fewer."""
        costs = [float(flatten(level.template).size) ** 0.5 for level in self.levels]
        share = info["step"] / self._limit(info)
        here = SCREEN_SHARE * share if info["phase"] == "screen" else SCREEN_SHARE + (1 - SCREEN_SHARE) * share
        number = info["level"]
        return (sum(costs[:number]) + here * costs[number]) / sum(costs)

    def _level_pieces(self, number: int) -> int:
        # A kind with a form of contexts of its own (GD++ in its eigenbasis) is cheap, and always gets the whole pool.
        cheap = kind_of(self.levels[number].template).prepared is not None
        return self.pieces if cheap or number == len(self.levels) - 1 else min(LEVEL_PIECES, self.pieces)

    def _problem(self, number: int, pieces: int, held_out: bool = False) -> LeastSquares:
        """The pool's loss for a level; pools of one key are prefixes of each other, so nothing is drawn twice."""
        template = self.levels[number].template
        branch = HELD_OUT if held_out else POOL_KEY
        contexts = self._contexts.setdefault(branch, [])
        if len(contexts) < pieces:
            key = jax.random.fold_in(self._key, branch)
            pool = {"start": len(contexts), "layers": self._layers, "sentinels": self.sentinels, "drawn": self.drawn}
            contexts += draw_pool(self.objective, self.task, pieces - len(contexts), key, **pool)
        name = (self.levels[number].name, branch, pieces)
        if name not in self._problems:
            made = self._made.setdefault((branch, kind_of(template).name), [])
            self._problems[name] = LeastSquares(template, pieces_for(template, contexts[:pieces], made), self._root)
        return self._problems[name]


def _moving(point: Point) -> bool:
    return point.stalled < STALLED and math.isfinite(point.loss)


def _stopped(points: list[Point], watched: Point | None, step: int, limit: int) -> str | None:
    """Why a phase ends here, in words; None while it goes on."""
    if not any(map(_moving, points)):
        if not any(math.isfinite(point.loss) for point in points):
            return "not converged: all starts overflow"
        best = min(points, key=lambda point: point.loss)
        return "no step lowers the loss" if best.stalled >= STUCK else "all starts stand still"
    if watched is not None and watched.stalled >= PATIENCE:
        return f"best on held-out contexts: no better there for {PATIENCE} steps"
    return f"step limit of {limit}" if step >= limit else None


def _points(state: State) -> list[Point]:
    arrays = state.arrays
    numbers = zip(arrays["theta"], arrays["loss"], arrays["damping"], arrays["stalled"], strict=True)
    return [Point(theta, float(loss), float(damping), int(stalled)) for theta, loss, damping, stalled in numbers]


def _done(state: State) -> dict[str, np.ndarray]:
    """What the levels before have found."""
    return {name: array for name, array in state.arrays.items() if name.startswith("found/")}


def _watched(state: State) -> Point | None:
    """The point that was best on contexts held out."""
    if "watched/theta" not in state.arrays:
        return None
    theta, loss, damping, stalled = (state.arrays[f"watched/{name}"] for name in Point._fields)
    return Point(theta, float(loss), float(damping), int(stalled))


def _state(points: list[Point], info: dict[str, Any], before: State, watched: Point | None = None) -> State:
    arrays = {name: np.array(column) for name, column in zip(Point._fields, zip(*points, strict=True), strict=True)}
    if watched is not None:
        arrays |= {f"watched/{name}": np.array(value) for name, value in zip(Point._fields, watched, strict=True)}
    return State({**_done(before), **arrays}, info)


def _can(model: AbstractPredictor, task: AbstractTask) -> None:
    if not model.linear:
        raise Unknown(f"solver lm fits weight vectors, and {type(model).__name__} is not linear in the query; use adam")
    if natural_objective(model, task) == "query":
        raise Unknown(f"solver lm fits weight vectors, and {type(task).__name__} has none to fit to; use adam")


def _why(model: AbstractPredictor, task: AbstractTask, objective: str) -> str | None:
    size = parameters(model)
    if not able(SOLVER, model, task) or objective == "query" or size > MOST_PARAMETERS:
        return None
    return f"linear in the query with {size} parameters: least squares on a pool of moments"


SOLVER = Solver(
    name="lm",
    sentence="Levenberg-Marquardt on a pool of moments, through shallower networks to deep ones",
    make=LMTrainer,
    flags={"steps": "refine_steps", "seeds": "random_starts"},
    can=_can,
    suits=_why,
)
