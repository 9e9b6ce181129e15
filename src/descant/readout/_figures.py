"""An explanation in figures: data for both drawers."""

import numpy as np

from ..figures import Axis, Figure, HeatMap, Panel, Series
from ._explanation import Explanation

# The names of all figures, those of `OverTime` too.
FIGURES = ("nearest", "layers", "states", "penalties", "one-step", "directions", "over-time")
# So many known algorithms and estimators are drawn, under short names.
MOST = 8
SHORT = {
    "gradient descent": "GD",
    "ridge regression": "ridge",
    "ridge by Newton-Schulz": "Newton-Schulz",
    "the best two-level mixture": "two levels",
    "Chebyshev iteration": "Chebyshev",
    "gradient descent on the ridge loss": "GD, ridge",
    "heavy ball on the ridge loss": "ball, ridge",
    "Chebyshev iteration on the ridge loss": "Cheb., ridge",
    "preconditioned gradient descent": "precond. GD",
    "preconditioned-gd": "precond.-gd",
}
# A state that alpha explains less of than this is not drawn along alpha.
ALONG = 0.5
# A factor that differs from 1 by less than this, or a share that is less, is none.
UNMOVED = 1e-9


def figures(found: Explanation) -> tuple[Figure, ...]:
    """All figures that there is something to draw for: distances, layers, penalties, the four states, Gamma."""
    made = (_distances(found), _layers(found), _states(found), _penalties(found), _gamma(found), _directions(found))
    return tuple(each for each in made if each is not None)


def _distances(found: Explanation) -> Figure | None:
    best = {}
    for each in found.matches:
        best.setdefault(each.algorithm, each.share)
    rows = [*best.items()][:MOST]
    known = [(each.name, each.share) for each in found.estimators][:MOST]
    panels = []
    kinds = (("known algorithms, fitted", "algorithm", rows), ("known estimators, as they are", "estimator", known))
    for title, across, some in kinds:
        some = [(name, share) for name, share in some if np.isfinite(share.value) and share.value > -1]
        if some:
            left = [max(1 - share.value, 1e-16) for _, share in some]
            ticks = tuple((float(index), SHORT.get(name, name)) for index, (name, _) in enumerate(some))
            errors = tuple(share.error for _, share in some)
            panels.append(
                Panel(title, Axis(across, ticks=ticks), Axis("share left unexplained", log=True),
                      (Series("left unexplained", tuple(range(len(some))), tuple(left), errors, "points"),))
            )  # fmt: skip
    if not panels:
        return None
    return Figure(
        "nearest",
        f"What is left of {found.model} beside known algorithms",
        "The share of the variance of its predictions that each does not explain, with standard errors; lower is "
        "nearer. The first are fitted to the model, the second are what they are on the task.",
        tuple(panels),
        columns=1,
    )


def _layers(found: Explanation) -> Figure | None:
    layers = [each for each in found.layers if each.step is not None]
    if len(layers) < 2:
        return None
    ticks = tuple((float(index), each.name) for index, each in enumerate(layers))
    x, places = Axis("layer", ticks=ticks), tuple(range(len(layers)))
    panels = [
        Panel("Step size", x, Axis("step size η"),
              (Series("step size", places, tuple(each.step or 0.0 for each in layers)),)),
        Panel("Size of the update", x, Axis("squares, relative to the answer's", log=True),
              (Series("update", places, tuple(each.size for each in layers)),)),
        Panel("Share of the update that is explained", x, Axis("share explained"),
              (Series("share explained", places, tuple(each.share.value for each in layers),
                      tuple(each.share.error for each in layers)),)),
    ]  # fmt: skip
    sigmas = sorted({sigma for each in layers for sigma, _, _ in each.shrinkage}, key=lambda sigma: sigma or 0.0)
    if any(abs(value) > UNMOVED for each in layers for _, value, _ in each.shrinkage):
        series = []
        for sigma in sigmas:
            points = [
                (float(place), value, error)
                for place, each in enumerate(layers)
                for level, value, error in each.shrinkage
                if level == sigma
            ]
            there, values, errors = (tuple(point[index] for point in points) for index in range(3))
            label = "all contexts" if sigma is None else f"σ = {sigma:.3g}"
            series.append(Series(label, there, values, errors))
        panels.append(Panel("Share of w that is taken away", x, Axis("shrinkage"), tuple(series)))
    return Figure(
        "layers",
        _capital(f"{found.model}, layer by layer"),
        "Step sizes are for the gradient of |X w - y|² / 2n; how large the update of each layer is, how much of it the "
        "step, a momentum and a shrinkage explain, and what is taken away of the weight vector at each noise level.",
        tuple(panels),
    )


