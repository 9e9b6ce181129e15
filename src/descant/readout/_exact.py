"""Known algorithms read off gauge-fixed weights, or off iterates that obey a recursion to rounding."""

from typing import Any

import numpy as np
from jaxtyping import Float

from ..estimators import GramAffine
from ._contexts import Contexts
from ._match import ROUNDING, WEIGHTS, Match
from ._regression import Share
from ._residuals import EXACT, as_chebyshev, as_heavy_ball
from ._stack import Stack, in_units
from ._told import measured
from ._trace import Trace

# Until it is measured.
ALL = Share(1.0, 0.0)
# How near weights are to an algorithm's, relative to those of their layer: first as training leaves them, then exactly.
# Either counts only if the algorithm's own answers are the model's to rounding.
TOLERANCES = (1e-6, EXACT)
# A layer of this size beside the largest is made of rounding.
FAINT = 1e-15
# What a recursion may leave of iterates, relative: rounding of long sums.
LEFT = 1e-11
# Terms of a recursion that are tried in this order; the first that leave nothing are taken.
RECURSIONS = (("gradient",), ("gradient", "decay"), ("gradient", "momentum"), ("gradient", "momentum", "decay"))


def exact_match(trace: Trace, contexts: Contexts) -> Match | None:
    """The algorithm that a model is by its weights; None if it is none of those that weights can tell.

    Whatever weights say, its numbers are run beside the model: what differs by more than rounding is not told.
    """
    for tolerance in TOLERANCES:
        found = _read(trace, contexts, tolerance)
        if found is not None:
            found = measured(found, contexts, trace.answer)
            if 1 - found.share.value <= ROUNDING:
                return found
    return None


def _read(trace: Trace, contexts: Contexts, tolerance: float) -> Match | None:
    if trace.stack is not None:
        return of_stack(trace.stack, contexts, tolerance)
    if trace.merged is not None:
        return of_layer(trace.merged, tolerance)
    return of_iterates(trace.w, contexts) if trace.iterates else None


def of_stack(stack: Stack, contexts: Contexts, tolerance: float = EXACT) -> Match | None:
    """Gradient descent, heavy ball, Chebyshev or GD++: a diagonal network that never reads labels into inputs."""
    whole, rest = (np.abs(in_units(each, contexts)).max(axis=(1, 2, 3, 4)) for each in (stack.tensors, stack.rest()))
    omegas, n = stack.omegas(), contexts.n
    # Labels into inputs and into labels, in the units in which the tensors are compared.
    ratio = float(contexts.power.mean() / np.einsum("bii->", contexts.s) * contexts.count * contexts.d)
    labels = np.maximum(np.abs(n * omegas[:, 0, 1]) * ratio**0.5, np.abs(n * omegas[:, 1, 1]) * ratio)
    # Layer by layer: a small layer may work on large inputs.
    least = np.maximum(tolerance * whole, FAINT * whole.max())
    if not np.isfinite(whole).all() or (rest > least).any() or (labels * _size(contexts) > least).any():
        return None
    steps, contractions = -n * omegas[:, 1, 0] + 0.0, -n * omegas[:, 0, 0] + 0.0
    if np.abs(contractions).max() > tolerance * np.abs([steps, contractions]).max():
        told = {"step": steps.tolist(), "contraction": contractions.tolist(), "steps": len(steps)}
        return Match("GD++", "steps, and inputs that are made rounder", told, 2 * len(steps) - 1, ALL, WEIGHTS)
    taken = steps[np.abs(steps) > tolerance * np.abs(steps).max()]
    return _of_steps(taken, tolerance) if len(taken) else None


def _size(contexts: Contexts) -> float:
    """The mean square of an input."""
    return float(np.einsum("bii->", contexts.s) / contexts.count / contexts.d)


def _of_steps(steps: Float[np.ndarray, " k"], tolerance: float) -> Match:
    count = len(steps)
    if np.ptp(steps) <= tolerance * np.abs(steps).max():
        told = {"step": float(steps.mean()), "steps": count}
        return Match("gradient descent", "steps of one size", told, 1, ALL, WEIGHTS)
    if (chebyshev := as_chebyshev(steps, tolerance)) is not None:
        told = {**chebyshev._asdict(), "steps": count}
        return Match("Chebyshev iteration", "steps by the roots of Chebyshev's polynomial", told, 2, ALL, WEIGHTS)
    if (ball := as_heavy_ball(steps, tolerance)) is not None:
        told = {**ball._asdict(), "steps": count}
        return Match("heavy ball", "steps of one size with a momentum", told, 2, ALL, WEIGHTS)
    told = {"step": steps.tolist(), "steps": count}
    return Match("gradient descent", "each step of a size of its own", told, count, ALL, WEIGHTS)


def of_layer(merged: GramAffine, tolerance: float = EXACT) -> Match | None:
    """Gradient descent, preconditioned or not, from zero or from a learnt start: one layer of linear attention."""
    start, tensor = (np.asarray(each, float) for each in (merged.offset, merged.tensor))
    d = len(start)
    gamma = 2 * tensor[:, :d, d]
    reads = np.append(-start, 1.0)
    again = np.pad(gamma, ((0, 0), (0, 1)))[:, :, None] * reads[None, None, :]
    again = (again + np.swapaxes(again, 1, 2)) / 2
    size = np.abs(tensor).max()
    if not np.isfinite(size) or size == 0 or np.abs(tensor - again).max() > tolerance * size:
        return None
    begins = {"start": start.tolist()} if np.abs(start).max() > tolerance else {}
    if np.abs(gamma - gamma[0, 0] * np.eye(d)).max() <= tolerance * size:
        told = {"step": float(np.trace(gamma) / d), "steps": 1, **begins}
        return Match("gradient descent", "steps of one size", told, 1 + d * bool(begins), ALL, WEIGHTS)
    told = {"gamma": gamma.tolist(), **begins}
    if begins:
        return Match("GD-beta", "one such step from a learnt start", told, d * d + d, ALL, WEIGHTS)
    about = "one step with a matrix for a step size"
    return Match("preconditioned gradient descent", about, told, d * d, ALL, WEIGHTS)


