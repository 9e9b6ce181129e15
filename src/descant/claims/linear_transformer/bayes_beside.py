"""The Bayes optimum beside everything in the paper's tables."""

from .. import Axis, Check, Evidence, Figure, Lab, Panel, Series, Table, at_least, at_most, claim
from ._measured import ratio
from ._networks import networks
from ._pictures import LOSS, RIDGES
from ._printed import LAW_NAMES, PRINTED_LAWS, printed_networks, printed_ridge

QUICK_LAWS = ("uniform:5", "1,3")


@claim(
    "bayes-beside",
    paper="linear-transformer",
    where="Figure 1, Table 1; the optimum itself is not in the paper",
    title="How far from optimal: the Bayes estimator beside all of them",
    statement=r"""
        The paper compares networks with ridge regressions. The best possible answer is the posterior mean, which weighs
        the ridge solutions of all noise levels by their probability given the context. For uniform noise the deepest
        DIAG networks come within some tens of percent of it, below AdaRR and near TunedRR; for two levels, $\{1, 3\}$,
        it is several times better than anything the paper has with five layers.
    """,
    refuted_by="A network or ridge regression below the Bayes loss, or distances of another size.",
    method=r"""
        $\hat w = \sum_\sigma p(\sigma \mid X, y)\,(X^\top X + \sigma^2 I)^{-1} X^\top y$, exact for finitely many
        levels, by adaptive quadrature for uniform ones; all are measured on the same fresh contexts.
    """,
    quick="U(0, 5) and {1, 3}, networks up to 5 layers",
    full="all ten laws, networks up to 7 layers",
    seconds=180,
)
def bayes_beside(lab: Lab) -> Evidence:
    """Losses over Bayes' loss."""
    laws = lab.pick(QUICK_LAWS, tuple(law for law in PRINTED_LAWS if law != "0"))
    checks: list[Check] = []
    rows, curves = [], {}
    for law in laws:
        found = networks(lab, law)
        measured, depth = found.measured, found.depth
        best, best_error = measured.mean("bayes")
        losses = {RIDGES[name]: measured.mean(name) for name in ("const", "ada", "tuned")}
        losses |= {f"DIAG {layers}": measured.ordinary_mean(f"diag {layers}") for layers in range(1, depth + 1)}
        smallest = min(losses, key=lambda name: losses[name][0])
        checks.append(
            at_least(
                f"smallest loss of all ({smallest}) over Bayes', {LAW_NAMES[law]}",
                losses[smallest][0] / best,
                1.0,
                error=ratio(losses[smallest], (best, best_error))[1],
                reason="No estimator that sees only the context is below the posterior mean.",
            )
        )
        deepest = losses[f"DIAG {depth}"]
        if law.startswith("uniform"):
            checks.append(
                at_most(
                    f"deepest DIAG over Bayes', {LAW_NAMES[law]}",
                    deepest[0] / best,
                    1.5,
                    error=ratio(deepest, (best, best_error))[1],
                    reason="Tens of percent is read as less than half.",
                    printed=f"{printed_networks('diag', law)[depth - 1]:g} (loss)",
                )
            )
        elif law == "1,3":
            checks.append(
                at_least(
                    f"deepest DIAG over Bayes', {LAW_NAMES[law]}",
                    deepest[0] / best,
                    2.0,
                    error=ratio(deepest, (best, best_error))[1],
                    reason="Several times is read as twice at least.",
                    printed=f"{printed_networks('diag', law)[depth - 1]:g} (loss)",
                )
            )
        curves[law] = [losses[f"DIAG {layers}"][0] / best for layers in range(1, depth + 1)]
        for name, loss in {**losses, "Bayes": (best, best_error)}.items():
            short = next((key for key, label in RIDGES.items() if label == name and key != "bayes"), None)
            printed = printed_ridge(short, law) if short else None
            if name.startswith("DIAG"):
                printed = printed_networks("diag", law)[int(name.split()[1]) - 1]
            rows.append((LAW_NAMES[law], name, *loss, printed, loss[0] / best))
    figure = Figure(
        "bayes-beside",
        "Distance from the optimum",
        "A ratio of 1 is the optimum. For uniform noise five layers are near it; for two levels there is far to go.",
        (
            Panel(
                "DIAG, loss over the Bayes optimum's",
                Axis("layers"),
                Axis(f"{LOSS} / that of Bayes", log=True),
                tuple(
                    Series(LAW_NAMES[law], tuple(range(1, len(values) + 1)), tuple(values))
                    for law, values in curves.items()
                ),
            ),
        ),
    )
    table = Table(
        "losses",
        "Losses, and how far from the optimum",
        ("noise", "estimator", "loss", "±", "paper", "over Bayes'"),
        tuple(rows),
    )
    return Evidence(tuple(checks), (figure,), (table,))