def _states(found: Explanation) -> Figure | None:
    """Theorem 4.1's M, u, a and w at the eigenvalues of S: means over contexts, in each one's eigenbasis."""
    trace, contexts = found.parts.get("trace"), found.parts.get("contexts")
    if trace is None or contexts is None or trace.states is None:
        return None
    states = trace.states
    values, vectors = np.linalg.eigh(contexts.s)
    edges = np.quantile(values, np.linspace(0, 1, 13))
    group = np.clip(np.searchsorted(edges, values) - 1, 0, 11)
    places = [float(values[group == each].mean()) for each in range(12)]
    slopes = np.einsum("bij,bi->bj", vectors, contexts.alpha)
    parts: dict[str, list[Series]] = {"M": [], "u": [], "w": []}
    for index, name in enumerate(trace.names):
        along = np.einsum("bki,bkl,bli->bi", vectors, states.m[index + 1], vectors)
        found_at = {"M": (along, np.ones_like(slopes))}
        fits = {"u": found.layers[index].u, "w": found.layers[index].w}
        # After the last layer nobody reads M and u.
        if index == trace.depth - 1:
            del found_at["M"], fits["u"]
        for letter, fit in fits.items():
            if fit is None or fit.share.value < ALONG:
                continue
            state = states.u if letter == "u" else states.w
            found_at[letter] = (np.einsum("bij,bi->bj", vectors, state[index + 1]) * slopes, slopes**2)
        for letter, (above, below) in found_at.items():
            curve = [float(above[group == each].sum() / below[group == each].sum()) for each in range(12)]
            if np.isfinite(curve).all():
                parts[letter].append(Series(f"after {name}", tuple(places), tuple(curve)))
    titles = {
        "M": ("M, what the inputs are multiplied with", "factor"),
        "u": ("u, the labels in the inputs, along α = Xᵀy/n", "multiple of α"),
        "w": ("w, the weight vector, along α = Xᵀy/n", "multiple of α"),
    }
    panels = tuple(
        Panel(titles[letter][0], Axis("eigenvalue of S"), Axis(titles[letter][1]), tuple(series))
        for letter, series in parts.items()
        if series
    )
    levels = contexts.levels()
    if levels:
        damping = tuple(
            Series(f"after {name}", tuple(each.sigma for each in levels),
                   tuple(float(states.a[index + 1][each.members].mean()) for each in levels))
            for index, name in enumerate(trace.names[:-1])
        )  # fmt: skip
        # What nothing is taken of needs no picture.
        if any(abs(value - 1) > UNMOVED for each in damping for value in each.y):
            panels += (Panel("a, what is left of the labels", Axis("noise level σ"), Axis("factor a"), damping),)
    return Figure(
        "states",
        f"Theorem 4.1 in {found.model}: M, u, a and w",
        "Each in the eigenbasis of a context's S, means over contexts; u and w as multiples of Xᵀy/n there, where "
        "that explains at least half of them.",
        panels,
    )


def _penalties(found: Explanation) -> Figure | None:
    if len(found.penalties) < 2:
        return None
    x = tuple(each.sigma for each in found.penalties)
    right = tuple(each.right for each in found.penalties if each.right is not None)
    series = (
        Series("nearest to it", x, tuple(each.penalty for each in found.penalties)),
        *([Series("right: σ²", x, right, style="dashed")] if len(right) == len(x) else []),
    )
    return Figure(
        "penalties",
        f"The ridge regression that is nearest to {found.model}, by noise level",
        "A model that tells noise levels apart shrinks more where there is more noise.",
        (Panel("", Axis("noise level σ"), Axis("penalty"), series),),
        columns=1,
    )


def _gamma(found: Explanation) -> Figure | None:
    step = found.one_step
    if step is None:
        return None
    maps = [HeatMap("Gamma, as read", step.gamma)]
    if step.true_gamma is not None:
        maps.append(HeatMap("Gamma of least risk", step.true_gamma))
    x = tuple(range(1, len(step.start) + 1))
    starts = [Series("start, as read", x, step.start, style="points")]
    if step.true_start is not None:
        starts.append(Series("start of least risk", x, step.true_start, style="points"))
    panels = (*maps, Panel("start", Axis("coordinate"), Axis("weight"), tuple(starts)))
    return Figure("one-step", f"The single step of {found.model}", "Its matrix and its start, beside the best ones.",
                  panels, columns=3)  # fmt: skip


def _directions(found: Explanation) -> Figure | None:
    if found.directions is None or not found.directions.singled_out:
        return None
    panels = []
    for index, each in enumerate(found.directions.singled_out, 1):
        x = tuple(range(1, len(each.carries) + 1))
        series = tuple(
            Series(words, x, tuple(layer[name] for layer in each.carries))
            for name, words in (
                ("label", "with the label"),
                ("itself", "with the input"),
                ("residual", "with residuals"),
            )
        )
        panels.append(Panel(f"direction {index}", Axis("after layer"), Axis("correlation"), series))
    return Figure(
        "directions",
        f"What the directions carry that {found.model} singles out",
        "Mean correlations, over a context's tokens, of the inputs along each direction.",
        tuple(panels),
    )


def _capital(title: str) -> str:
    return title[:1].upper() + title[1:]
