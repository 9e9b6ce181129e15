"""Figure 1: loss against depth."""

import itertools

from .. import Check, Evidence, Figure, Lab, at_least, at_most, claim
from ._networks import networks
from ._pictures import depth_panel
from ._printed import LAW_NAMES, PRINTED_LAWS, printed_ridge

QUICK_LAWS = ("uniform:5", "0")


@claim(
    "loss-against-depth",
    paper="linear-transformer",
    where="Figure 1 and its discussion",
    title="Deeper diagonal networks adapt to the noise; GD++ does not",
    statement=r"""
        With noise levels from $U(0, \sigma_{\max})$, the loss of DIAG falls with every layer, while GD++ stays at the
        best constant ridge (ConstRR). For $\sigma_{\max} \ge 4$ four layers beat ridge regression with the estimated
        noise (AdaRR), and five layers match the tuned one (TunedRR).
    """,
    refuted_by="A layer that does not lower DIAG's loss, a GD++ that keeps falling, or four (five) layers above AdaRR"
    " (TunedRR).",
    method="Trained networks, measured on fresh contexts beside the ridge regressions and the Bayes optimum on the "
    "same contexts.",
    quick="U(0, 5) up to 5 layers, no noise up to 3; GD++ and DIAG",
    full="U(0, 0) to U(0, 7) up to 7 layers; GD++, DIAG and FULL",
    seconds=140,
)
def loss_against_depth(lab: Lab) -> Evidence:
    """Figure 1's panels and the sentences about them."""
    laws = lab.pick(QUICK_LAWS, tuple(law for law in PRINTED_LAWS if "," not in law))
    checks: list[Check] = []
    panels = []
    for law in laws:
        found = [networks(lab, law)]
        if lab.budget == "full":
            found.append(networks(lab, law, "full"))
        panels.append(depth_panel(law, found))
        measured = found[0].measured
        if law.startswith("uniform") and float(law[-1]) >= 4:
            checks += _checks(law, measured, found[0].depth)
    figure = Figure(
        "figure-1",
        "Figure 1: adjusted loss against the number of layers",
        "DIAG falls with every layer, below AdaRR at four layers and to TunedRR at five; GD++ reaches ConstRR and "
        "stays. Without noise both fall faster than exponentially.",
        tuple(panels),
    )
    return Evidence(tuple(checks), (figure,))


def _checks(law: str, measured, depth: int) -> list[Check]:
    at = LAW_NAMES[law]
    losses = [measured.ordinary_mean(f"diag {layers}") for layers in range(1, depth + 1)]
    ratios = [after[0] / before[0] for before, after in itertools.pairwise(losses)]
    worst = max(range(len(ratios)), key=lambda index: ratios[index])
    ratio_error = ratios[worst] * sum((e / v) ** 2 for v, e in losses[worst : worst + 2]) ** 0.5
    third, third_error = measured.ordinary_mean("gd++ 3")
    last, last_error = measured.ordinary_mean(f"gd++ {depth}")
    four, four_error = measured.ordinary_mean("diag 4")
    five, five_error = measured.ordinary_mean("diag 5")
    ada, ada_error = measured.mean("ada")
    tuned, tuned_error = measured.mean("tuned")
    return [
        at_most(
            f"DIAG: largest ratio of a depth's loss to that of one layer less, {at}",
            ratios[worst],
            1.0,
            error=ratio_error,
            reason="Falling with every layer, beyond standard errors.",
        ),
        at_least(
            f"GD++: loss of the deepest over that of three layers, {at}",
            last / third,
            0.97,
            # Both are measured on the same contexts, and their errors are almost the same.
            error=abs(last_error - third_error) / third,
            reason="Staying is read as losing less than 3% by all further layers.",
        ),
        at_most(
            f"DIAG with four layers against AdaRR, {at}",
            four,
            ada,
            error=four_error,
            bound_error=ada_error,
            reason="Beating is being below, beyond standard errors.",
            printed=f"{printed_ridge('ada', law):g} (AdaRR)",
        ),
        at_most(
            f"DIAG with five layers against TunedRR, relative, {at}",
            five / tuned,
            1.1,
            error=five / tuned * ((five_error / five) ** 2 + (tuned_error / tuned) ** 2) ** 0.5,
            reason="Matching is read as within 10%: the paper's own five-layer DIAG networks are 4% above TunedRR at "
            "U(0, 5) and 11% above it at U(0, 4).",
            printed=f"{printed_ridge('tuned', law):g} (TunedRR)",
        ),
    ]
