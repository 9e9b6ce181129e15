"""Figure 4: what the weights of a trained FULL network look like."""

from functools import cache

import numpy as np

from ...attention import Full
from .. import CONTROL, Check, Evidence, Figure, HeatMap, Lab, Table, at_least, claim
from ._dense import to_units
from ._networks import D, Networks, networks, notes, task_of

LAW, LAYERS = "1,3", 4
COORDINATES = (*(f"x{index}" for index in range(1, D + 1)), "y")
# The networks that are looked at: from random dense weights, and from DIAG with normal numbers in every place.
TRAINED = {"full": "from random dense weights", "near": "from DIAG plus dense noise"}
# The one whose start has nothing of DIAG's form.
JUDGED = "full"
# Of the squares of a random matrix of this size, DIAG's form holds two in 121.
NEARLY = 0.5


@claim(
    "weights-nearly-diagonal",
    paper="linear-transformer",
    whose="paper",
    seen="no equations",
    observed=True,
    where="Figure 4",
    title="A FULL network trained from dense weights becomes mostly diagonal, with inputs alike, but for its last P",
    statement=r"""
        In a four-layer FULL network trained on $\sigma \in \{1, 3\}$ from random dense weights, DIAG's form (diagonal,
        all inputs alike) holds more than half of the squares of each matrix $P$ and $Q$ but the last layer's $P$, with
        inputs and labels as the data have them. Of that $P$ only the last row counts, and of the row the form holds a
        tenth. (The parts of low rank that the paper sees beside it have a claim of their own,
        `weights-low-rank`.)
    """,
    refuted_by="A matrix, other than the last layer's $P$, of which DIAG's form holds less than half of the squares.",
    method=r"""
        FULL is trained by Adam from random dense weights, once: nothing in that start, nor in the training, prefers a
        diagonal or a low rank. Beside it, as a control, the training that began at the trained DIAG with normal numbers
        added in every place: there DIAG's form held most of every matrix to begin with. Each matrix is
        split into $\mathrm{diag}(a I, b)$, fitted by least squares, and the rest. Entries without effect (the last
        column of the last layer's $Q$) are left out. That "mostly" is a half of the squares, and that the last
        layer's $P$ is not judged, was set after a look at these networks.
    """,
    quick="two networks from a long run",
    full="two networks trained here, for eight times as long",
    seconds=4,
)
def weights_nearly_diagonal(lab: Lab) -> Evidence:
    """Heat maps, and shares of the squares."""
    checks, maps, rows, words, used = [], [], [], [], []
    for kind, origin in TRAINED.items():
        found, model = _network(lab, kind)
        used.append(found)
        in_units = to_units(model, task_of(LAW))
        shares = {}
        for name, values, there in _matrices(model, in_units):
            shares[name] = _shares(values)
            rows.append((origin, name, *shares[name], *_shares(there)))
            if kind == "full":
                scale = np.abs(values).max()
                title = f"{name} (largest entry {scale:.2g})"
                maps.append(HeatMap(title, tuple(map(tuple, values / scale)), COORDINATES, COORDINATES))
        row, _ = shares.pop(f"P, layer {LAYERS}")
        checks.append(_poorest(origin, shares, "" if kind == JUDGED else CONTROL))
        loss, error = found.measured.ordinary_mean(f"{kind} {LAYERS}")
        words.append(
            f"The network {origin} has a loss of {loss:.4f} ± {error:.4f}; DIAG's form alone holds "
            f"{np.mean([share for share, _ in shares.values()]):.0%} of the squares of a matrix on average, and "
            f"{row:.0%} of the last row of the last layer's P, which is not judged."
        )
    figure = Figure(
        "figure-4",
        "Figure 4: P and Q of a four-layer FULL network trained on σ ∈ {1, 3}; each scaled to its largest entry",
        "A diagonal of equal inputs with a label entry of its own, and rows or columns beside it, though the "
        "training began with random numbers everywhere. Of the last layer's P only the last row is used.",
        tuple(maps),
        columns=4,
    )
    table = Table(
        "shares",
        "Shares of the squares; in units of the labels' size, too",
        (
            "network",
            "matrix",
            "diag(a I, b)",
            "with a rest of rank two",
            "diag(a I, b), in units",
            "with rank two, in units",
        ),
        tuple(rows),
        "Labels are four times as large as inputs. Measured in units in which they are alike, entries that mix labels "
        "into inputs count sixteen times as much, and the diagonal of some matrices is less than half.",
    )
    judged = [row for row in rows if row[1] != f"P, layer {LAYERS}"]
    poor = [row for row in judged if row[4] < NEARLY]
    words.append(
        "The shares depend on the units: in those in which labels are as large as inputs, DIAG's form holds less than "
        f"half of {len(poor)} of {len(judged)} matrices."
    )
    words.append("The rest matters: the loss of FULL is below that of DIAG with as many layers (`diag-like-full`).")
    return Evidence(tuple(checks), (figure,), (table,), tuple(words), long_runs=notes(*used))


