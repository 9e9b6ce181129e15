"""Figure 1: loss against depth."""

from .. import Check, Evidence, Figure, Lab, Table, at_least, at_most, claim
from ._measured import Measured
from ._networks import networks, notes
from ._pictures import depth_panel
from ._printed import LAW_NAMES, printed_networks, printed_ridge

LAWS = tuple(f"uniform:{top}" for top in range(1, 8))
# Laws of which the paper says it.
LARGE = tuple(f"uniform:{top}" for top in range(4, 8))
MATCHES = 1.1


@claim(
    "loss-against-depth",
    paper="linear-transformer",
    whose="paper",
    seen="no equations",
    observed=True,
    where="Figure 1 and its discussion",
    title="For wide ranges of noise, deeper DIAG networks beat AdaRR; GD++ stays at ConstRR",
    statement=r"""
        With noise levels from $U(0, \sigma_{\max})$ and $\sigma_{\max} \ge 4$, the loss of DIAG falls with every layer
        up to five, while GD++ stays at the best constant ridge (ConstRR) from three layers on, and four layers of DIAG
        beat ridge regression with the estimated noise (AdaRR). (Of narrower ranges nothing is claimed: on $U(0, 1)$
        our GD++ still falls, to ConstRR, from three layers to five.)
    """,
    refuted_by={
        "falls": "A depth of two to five layers at which DIAG's loss is not below that of one layer less.",
        "stays": "GD++ networks that lose more than 3% from three layers to five, or are more than 3% above ConstRR.",
        "AdaRR": "A law with $\\sigma_{\\max} \\ge 4$ at which four layers of DIAG are not below AdaRR.",
    },
    method="Trained networks, measured on fresh contexts beside the ridge regressions and the Bayes optimum on the "
    "same contexts; ratios have paired errors.",
    quick="U(0, 4) to U(0, 7), networks from a long run, up to 5 layers (7 for U(0, 5)), measured again",
    full="the same, up to 7 layers, trained here",
    seconds=12,
)
def loss_against_depth(lab: Lab) -> Evidence:
    """Figure 1's panels and the sentences about them."""
    checks: list[Check] = []
    panels, used = [], []
    for law in LARGE:
        found = networks(lab, law)
        used.append(found)
        panels.append(depth_panel(law, [found]))
        checks += _checks(law, found.measured)
    figure = Figure(
        "figure-1",
        "Figure 1: adjusted loss against the number of layers",
        "DIAG falls with every layer, below AdaRR at four layers; GD++ reaches ConstRR and stays.",
        tuple(panels),
    )
    return Evidence(tuple(checks), (figure,), headline=checks[-1].name, long_runs=notes(*used))


def _checks(law: str, measured: Measured) -> list[Check]:
    at = LAW_NAMES[law]
    steps = {layers: measured.ratio(f"diag {layers}", f"diag {layers - 1}") for layers in range(2, 6)}
    worst = max(steps, key=lambda layers: steps[layers].value)
    still, ada = measured.ratio("gd++ 5", "gd++ 3"), measured.ratio("diag 4", "ada")
    const = measured.ratio("gd++ 5", "const")
    return [
        at_most(
            f"DIAG: largest ratio of a depth's loss to that of one layer less ({worst} layers), {at}",
            steps[worst].value,
            1.0,
            error=steps[worst].error,
            freedom=steps[worst].freedom,
            reason="Falling with every layer, beyond standard errors.",
            against="falls",
        ),
        at_least(
            f"GD++: loss of five layers over that of three, {at}",
            still.value,
            0.97,
            error=still.error,
            freedom=still.freedom,
            reason="Staying is read as losing less than 3% by two further layers.",
            against="stays",
        ),
        at_most(
            f"GD++: loss of five layers over ConstRR's, {at}",
            const.value,
            1.03,
            error=const.error,
            freedom=const.freedom,
            reason="At ConstRR is read as within 3%; below it GD++ can't be.",
            against="stays",
        ),
        at_most(
            f"DIAG with four layers over AdaRR, {at}",
            ada.value,
            1.0,
            error=ada.error,
            freedom=ada.freedom,
            reason="Beating is being below, beyond standard errors.",
            printed=f"{printed_networks('diag', law)[3] / printed_ridge('ada', law):.2f}",
            against="AdaRR",
        ),
    ]


@claim(
    "match-tuned",
    paper="linear-transformer",
    whose="paper",
    seen="no equations",
    observed=True,
    where="Figure 1 and its discussion, which speak of five layers or more",
    title="Five layers match TunedRR at every range of noise levels",
    statement=r"""
        Networks of five layers or more match or beat the tuned ridge regression (TunedRR). Judged for DIAG with five
        layers, trained on $U(0, \sigma_{\max})$, at each range of Figure 1: that the paper means all of them, and five
        layers of DIAG among its networks, is our reading.
    """,
    refuted_by="A range at which five layers of DIAG are more than a tenth above TunedRR.",
    method="DIAG networks of five layers and TunedRR, whose two constants are tuned on other contexts, measured on the "
    "same fresh contexts; ratios have paired errors. Matching is read as within a tenth.",
    quick="U(0, 1) to U(0, 7), networks from a long run, measured again",
    full="the same, trained here",
    seconds=15,
)
def match_tuned(lab: Lab) -> Evidence:
    """Five layers over TunedRR, by the range of the noise."""
    checks, rows, used = [], [], []
    for law in LAWS:
        found = networks(lab, law)
        used.append(found)
        ratio = found.measured.ratio("diag 5", "tuned")
        ridge, printed = printed_ridge("tuned", law), printed_networks("diag", law)
        best = min(min(printed_networks(kind, law)[4:]) for kind in ("diag", "full"))
        deepest, loss = found.depth, found.measured.ordinary_mean(f"diag {found.depth}")[0]
        over = loss / found.measured.ordinary_mean("tuned")[0]
        rows.append((LAW_NAMES[law], ratio.value, ratio.error, printed[4] / ridge, best / ridge, deepest, over))
        checks.append(
            at_most(
                f"DIAG with five layers over TunedRR, {LAW_NAMES[law]}",
                ratio.value,
                MATCHES,
                error=ratio.error,
                freedom=ratio.freedom,
                reason="Matching is read as within a tenth: the paper's own DIAG networks are 4% above TunedRR at "
                "U(0, 5), and 11% at U(0, 4).",
                printed=f"{printed[4] / ridge:.2f}",
            )
        )
    table = Table(
        "tuned",
        "Losses over that of TunedRR",
        (
            "noise",
            "DIAG, 5 layers",
            "±",
            "the same, printed",
            "best printed network of 5 to 7 layers",
            "our deepest DIAG, layers",
            "its loss over TunedRR's",
        ),
        tuple(rows),
    )
    missed = [check for check in checks if check.outcome == "refutes"]
    words = (
        f"Of {len(checks)} ranges five layers of DIAG miss TunedRR in {len(missed)}, those with the least noise. The "
        "paper's Table 1 says the same of DIAG; FULL with five layers is printed as matching at $U(0, 1)$. At "
        f"$U(0, 2)$ DIAG is printed {_printed_ratio('diag'):.1f} times and FULL {_printed_ratio('full'):.1f} times as "
        "high, and of "
        "all printed networks only FULL with seven layers reaches TunedRR there.",
    )
    return Evidence(tuple(checks), tables=(table,), words=words, long_runs=notes(*used))


def _printed_ratio(kind: str) -> float:
    """Five layers over TunedRR, as printed for U(0, 2)."""
    return printed_networks(kind, "uniform:2")[4] / printed_ridge("tuned", "uniform:2")