def of_iterates(w: Float[np.ndarray, "S B d"], contexts: Contexts) -> Match | None:
    """Gradient descent, heavy ball or Chebyshev, on the plain or on the ridge loss, from the iterates themselves."""
    if len(w) < 2 or not np.isfinite(w).all():
        return None
    found = recursion(w, contexts)
    if found is None:
        return None
    steps, momenta, decays = (np.array(each) for each in found)
    penalty = contexts.n * decays[1:] / steps[1:] if len(steps) > 1 else np.zeros(0)
    level = {}
    if len(penalty) and np.abs(penalty).max() > EXACT:
        if np.ptp(penalty) > 1e-6 * np.abs(penalty).max():
            return None
        level = {"penalty": float(penalty.mean())}
    loss = " on the ridge loss" if level else ""
    if not len(momenta[1:]) or np.abs(momenta[1:]).max() <= EXACT:
        same = np.ptp(steps) <= EXACT * np.abs(steps).max()
        told: dict[str, Any] = {"step": float(steps.mean()) if same else steps.tolist(), "steps": len(steps), **level}
        about = "steps of one size" if same else "each step of a size of its own"
        numbers = (1 if same else len(steps)) + len(level)
        return Match(f"gradient descent{loss}", about, told, numbers, ALL, WEIGHTS)
    if max(np.ptp(steps), np.ptp(momenta[1:])) <= 1e-8 * np.abs(steps).max():
        told = {"step": float(steps.mean()), "momentum": float(momenta[1:].mean()), "steps": len(steps), **level}
        return Match(f"heavy ball{loss}", "steps of one size with a momentum", told, 2 + len(level), ALL, WEIGHTS)
    return _as_chebyshev(steps, momenta, level, loss)


def _as_chebyshev(steps: np.ndarray, momenta: np.ndarray, level: dict[str, float], loss: str) -> Match | None:
    """Step k is 2 rho_k / delta and momentum k is rho_k rho_{k-1}: the first two steps give the range."""
    theta = 1 / steps[0]
    square = theta * (2 * theta - 2 / steps[1])
    if not square > 0:
        return None
    delta = square**0.5
    rho = [delta / theta]
    for _ in steps[1:]:
        rho.append(1 / (2 * theta / delta - rho[-1]))
    expected = np.append(1 / theta, 2 * np.array(rho[1:]) / delta)
    memory = np.array(rho[1:]) * np.array(rho[:-1])
    if np.abs(expected - steps).max() > 1e-7 * steps.max() or np.abs(memory - momenta[1:]).max() > 1e-7:
        return None
    told = {"low": float(theta - delta), "high": float(theta + delta), "steps": len(steps), **level}
    about = "steps by the roots of Chebyshev's polynomial"
    return Match(f"Chebyshev iteration{loss}", about, told, 2 + len(level), ALL, WEIGHTS)


def recursion(w: Float[np.ndarray, "S B d"], contexts: Contexts) -> tuple[list[float], list[float], list[float]] | None:
    """Steps, momenta and decays with which w' = w + step (alpha - S w) + momentum (w - before) - decay w, exactly.

    From zero, the second step's momentum and decay are one number; its decay is taken to be that of the third, in
    proportion to the step.
    """
    for terms in RECURSIONS:
        numbers = [_step(w, k, terms, contexts) for k in range(len(w) - 1)]
        if any(each is None for each in numbers):
            continue
        found = [each for each in numbers if each is not None]
        if "both" in found[min(1, len(found) - 1)]:
            if len(found) < 3:
                return None
            second, third = found[1], found[2]
            second["decay"] = third["decay"] * second["gradient"] / third["gradient"]
            second["momentum"] = second["both"] + second["decay"]
        steps, momenta, decays = ([each.get(name, 0.0) for each in found] for name in RECURSIONS[-1])
        return steps, momenta, decays
    return None


def _step(w: np.ndarray, k: int, terms: tuple[str, ...], contexts: Contexts) -> dict[str, float] | None:
    columns = {"gradient": contexts.alpha - np.einsum("bij,bj->bi", contexts.s, w[k])}
    if k == 1 and len(terms) == 3 and not w[0].any():
        columns["both"] = w[k]
    elif k > 0 and "momentum" in terms:
        columns["momentum"] = w[k] - w[k - 1]
    if "both" not in columns and w[k].any() and "decay" in terms:
        columns["decay"] = -w[k]
    design = np.stack([each.ravel() for each in columns.values()], axis=1)
    move = (w[k + 1] - w[k]).ravel()
    found = np.linalg.lstsq(design, move, rcond=None)[0]
    left = np.abs(move - design @ found).max()
    return dict(zip(columns, map(float, found), strict=True)) if left <= LEFT * np.abs(w[k + 1]).max() else None
