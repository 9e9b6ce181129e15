"""Figure 4: what the weights of a trained FULL network look like."""

import numpy as np

from ...attention import Full
from .. import Evidence, Figure, HeatMap, Lab, Table, at_least, claim
from ._networks import D, networks

LAW, LAYERS = "1,3", 4
COORDINATES = (*(f"x{index}" for index in range(1, D + 1)), "y")


@claim(
    "weights-nearly-diagonal",
    paper="linear-transformer",
    where="Figure 4",
    title="The weights of a trained FULL network are diagonal, plus parts of low rank",
    statement=r"""
        In a four-layer FULL network trained on $\sigma \in \{1, 3\}$, the matrices $P$ and $Q$ of each layer are close
        to diagonal with all inputs alike (DIAG's form), up to parts of low rank.
    """,
    refuted_by="Matrices whose part outside of DIAG's form is as large as the diagonal one and has no low rank.",
    method=r"""
        FULL is trained from the best network found that is DIAG but for two input directions (axial), so this claim is
        about where the loss leads from there. Each matrix is split into $\mathrm{diag}(a I, b)$, fitted by least
        squares, and the rest. Measured is how much of the matrices' squares the diagonal form holds, together with the
        two largest singular values of the rest. Entries that have no effect (rows of the last layer's $P$ and the last
        column of its $Q$) are left out.
    """,
    quick="one network",
    full="one network, trained on more contexts",
    seconds=230,
)
def weights_nearly_diagonal(lab: Lab) -> Evidence:
    """Heat maps, and shares of the squares."""
    model = networks(lab, LAW, "full").models[f"full {LAYERS}"]
    assert isinstance(model, Full)
    maps, rows, held, with_rank = [], [], [], []
    for layer in range(LAYERS):
        for name, matrix in (("P", model.p[layer, 0]), ("Q", model.q[layer, 0])):
            values = np.array(matrix)
            if layer == LAYERS - 1:
                # In the last layer only the label of the query is read.
                if name == "P":
                    values[:-1] = 0.0
                else:
                    values[:, -1] = 0.0
            diagonal, low = _shares(values)
            held.append(diagonal)
            with_rank.append(low)
            rows.append((f"{name}, layer {layer + 1}", diagonal, low))
            scale = np.abs(values).max()
            maps.append(
                HeatMap(
                    f"{name}, layer {layer + 1} (largest entry {scale:.2g})",
                    tuple(map(tuple, values / scale)),
                    COORDINATES,
                    COORDINATES,
                )
            )
    checks = (
        at_least(
            "share of the squares in DIAG's form and a rest of rank two, mean over the matrices",
            float(np.mean(with_rank)),
            0.8,
            reason="Low rank is read as two: of a random rest of this size they would hold about a third.",
        ),
    )
    figure = Figure(
        "figure-4",
        "Figure 4: P and Q of a four-layer FULL network trained on σ ∈ {1, 3}; each scaled to its largest entry",
        "A diagonal of equal inputs with a label entry of its own, and where two input directions (the last ones) meet "
        "the label, a block of low rank. Rows that the last layer can't use are blank.",
        tuple(maps),
        columns=4,
    )
    table = Table(
        "shares",
        "Shares of the squares",
        ("matrix", "diag(a I, b)", "with a rest of rank two"),
        tuple(rows),
    )
    poorest, share = min(zip((row[0] for row in rows), held, strict=True), key=lambda pair: pair[1])
    words = (
        f"DIAG's form alone holds {np.mean(held):.0%} of the squares on average, and of one matrix ({poorest}) "
        f"{share:.0%}: the parts of low rank are not faint. They let input directions mix with the label.",
        "Where FULL ends depends on where it starts. Here that is an axial network, in which two directions are free, "
        "and training stops where contexts held out gain no more.",
    )
    return Evidence(checks, (figure,), (table,), words)


def _shares(matrix: np.ndarray) -> tuple[float, float]:
    """How much of the squares diag(a I, b) holds, and how much together with the rest's two largest singular values."""
    inputs = np.diag(matrix)[:-1].mean()
    form = np.diag(np.append(np.full(D, inputs), matrix[-1, -1]))
    total = np.sum(matrix**2)
    rest = np.sum((matrix - form) ** 2)
    largest = np.linalg.svd(matrix - form, compute_uv=False)[:2]
    return float(1 - rest / total), float(1 - (rest - np.sum(largest**2)) / total)
