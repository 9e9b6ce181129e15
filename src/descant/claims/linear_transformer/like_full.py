"""DIAG beside FULL, depth by depth."""

from typing import NamedTuple

from .. import Check, Evidence, Figure, Lab, Panel, Table, at_least, claim
from ._networks import Networks, is_shipped, networks, notes
from ._pictures import depth_panel
from ._printed import LAW_NAMES, PRINTED_LAWS, printed_networks

# At the quick budget, the laws for which FULL networks were shipped.
LAWS = ("uniform:5", "1,3", "1,3,5")
UNIFORM = ("uniform:5",)
UNIFORM_LAWS = tuple(law for law in PRINTED_LAWS if law.startswith("uniform:"))
MATCHES = 0.9
METHOD = r"""
    Networks with three layers or more, FULL trained by Adam from random dense weights, and networks that are DIAG
    but for two input directions (axial), which are FULL networks too; the better of the two counts. Both kinds are
    measured on the same fresh contexts, and ratios have paired errors. With one layer the two kinds are equal, with
    two their printed losses are.
"""


@claim(
    "diag-like-full-uniform",
    paper="linear-transformer",
    whose="paper",
    seen="no equations",
    observed=True,
    where="Figure 1 and its discussion",
    title="DIAG matches FULL of the same depth on uniform noise levels",
    statement=r"""
        With noise levels from $U(0, \sigma_{\max})$, DIAG networks, with four numbers a layer, perform as well as FULL
        networks of the same depth, whose matrices have $2 (d + 1)^2$ entries a layer. Judged on $U(0, 5)$ with three
        and four layers: no FULL network of ours has a loss more than a tenth below that of DIAG.
    """,
    refuted_by="A depth at which a FULL network has a loss more than a tenth below that of DIAG.",
    method=METHOD,
    quick="U(0, 5), networks from a long run, measured again",
    full="U(0, 1) to U(0, 7), up to four layers, trained here",
    seconds=10,
)
def diag_like_full_uniform(lab: Lab) -> Evidence:
    """Ratios of FULL's losses to DIAG's on uniform noise."""
    found = _beside(lab, lab.pick(UNIFORM, UNIFORM_LAWS))
    told = "; ".join(
        f"{law}, {layers} layers: {value:.2f} ({network}), printed {printed:.2f}"
        for law, layers, value, _, network, printed in found.rows
    )
    words = (
        f"The best FULL network that we found over DIAG: {told}. A FULL network that does no better than DIAG says "
        "little: Adam from dense weights, or a few pushes off DIAG, may miss what is there. One that does better is "
        "enough.",
        f"Of uniform noise, printed ratios below nine tenths: {_printed_below(UNIFORM_LAWS)}.",
    )
    return Evidence(tuple(found.checks), (found.figure,), (found.table,), words, long_runs=notes(*found.used))


@claim(
    "diag-like-full",
    paper="linear-transformer",
    whose="extension",
    where="Beyond Figure 1, where DIAG and FULL are alike on uniform noise",
    title="DIAG matches FULL of the same depth on every noise law, within a tenth",
    statement=r"""
        DIAG networks, with four numbers a layer, perform as well as FULL networks of the same depth, whose matrices
        have $2 (d + 1)^2$ entries a layer: on every noise law and at every depth their losses differ by less than a
        tenth. (Of uniform noise this is the paper's, `diag-like-full-uniform`; on $\{1, 3\}$ it finds FULL better
        itself, `categorical-noise`.)
    """,
    refuted_by="A law and a depth at which a FULL network has a loss more than a tenth below that of DIAG.",
    method=METHOD,
    quick="U(0, 5), {1, 3} and {1, 3, 5}, networks from a long run, measured again",
    full="all laws, trained here",
    seconds=12,
)
def diag_like_full(lab: Lab) -> Evidence:
    """Ratios of FULL's losses to DIAG's on all laws."""
    found = _beside(lab, lab.pick(LAWS, PRINTED_LAWS))
    same = [row for row in found.rows if row[2] >= MATCHES]
    words = (
        f"The two match in {len(same)} of {len(found.rows)} cases: "
        + ("; ".join(f"{law}, {layers} layers ({value:.2f})" for law, layers, value, *_ in same) or "none")
        + ". It depends on the law.",
        f"Printed ratios below nine tenths: {_printed_below(PRINTED_LAWS)}.",
    )
    return Evidence(tuple(found.checks), (found.figure,), (found.table,), words, long_runs=notes(*found.used))


def _printed_below(laws: tuple[str, ...]) -> str:
    """Where the paper's own table has FULL clearly below DIAG."""
    return "; ".join(
        f"{LAW_NAMES[law]}, {layers} layers ({both:.2f})"
        for law in laws
        for layers in range(3, 8)
        if (both := printed_networks("full", law)[layers - 1] / printed_networks("diag", law)[layers - 1]) < MATCHES
    )


class _Beside(NamedTuple):
    """FULL over DIAG on some laws: checks, what is drawn and listed, and the networks."""

    checks: list[Check]
    rows: list[tuple[str, int, float, float, str, float]]
    figure: Figure
    table: Table
    used: list[Networks]


def _beside(lab: Lab, laws: tuple[str, ...]) -> _Beside:
    checks: list[Check] = []
    rows: list[tuple[str, int, float, float, str, float]] = []
    panels: list[Panel] = []
    used: list[Networks] = []
    for law in laws:
        diag = networks(lab, law)
        kinds = [kind for kind in ("full", "axial") if lab.budget == "full" or is_shipped(law, kind)]
        others = [networks(lab, law, kind) for kind in kinds]
        used += [diag, *others]
        panels.append(depth_panel(law, [diag, *others]))
        for layers in range(3, diag.depth + 1):
            names = [(found, f"{kind} {layers}") for found, kind in zip(others, kinds, strict=True)]
            known = [(found, name) for found, name in names if name in found.models]
            if not known:
                continue
            ratios = {name: found.measured.ratio(name, f"diag {layers}", other=diag.measured) for found, name in known}
            best = min(ratios, key=lambda name: ratios[name].value)
            printed = printed_networks("full", law)[layers - 1] / printed_networks("diag", law)[layers - 1]
            rows.append((LAW_NAMES[law], layers, ratios[best].value, ratios[best].error, best.split()[0], printed))
            checks.append(
                at_least(
                    f"FULL ({best.split()[0]}) over DIAG, {layers} layers, {LAW_NAMES[law]}",
                    ratios[best].value,
                    MATCHES,
                    error=ratios[best].error,
                    freedom=ratios[best].freedom,
                    reason="Matching is read as less than a tenth apart; FULL contains DIAG, so that it could only be "
                    "below.",
                    printed=f"{printed:.2f}",
                )
            )
    table = Table(
        "ratios",
        "Loss of FULL over that of DIAG",
        ("noise", "layers", "ours", "±", "our network", "printed"),
        tuple(rows),
    )
    return _Beside(checks, rows, Figure("kinds", "DIAG and FULL", "Losses by depth.", tuple(panels)), table, used)
