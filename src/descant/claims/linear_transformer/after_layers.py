"""Figures 5 and 7: what the network would answer if it ended early."""

import itertools

from .. import Axis, Check, Evidence, Figure, Lab, Panel, Series, Table, at_least, at_most, claim
from ._measured import Measured
from ._networks import Networks, is_shipped, networks, notes
from ._pictures import KINDS, LOSS, SIGMA, profile_series
from ._printed import LAW_NAMES

LAW = "uniform:5"
MOST_LAYERS = 5
# Networks explode at noise levels that they were not trained on: there an axis would show nothing else.
WITHIN = Axis(LOSS, log=True, limits=(0.01, 30.0))
# A noise level far above those that were trained, at which FULL should get worse.
HIGH = 7.0


@claim(
    "loss-after-each-layer",
    paper="linear-transformer",
    whose="paper",
    seen="no equations",
    observed=True,
    where="Figure 5",
    title="The loss falls with every layer that is passed",
    statement=r"""
        In networks of each depth trained on $\sigma \sim U(0, 5)$, the answer that can be read after $K$ layers
        improves as $K$ grows, though they are trained on the last layer's answer only. Judged for GD++ and DIAG with 2
        to 5 layers and FULL with up to 4, which reach the printed losses.
    """,
    refuted_by="A trained network whose loss is larger after some layer than after the one before.",
    method=r"""
        The answer after $K$ layers is $\langle w^K, x_t\rangle$ (Theorem 4.1). Its loss is measured after every layer
        of the trained networks; ratios of one layer's to that before have paired errors.
    """,
    quick="GD++ and DIAG, 2 to 5 layers, and FULL where there is one; networks from a long run, measured again",
    full="the same, trained here",
    seconds=8,
)
def loss_after_each_layer(lab: Lab) -> Evidence:
    """Loss against K, one curve per depth."""
    found = _all(lab)
    checks, panels, rises = [], [], []
    for each in found:
        for kind in KINDS:
            names = _names(each, kind)
            if not names:
                continue
            panels.append(_curves(each, kind, names))
            worst = {name: _largest_step(each.measured, name) for name in names}
            rises += [f"{KINDS[kind]} {name.split()[1]}" for name in names if worst[name].outcome == "refutes"]
            checks += worst.values()
    figure = Figure(
        "figure-5",
        "Figure 5: loss of the answer after K layers",
        "Each curve is one trained network, read after each of its layers; it ends at the network's own loss.",
        tuple(panels),
    )
    words = (
        f"Networks with a layer that raises the loss of what could be read before: {', '.join(rises) or 'none'}; the "
        f"other {len(checks) - len(rises)} fall with every layer, and so may the paper's own. Weights that reach the "
        "same final loss can have very different curves: a curve belongs to the network that was found, not to the "
        "loss. What all of ours have in common is that the last answer is the best (claim `last-answer-best`).",
    )
    return Evidence(tuple(checks), (figure,), words=words, long_runs=notes(*found))


@claim(
    "last-answer-best",
    paper="linear-transformer",
    whose="extension",
    where="Figure 5",
    title="In our DIAG and FULL networks on U(0, 5) the last answer is the best, and far better than any before",
    statement=r"""
        In each of our DIAG and FULL networks of 2 to 5 layers trained on $\sigma \sim U(0, 5)$, the answer after the
        last layer has less than half of the loss of every answer that could be read before.
    """,
    refuted_by="A network whose loss after its last layer is more than half of the smallest one before.",
    method="As in claim `loss-after-each-layer`. The claim was written after a look at these networks: it is what they "
    "have in common.",
    quick="networks from a long run, measured again",
    full="networks trained here",
    seconds=8,
)
def last_answer_best(lab: Lab) -> Evidence:
    """The final loss over the smallest before."""
    found = _all(lab)
    checks, rows = [], []
    for each in found:
        for name in [*_names(each, "diag"), *_names(each, "full")]:
            layers = int(name.split()[1])
            values = [each.measured.ordinary_mean(name, layer)[0] for layer in range(1, layers)]
            before = values.index(min(values)) + 1
            ratio = each.measured.ratio(name, name, layers=(layers, before))
            rows.append((_title(name), before, min(values), *each.measured.ordinary_mean(name), ratio.value))
            checks.append(
                at_most(
                    f"{_title(name)}: final loss over the smallest one before",
                    ratio.value,
                    0.5,
                    error=ratio.error,
                    freedom=ratio.freedom,
                    reason="Far better is read as less than half.",
                )
            )
    table = Table(
        "last", "The last answer", ("network", "best layer before", "its loss", "final loss", "±", "ratio"), tuple(rows)
    )
    return Evidence(tuple(checks), tables=(table,), long_runs=notes(*found))


