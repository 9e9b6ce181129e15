"""Figures 5 and 7: what the network would answer if it ended early."""

import itertools

from .. import Axis, Check, Evidence, Figure, Lab, Panel, Series, at_least, at_most, claim
from ._networks import networks
from ._pictures import KINDS, LOSS, PROFILE, SIGMA, profile_series
from ._printed import LAW_NAMES

LAW = "uniform:5"


@claim(
    "loss-after-each-layer",
    paper="linear-transformer",
    where="Figure 5",
    title="The loss falls from layer to layer",
    statement=r"""
        In networks of each depth trained on $\sigma \sim U(0, 5)$, the answer that can be read after $K$ layers
        improves as $K$ grows: networks approach the solution step by step, though they are trained on the last layer's
        answer only.
    """,
    refuted_by="A network whose loss after its last layer is not the smallest, or which does not begin to improve "
    "before its last layer.",
    method=r"""
        The answer after $K$ layers is $\langle w^K, x_t\rangle$ (Theorem 4.1). Its loss is measured after every layer
        of the trained networks. Falling is checked as: the last is the smallest, and before the last layer the loss is
        below that of predicting zero. Strict decline from every layer to the next is shown as a fact and not required:
        networks with the same final loss differ in it.
    """,
    quick="GD++ and DIAG, 2 to 5 layers",
    full="GD++, DIAG and FULL, up to 7 layers",
    seconds=110,
)
def loss_after_each_layer(lab: Lab) -> Evidence:
    """Loss against K, one curve per depth."""
    found = [networks(lab, LAW)] + ([networks(lab, LAW, "full")] if lab.budget == "full" else [])
    checks: list[Check] = []
    panels, rises = [], []
    for each in found:
        measured = each.measured
        for kind in ("gd++", "diag", "full"):
            names = sorted(name for name in each.models if name.split()[0] == kind and name.split()[1] != "1")
            series = []
            for name in names:
                layers = int(name.split()[1])
                losses = [measured.ordinary_mean(name, layer) for layer in range(1, layers + 1)]
                values, errors = zip(*losses, strict=True)
                series.append(Series(f"{layers} layers", tuple(range(1, layers + 1)), values, errors))
                rises += [f"{KINDS[kind]} {layers}" for a, b in itertools.pairwise(values) if b > a]
            if not names:
                continue
            panels.append(
                Panel(f"{KINDS[kind]}, {LAW_NAMES[LAW]}", Axis("layers passed, K"), Axis(LOSS, log=True), tuple(series))
            )
            checks += [_last_is_least(each, name) for name in names if name.startswith(("diag", "full"))]
    figure = Figure(
        "figure-5",
        "Figure 5: loss of the answer after K layers",
        "Each curve is one trained network, read after each of its layers; it ends at the network's own loss.",
        tuple(panels),
    )
    words = (
        "Layers that raise the loss of what could be read before: "
        + (", ".join(sorted(set(rises))) if rises else "none")
        + ". Weights that reach the same final loss can have very different curves, so these figures belong to the "
        "networks that were found, not to the task.",
    )
    return Evidence(tuple(checks), (figure,), words=words)


def _last_is_least(found, name: str) -> Check:
    """The largest ratio of the final loss to an earlier one."""
    layers = int(name.split()[1])
    final, final_error = found.measured.ordinary_mean(name)
    before, before_error = min(found.measured.ordinary_mean(name, layer) for layer in range(1, layers))
    ratio = final / before
    return at_most(
        f"{name.replace(' ', ', layers ')}: final loss over the smallest one before",
        ratio,
        1.0,
        error=ratio * ((final_error / final) ** 2 + (before_error / before) ** 2) ** 0.5,
        reason="The answer after the last layer should be the best of all, beyond standard errors.",
    )


@claim(
    "profiles-after-each-layer",
    paper="linear-transformer",
    where="Figure 7",
    title="Early layers fit high noise, later ones lower noise",
    statement=r"""
        Read after each layer, GD++ fits high noise first and lower noise later, as stopping gradient descent early
        does: the noise level at which its loss is smallest moves down with the layers. DIAG's early layers do the same.
    """,
    refuted_by="A network whose best noise level moves up from its first layer to its last.",
    method=r"""
        The loss after each layer of the trained networks at noise levels from 0 to 10. The noise level of smallest loss
        is found for each layer.
    """,
    quick="GD++ and DIAG, 2 to 5 layers, 4,096 contexts per level",
    full="GD++, DIAG and FULL, up to 7 layers, 32,768 contexts per level",
    seconds=110,
)
def profiles_after_each_layer(lab: Lab) -> Evidence:
    """Profiles layer by layer, and where each is lowest."""
    found = [networks(lab, LAW)] + ([networks(lab, LAW, "full")] if lab.budget == "full" else [])
    checks: list[Check] = []
    panels = []
    for each in found:
        measured = each.measured
        for kind in ("gd++", "diag", "full"):
            for layers in range(2, each.depth + 1):
                name = f"{kind} {layers}"
                if name not in each.models:
                    continue
                series = tuple(
                    profile_series(f"after {layer}", measured, name, layer, family=f"after {layer}")
                    for layer in range(1, layers + 1)
                )
                panels.append(Panel(f"{KINDS[kind]}, {layers} layers", SIGMA, PROFILE, series, shaded=(0.0, 5.0)))
                if kind != "full":
                    checks.append(_moves_down(measured, name, layers))
    figure = Figure(
        "figure-7",
        "Figure 7: loss at each noise level after each layer; shaded: noise levels of the training",
        "The first layers are best at high noise; with every layer the dip moves to lower noise, and in DIAG the last"
        " layers widen it to the whole range.",
        tuple(panels),
    )
    return Evidence(tuple(checks), (figure,))


def _moves_down(measured, name: str, layers: int) -> Check:
    first, last = (measured.sigmas[_argmin(measured.profile(name, layer)[0])] for layer in (1, layers))
    return at_least(
        f"{name.replace(' ', ', layers ')}: best noise level after the first layer, less that after the last",
        first - last,
        0.5,
        reason="Levels are half a unit apart: moving down is being at least one level lower at the end.",
    )


def _argmin(values: list[float]) -> int:
    return min(range(len(values)), key=lambda index: values[index])
