"""One layer after the other: Theorem 4.1's (M, u, a, w) as functions of S and the noise, and what is added to w."""

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from jaxtyping import Float

from ._contexts import Contexts
from ._regression import Fit, Share, fit, mean_at, share
from ._stack import States
from ._trace import Trace

# Powers of S that a preconditioner is fitted by, beside I.
POWERS = 2
# A state that differs from where it began by less than this, relative, has not moved.
UNMOVED = 1e-6
# One power of S is enough if it leaves no more than this of M.
LEAVES = 1e-3
# What is left of an update below this is rounding: no term is needed for it.
ROUNDING = 1e-20

# (sigma, value, standard error); one without a level is the mean over all contexts, where levels are not known.
AtLevels = tuple[tuple[float | None, float, float], ...]


@dataclass(frozen=True)
class Layer:
    """What one layer does, read over a task.

    It adds to the weight vector w: a step eta M^T M (a alpha - S w) down the gradient, preconditioned by M; a momentum
    eta q M^T u along u, with the number q = a y^T y / n - <w, alpha>; and s w, a shrinkage (or growth).

    - `step` is eta, for the gradient of |Xw - y|^2 / 2n, and `step_error` its standard error.
    - `gradient`, `momentum`, `shrinking`: shares of the squared size of the update that each part has by itself; they
      need not add up to one, parts may point against each other.
    - `memory` and `decay` are those of an iteration, the momentum and the shrinkage in its own words, with `errors`.
    - `share`: how much of the update the three explain together. `size`: mean square of the update, relative to that of
      the model's answer.
    - `shrinkage`: (sigma, -s, error) by noise level: how much of w is taken away; `damping`: the same of the labels,
      1 - a'/a, layer by layer. Where levels are not known, one mean over all contexts, and None for sigma.
    - `m`, `u`, `a`, `w`: fits of the four after the layer; None where a model has no such state.
    - `own`: the layer in the words of its kind: omegas of a diagonal network, Gamma of one layer.
    """

    name: str
    step: float | None
    step_error: float
    share: Share
    size: float
    gradient: float = 1.0
    momentum: float = 0.0
    shrinking: float = 0.0
    memory: float | None = None
    decay: float | None = None
    shrinkage: AtLevels = ()
    damping: AtLevels = ()
    before: Fit | None = None
    m: Fit | None = None
    u: Fit | None = None
    a: Fit | None = None
    w: Fit | None = None
    own: dict[str, Any] = field(default_factory=dict)
    errors: dict[str, float] = field(default_factory=dict)
    sentence: str = ""

    def as_json(self) -> dict[str, Any]:
        """Plain values."""
        found: dict[str, Any] = {}
        for name, value in vars(self).items():
            if isinstance(value, (Fit, Share)):
                found[name] = value.as_json()
            elif name in ("shrinkage", "damping"):
                found[name] = [dict(zip(("sigma", "value", "error"), each, strict=True)) for each in value]
            else:
                found[name] = value
        return found


def layers_of(trace: Trace, contexts: Contexts) -> tuple[Layer, ...]:
    """Every layer of a model, or every iteration; of a model without known layers, the whole as one."""
    if trace.states is not None:
        return tuple(_of_stack(trace, trace.states, contexts, index) for index in range(trace.depth))
    found = [_of_iterate(trace, contexts, index) for index in range(trace.depth)]
    if trace.iterates and trace.depth > 2 and not trace.w[0].any():
        found[1] = _second(found[1], found[2])
    return tuple(found)


def _of_stack(trace: Trace, states: States, contexts: Contexts, index: int) -> Layer:
    m, u, a, w = (each[index] for each in (states.m, states.u, states.a, states.w))
    gradient = a[:, None] * contexts.alpha - np.einsum("bij,bj->bi", contexts.s, w)
    along = a * contexts.power - np.einsum("bi,bi->b", w, contexts.alpha)
    back = m.swapaxes(1, 2)
    parts = {
        "gradient": np.einsum("bij,bjk,bk->bi", back, m, gradient) @ contexts.root,
        "momentum": along[:, None] * np.einsum("bij,bj->bi", back, u) @ contexts.root,
    }
    step = states.step[index] @ contexts.root
    # One step size for both: in a diagonal network they are the same layer's.
    both = {"step": parts["gradient"] + parts["momentum"]}
    found = fit(both, step)
    update = step + states.s[index][:, None] * (w @ contexts.root)
    rest = step - found.coefficients[0] * both["step"]
    half = contexts.count // 2
    groups = [(each.sigma, each.members) for each in contexts.levels()] or [(None, np.full(contexts.count, True))]
    squares = {name: float(np.mean(found.coefficients[0] ** 2 * part**2)) for name, part in parts.items()}
    squares["shrinking"] = float(np.mean((states.s[index][:, None] * (w @ contexts.root)) ** 2))
    whole = float(np.mean(update**2)) or 1.0
    after = index + 1
    return Layer(
        trace.names[index],
        found.coefficients[0] if np.abs(step).max() > 0 else 0.0,
        found.errors[0],
        share((rest[half:] ** 2).sum(axis=1), (update[half:] ** 2).sum(axis=1)),
        float(np.mean(update**2) / max(np.mean((trace.answer @ contexts.root) ** 2), 1e-300)),
        *(squares[name] / whole for name in ("gradient", "momentum", "shrinking")),
        shrinkage=tuple((sigma, *_negative(mean_at(states.s[index], members))) for sigma, members in groups)
        if np.abs(w).max() > 0
        else (),
        # After the last layer nobody reads the context's labels.
        damping=tuple((sigma, *mean_at(1 - states.a[after] / states.a[index], members)) for sigma, members in groups)
        if after < trace.depth
        else (),
        before=_preconditioner(m, contexts),
        m=_preconditioner(states.m[after], contexts),
        u=_momentum(states.u[after], contexts),
        a=_damping(states.a[after], contexts),
        w=_weights(states.w[after], contexts),
        own=_omegas(trace, contexts, index),
    )