@claim(
    "profiles-after-each-layer",
    paper="linear-transformer",
    whose="paper",
    seen="no equations",
    observed=True,
    where="Figure 7",
    title="GD++ fits high noise first and lower noise later, layer by layer",
    statement=r"""
        Read after each layer, GD++ fits high noise first and lower noise later, as stopping gradient descent early
        does: the noise level at which its loss is smallest never moves up from a layer to the next, and is lower after
        the last than after the first.
    """,
    refuted_by={
        "up": "A layer of GD++ after which the best noise level is higher than before.",
        "still": "A GD++ network whose best noise level is not lower after its last layer than after its first.",
    },
    method=r"""
        The loss after each layer of the trained networks at noise levels from 0 to 10, and the level at which it is
        smallest.
    """,
    quick="2 to 5 layers, networks from a long run, 4,096 contexts per level",
    full="the same, trained here, 32,768 contexts per level",
    seconds=8,
)
def profiles_after_each_layer(lab: Lab) -> Evidence:
    """Profiles layer by layer, and where each is lowest."""
    found = networks(lab, LAW)
    checks = []
    for name in _names(found, "gd++"):
        checks += [_never_up(found.measured, name, "up"), _moves_down(found.measured, name, "still")]
    return _evidence([found], ("gd++",), checks, ())


@claim(
    "diag-and-full-after-each-layer",
    paper="linear-transformer",
    whose="paper",
    seen="no equations",
    observed=True,
    where="Figure 7",
    title="DIAG's layers go from high noise to low, FULL's the other way",
    statement=r"""
        Read after each layer, DIAG's early layers behave like GD++'s, fitting high noise first and lower noise later,
        layer by layer. FULL fits low noise first, and its fit at high noise becomes worse at the end. Judged for DIAG
        with 3 to 5 layers and FULL with up to 4, trained on $\sigma \sim U(0, 5)$, which reach the printed losses.
    """,
    refuted_by={
        "DIAG": "A layer of DIAG before the last after which the best noise level is higher than before.",
        "FULL first": "A FULL network whose best noise level is not lower after its first layer than after its last.",
        "FULL last": f"A FULL network whose last layer lowers its loss at the high noise level {HIGH:g}.",
    },
    method="As in claim `profiles-after-each-layer`; FULL networks are those trained from random dense weights.",
    quick="DIAG with 3 to 5 layers, FULL with 3 and 4; networks from a long run, 4,096 contexts per level",
    full="the same, trained here, 32,768 contexts per level",
    seconds=8,
)
def diag_and_full_after_each_layer(lab: Lab) -> Evidence:
    """The same of DIAG and FULL."""
    found = _all(lab)
    diag, full = found[0], found[1]
    checks = [_never_up(diag.measured, name, "DIAG", last=False) for name in _names(diag, "diag") if name != "diag 2"]
    for name in _names(full, "full"):
        levels = _best_levels(full.measured, name)
        checks.append(
            at_least(
                f"{_title(name)}: best noise level after the last layer, less that after the first",
                levels[-1] - levels[0],
                0.5,
                reason="Levels are half a unit apart.",
                against="FULL first",
            )
        )
        place = full.measured.sigmas.index(HIGH)
        before, after = (full.measured.profile(name, len(levels) - back) for back in (1, 0))
        checks.append(
            at_least(
                f"{_title(name)}: loss at σ = {HIGH:g} after the last layer, less that before it",
                after[0][place] - before[0][place],
                0.0,
                error=(before[1][place] ** 2 + after[1][place] ** 2) ** 0.5,
                reason="Becoming worse is having a larger loss, beyond standard errors.",
                against="FULL last",
            )
        )
    words = (
        "In the deeper DIAG networks the best noise level moves both ways between the first layer and the last, and "
        "our FULL networks, trained by Adam from random dense weights, go from high noise to low as GD++ does. Layers "
        "before the last are not what a network is trained on: other weights of the same loss may go another way.",
        "What holds of DIAG is weaker: from the first layer to the last its best noise level moves down in each "
        "network.",
    )
    return _evidence(found, ("diag", "full"), checks, words)


