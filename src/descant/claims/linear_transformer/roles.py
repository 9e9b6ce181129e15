"""What each of the four weights of a diagonal layer is worth: leave one out, and train again."""

import jax.numpy as jnp
import numpy as np

from ..._sampling import standard_error
from ...attention import FreeDiag
from .. import Axis, Evidence, Figure, Lab, Mean, Panel, Series, Table, at_least, at_most, claim
from ._contexts import Contexts
from ._networks import ABLATED_LAYERS, D, N, networks, notes, task_of
from ._omegas import OMEGAS, ROLES

LAW, NOISELESS = "1,3", "0"
TRAINED = ("w_xx", "w_xy", "w_yy")
COUNT = (16_384, 131_072)


@claim(
    "roles-of-weights",
    paper="linear-transformer",
    whose="extension",
    where="Beside sections 5.1 to 5.3",
    title="On two noise levels, leaving out any of the four weights costs three layers a tenth or more",
    statement=r"""
        Sections 5.1 to 5.3 give each weight of a diagonal layer a role: $\omega_{yx}$ takes the gradient step,
        $\omega_{xx}$ preconditions, $\omega_{xy}$ adapts the step to the labels' size and $\omega_{yy}$ rescales the
        labels by it. With three layers on $\sigma \in \{1, 3\}$ ($d = 10$, $n = 20$), networks that lack one of them in
        all layers were trained to a loss at least a tenth above the one with all four; without $\omega_{yx}$ the answer
        is zero. Without noise the two that see the labels' size bring less than a tenth: GD++ is as good as DIAG.
    """,
    refuted_by={
        "idle": "A weight that is left out of three layers on {1, 3} for less than a tenth of the loss.",
        "silent": "A network without $\\omega_{yx}$ that answers anything but zero.",
        "noiseless": "A three-layer GD++ on contexts without noise with a loss a tenth above DIAG's.",
    },
    method=r"""
        Three-layer networks with all four weights free, and with one of them held at zero in every layer, each trained
        from the trained DIAG and GD++ without that weight, from shallower ones, and from random weights: what was
        found, not what is possible. Losses are over ordinary contexts. Without noise, both networks on the same
        contexts.
    """,
    quick="{1, 3} and no noise, 3 layers",
    full="the same with larger pools and more starts",
    seconds=8,
)
def roles_of_weights(lab: Lab) -> Evidence:
    """Losses with all weights and with each left out, at both depths that were trained on the way."""
    losses = {layers: _losses(lab, layers) for layers in (2, ABLATED_LAYERS)}
    found = losses[ABLATED_LAYERS]
    times, spread = _noiseless(lab)
    checks = [
        at_most(
            "largest answer without w_yx, random networks",
            _silent(lab),
            0.0,
            against="silent",
            reason="Nothing is ever written into the query's label.",
        ),
        at_most(
            "without noise: loss of GD++ over that of DIAG, three layers",
            times,
            1.1,
            error=spread,
            against="noiseless",
            reason="A tenth, as for a weight that has a role.",
        ),
    ]
    for name in TRAINED:
        value, error, freedom = _ratio(lab, name)
        checks.append(
            at_least(
                f"loss without {name} ({ROLES[name]}) over the loss with all four",
                value,
                1.1,
                error=error,
                freedom=freedom,
                against="idle",
                reason="A tenth, five times the spread of trained losses between starts and pools.",
            )
        )
    words = (
        "The price depends on depth and law: with two layers on {1, 3} it is "
        + ", ".join(f"{losses[2][name][0] / losses[2]['none'][0] - 1:.1%} without {name}" for name in TRAINED)
        + ".",
    )
    tables = tuple(_table(layers, each) for layers, each in losses.items())
    return Evidence(
        tuple(checks), (_figure(found),), tables, words, headline=checks[-1].name, long_runs=notes(networks(lab, LAW))
    )


def _losses(lab: Lab, layers: int) -> dict[str, tuple[float, float]]:
    found = {"none": networks(lab, LAW, "free").measured.ordinary_mean(f"free {layers}")}
    for name in TRAINED:
        found[name] = networks(lab, LAW, f"without-{name}").measured.ordinary_mean(f"without-{name} {layers}")
    return {**found, "w_xy and w_yy": networks(lab, LAW).measured.ordinary_mean(f"gd++ {layers}")}


def _ratio(lab: Lab, name: str) -> Mean:
    """The loss without a weight over that with all four, on the same contexts."""
    without, free = (networks(lab, LAW, kind) for kind in (f"without-{name}", "free"))
    names = f"without-{name} {ABLATED_LAYERS}", f"free {ABLATED_LAYERS}"
    return without.measured.ratio(*names, other=free.measured)


def _noiseless(lab: Lab) -> tuple[float, float]:
    """GD++ over DIAG, and the standard error of that, paired."""
    models = networks(lab, NOISELESS).models
    chosen = {name: models[f"{name} {ABLATED_LAYERS}"] for name in ("gd++", "diag")}
    losses = Contexts.draw(task_of(NOISELESS), lab.pick(*COUNT), lab.seed + 1).network_losses(chosen)
    times = losses["gd++"].mean() / losses["diag"].mean()
    return float(times), float(standard_error(losses["gd++"] - times * losses["diag"]) / losses["diag"].mean())


def _silent(lab: Lab) -> float:
    """The largest answer of random networks without w_yx."""
    contexts = Contexts.draw(task_of("uniform:5"), 20, lab.seed)
    w_xx, w_xy, w_yy = np.random.default_rng(lab.seed).standard_normal((3, 20, ABLATED_LAYERS)) / (N * D)
    silent = [
        FreeDiag(*map(jnp.asarray, (xx, xy, np.zeros_like(xx), yy)))
        for xx, xy, yy in zip(w_xx, w_xy, w_yy, strict=True)
    ]
    return max(float(np.abs(contexts.answers(each)).max()) for each in silent)


def _label(name: str) -> str:
    if name in OMEGAS:
        return f"{name} ({ROLES[name]})"
    return f"{name} (GD++)" if name != "none" else name


def _figure(losses: dict[str, tuple[float, float]]) -> Figure:
    positions = tuple(float(index) for index in range(len(losses)))
    values, errors = zip(*losses.values(), strict=True)
    ticks = tuple((float(index), _label(name)) for index, name in enumerate(losses))
    return Figure(
        "roles-of-weights",
        "Loss of three layers when one kind of weight is left out",
        "Each weight is worth something. Without both of the weights that see the labels' size GD++ is left, which "
        "can't adapt to the noise.",
        (
            Panel(
                "3 layers, σ ∈ {1, 3}, trained again",
                Axis("weight left out", ticks=ticks),
                Axis("adjusted half-MSE"),
                (Series("3 layers", positions, values, errors, style="bars"),),
            ),
        ),
        columns=1,
    )


def _table(layers: int, losses: dict[str, tuple[float, float]]) -> Table:
    rows = [(_label(name), *each, each[0] / losses["none"][0]) for name, each in losses.items()]
    return Table(
        f"ablation-{layers}",
        f"Left out, and trained again: {layers} layers",
        ("left out", "loss", "±", "over all four"),
        tuple(rows),
    )