def _negative(found: tuple[float, float]) -> tuple[float, float]:
    return -found[0], found[1]


def _powers(contexts: Contexts, most: int) -> list[Float[np.ndarray, "B d d"]]:
    found = [np.broadcast_to(np.eye(contexts.d), contexts.s.shape)]
    for _ in range(most):
        found.append(found[-1] @ contexts.s)
    return found


def _preconditioner(m: Float[np.ndarray, "B d d"], contexts: Contexts) -> Fit | None:
    """M as I plus powers of S; None where it is the identity still."""
    moved = (m - np.eye(contexts.d)).reshape(contexts.count, -1)
    if np.abs(moved).max() <= UNMOVED:
        return None
    powers = [each.reshape(contexts.count, -1) for each in _powers(contexts, POWERS)]
    levels = contexts.levels()
    first = fit({"S": powers[1]}, moved, levels)
    if 1 - first.share.value <= LEAVES:
        return first
    return fit({"I": powers[0], "S": powers[1], "S²": powers[2]}, moved, levels)


def _momentum(u: Float[np.ndarray, "B d"], contexts: Contexts) -> Fit | None:
    if np.abs(u).max() <= UNMOVED:
        return None
    turned = np.einsum("bij,bj->bi", contexts.s, contexts.alpha)
    return fit({"alpha": contexts.alpha, "S alpha": turned}, u, contexts.levels())


def _damping(a: Float[np.ndarray, " B"], contexts: Contexts) -> Fit | None:
    """a as 1 plus a multiple of y^T y / n; None where it is 1."""
    if np.abs(a - 1).max() <= UNMOVED:
        return None
    return fit({"y² / n": contexts.power[:, None]}, (a - 1)[:, None], contexts.levels())


def _weights(w: Float[np.ndarray, "B d"], contexts: Contexts) -> Fit | None:
    """w as a polynomial in S times alpha."""
    if not np.abs(w).max() > 0:
        return None
    powers = [np.einsum("bij,bj->bi", each, contexts.alpha) @ contexts.root for each in _powers(contexts, POWERS)]
    names = ("alpha", "S alpha", "S² alpha")
    return fit(dict(zip(names, powers, strict=True)), w @ contexts.root, contexts.levels())


def _omegas(trace: Trace, contexts: Contexts, index: int) -> dict[str, Any]:
    """The four numbers of a diagonal layer; of a dense one the nearest's."""
    assert trace.stack is not None
    (w_xx, w_xy), (w_yx, w_yy) = trace.stack.omegas()[index]
    return {name: float(value) for name, value in (("w_xx", w_xx), ("w_xy", w_xy), ("w_yx", w_yx), ("w_yy", w_yy))}


def _of_iterate(trace: Trace, contexts: Contexts, index: int) -> Layer:
    """A step between two iterates: down the gradient, on with a momentum, back by a decay."""
    w, move = trace.w[index], (trace.w[index + 1] - trace.w[index]) @ contexts.root
    terms = {"gradient": (contexts.alpha - np.einsum("bij,bj->bi", contexts.s, w)) @ contexts.root}
    found = fit(terms, move)
    if trace.iterates and index > 0 and np.abs(w).max() > 0:
        others = {"memory": (w - trace.w[index - 1]) @ contexts.root, "decay": -w @ contexts.root}
        if index == 1 and not trace.w[0].any():
            del others["decay"]  # from zero they are one at the second step
        # A term is told if it is needed: it must halve what is left, the one that leaves least first.
        while others:
            tried = {name: fit({**terms, name: term}, move) for name, term in others.items()}
            name = max(tried, key=lambda each: tried[each].share.value)
            left = 1 - found.share.value
            if left <= ROUNDING or 1 - tried[name].share.value >= left / 2:
                break
            terms, found = {**terms, name: others.pop(name)}, tried[name]
    numbers = dict(zip(found.terms, found.coefficients, strict=True))
    size = float(np.mean(move**2) / max(np.mean((trace.answer @ contexts.root) ** 2), 1e-300))
    return Layer(
        trace.names[index],
        numbers["gradient"],
        found.errors[0],
        found.share,
        size,
        memory=numbers.get("memory"),
        decay=numbers.get("decay"),
        errors={name: error for name, error in zip(found.terms, found.errors, strict=True) if name != "gradient"},
        w=_weights(trace.w[index + 1], contexts),
    )


def _second(layer: Layer, next_one: Layer) -> Layer:
    """The second step from zero: its momentum and its decay are one number, which the third step tells apart."""
    if layer.memory is None or next_one.decay is None:
        return layer
    if next_one.memory is None:
        return replace(layer, memory=None, decay=-layer.memory, errors={"decay": layer.errors["memory"]})
    return replace(layer, memory=None, own={**layer.own, "memory less decay": layer.memory})