def _all(lab: Lab) -> list[Networks]:
    found = [networks(lab, LAW)]
    return [*found, networks(lab, LAW, "full")] if lab.budget == "full" or is_shipped(LAW, "full") else found


def _names(found: Networks, kind: str) -> list[str]:
    """Networks of a kind with 2 to 5 layers."""
    return [name for name in (f"{kind} {layers}" for layers in range(2, MOST_LAYERS + 1)) if name in found.models]


def _title(name: str) -> str:
    kind, layers = name.split()
    return f"{KINDS[kind]}, layers {layers}"


def _curves(found: Networks, kind: str, names: list[str]) -> Panel:
    series = []
    for name in names:
        layers = tuple(range(1, int(name.split()[1]) + 1))
        values, errors = zip(*(found.measured.ordinary_mean(name, layer) for layer in layers), strict=True)
        series.append(Series(f"{len(layers)} layers", layers, values, errors))
    return Panel(f"{KINDS[kind]}, {LAW_NAMES[LAW]}", Axis("layers passed, K"), Axis(LOSS, log=True), tuple(series))


def _largest_step(measured: Measured, name: str) -> Check:
    """The largest ratio of the loss after a layer to that after the one before."""
    steps = {
        layer: measured.ratio(name, name, layers=(layer, layer - 1)) for layer in range(2, int(name.split()[1]) + 1)
    }
    worst = max(steps, key=lambda layer: steps[layer].value)
    return at_most(
        f"{_title(name)}: largest loss after a layer over that before ({worst})",
        steps[worst].value,
        1.0,
        error=steps[worst].error,
        freedom=steps[worst].freedom,
        reason="Improving with every layer is staying below 1, beyond standard errors.",
    )


def _best_levels(measured: Measured, name: str) -> list[float]:
    """After each layer, the noise level of smallest loss."""
    layers = range(1, int(name.split()[1]) + 1)
    return [measured.sigmas[_argmin(measured.profile(name, layer)[0])] for layer in layers]


def _never_up(measured: Measured, name: str, against: str, *, last: bool = True) -> Check:
    levels = _best_levels(measured, name)
    shown = levels if last else levels[:-1]
    return at_most(
        f"{_title(name)}: largest move up of the best noise level ({', '.join(f'{level:g}' for level in levels)})",
        max(after - before for before, after in itertools.pairwise(shown)),
        0.0,
        reason="Levels are half a unit apart; moving up by one counts.",
        against=against,
    )


def _moves_down(measured: Measured, name: str, against: str) -> Check:
    levels = _best_levels(measured, name)
    return at_least(
        f"{_title(name)}: best noise level after the first layer, less that after the last",
        levels[0] - levels[-1],
        0.5,
        reason="Levels are half a unit apart: moving down is being at least one level lower at the end.",
        against=against,
    )


def _evidence(found: list[Networks], kinds: tuple[str, ...], checks: list[Check], words: tuple[str, ...]) -> Evidence:
    panels = []
    for each, kind in itertools.product(found, kinds):
        for name in _names(each, kind):
            series = tuple(
                profile_series(f"after {layer}", each.measured, name, layer, family=f"after {layer}")
                for layer in range(1, int(name.split()[1]) + 1)
            )
            panels.append(Panel(_title(name), SIGMA, WITHIN, series, shaded=(0.0, 5.0)))
    figure = Figure(
        "figure-7",
        "Figure 7: loss at each noise level after each layer; shaded: noise levels of the training",
        "Where a curve is lowest is the noise level that the answer after so many layers fits best.",
        tuple(panels),
    )
    return Evidence(tuple(checks), (figure,), words=words, long_runs=notes(*found))


def _argmin(values: list[float]) -> int:
    return min(range(len(values)), key=lambda index: values[index])