def _poorest(origin: str, shares: dict[str, tuple[float, float]], against: str) -> Check:
    poorest = min(shares, key=lambda name: shares[name][0])
    return at_least(
        f"{origin}: smallest share of the squares in DIAG's form ({poorest})",
        shares[poorest][0],
        NEARLY,
        against=against,
        reason="Mostly is read as more than half; of a random matrix the form would hold a sixtieth.",
    )


@claim(
    "weights-low-rank",
    paper="linear-transformer",
    whose="paper",
    seen="no equations",
    observed=True,
    where="Figure 4",
    title="What FULL's matrices have beside the diagonal is of low rank",
    statement=r"""
        In a four-layer FULL network trained on $\sigma \in \{1, 3\}$, what the matrices $P$ and $Q$ have beside DIAG's
        form is of low rank. Read as: of each matrix, its two largest singular values hold more of its squares than in
        95 of 100 random matrices.
    """,
    refuted_by="A matrix whose rest is no nearer to rank two than one random matrix in twenty.",
    method=r"""
        The networks and the split of `weights-nearly-diagonal`. Random matrices have independent normal entries and
        the same shape: that of the last layer's $Q$ has a column less. That rank two, and a random matrix, are what low
        rank is measured by was set after a look at these networks.
    """,
    quick="two networks from a long run",
    full="two networks trained here, for eight times as long",
    seconds=4,
)
def weights_low_rank(lab: Lab) -> Evidence:
    """How much of the rest two singular values hold, beside random matrices."""
    checks, rows, used = [], [], []
    for kind, origin in TRAINED.items():
        found, model = _network(lab, kind)
        used.append(found)
        its = []
        for name, values, _ in _matrices(model, model):
            if name != f"P, layer {LAYERS}":
                form, both = _shares(values)
                usual = _usual(int((np.abs(values).sum(axis=0) > 0).sum()))
                its.append((origin, name, 1 - form, (both - form) / (1 - form), usual))
        rows += its
        _, name, _, held, usual = min(its, key=lambda row: row[3] - row[4])
        checks.append(
            at_least(
                f"{origin}: share of the rest that two singular values hold, beside random matrices ({name})",
                held,
                usual,
                reason="95 of 100 random matrices hold less; the matrix nearest to them. A network has no error.",
            )
        )
    short = [row for row in rows if row[3] <= row[4]]
    words = (
        f"In {len(rows) - len(short)} of {len(rows)} matrices the rest is nearer to rank two than in 95 of 100 random "
        "ones. The others: "
        + (
            "; ".join(f"{n}, {o}: {r:.0%} of its squares, {h:.0%} by two ({u:.0%})" for o, n, r, h, u in short)
            or "none"
        )
        + ".",
    )
    table = Table(
        "rests",
        "What is beside DIAG's form",
        (
            "network",
            "matrix",
            "its share of the squares",
            "two singular values hold",
            "95 of 100 random hold less than",
        ),
        tuple(rows),
    )
    return Evidence(tuple(checks), tables=(table,), words=words, long_runs=notes(*used))


def _network(lab: Lab, kind: str) -> tuple[Networks, Full]:
    found = networks(lab, LAW, kind)
    model = found.models[f"{kind} {LAYERS}"]
    assert isinstance(model, Full)
    return found, model


@cache
def _usual(columns: int) -> float:
    """What two singular values hold of the squares of a random matrix, at most in 95 of 100."""
    random = np.random.default_rng(0).standard_normal((20_000, D + 1, columns))
    singular = np.linalg.svd(random, compute_uv=False) ** 2
    return float(np.quantile(singular[:, :2].sum(1) / singular.sum(1), 0.95))


def _matrices(model: Full, in_units: Full):
    """Name and entries of every matrix, as they are and in units; what the last layer can't use is zero."""
    for layer in range(LAYERS):
        for name in ("P", "Q"):
            both = [np.array(getattr(each, name.lower())[layer, 0]) for each in (model, in_units)]
            for values in both:
                if layer == LAYERS - 1:
                    # Only the label of the query is read.
                    values[slice(None, -1) if name == "P" else slice(None), slice(None) if name == "P" else -1] = 0.0
            yield f"{name}, layer {layer + 1}", *both


def _shares(matrix: np.ndarray) -> tuple[float, float]:
    """How much of the squares diag(a I, b) holds, and how much together with the rest's two largest singular values."""
    inputs = np.diag(matrix)[:-1].mean()
    form = np.diag(np.append(np.full(D, inputs), matrix[-1, -1]))
    total = np.sum(matrix**2)
    rest = np.sum((matrix - form) ** 2)
    largest = np.linalg.svd(matrix - form, compute_uv=False)[:2]
    return float(1 - rest / total), float(1 - (rest - np.sum(largest**2)) / total)
