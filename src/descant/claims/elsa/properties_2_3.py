"""Properties 2 and 3: a head that is a constant, and a head that is the input itself."""

import jax.numpy as jnp
import numpy as np

from ...programs.paper import constant, skip, times
from .. import Evidence, Lab, Table, claim, equal
from ._formula import SHAPES, distance, output

DRAWS = 10
# Two more shapes, as long and as short as they come.
ALL_SHAPES = (*SHAPES, (1, 4), (4, 1))
ROUNDING = "Sums of at most nine products of which one is not zero: rounding alone."
# Sweeps of alternating least squares, each of two exact solutions: twenty leave no digit to be won.
SWEEPS = 20


@claim(
    "elsa-property-2",
    paper="elsa",
    whose="paper",
    seen="summary",
    identity=True,
    where="Property 2",
    title="The biases of one head can put out any constant matrix",
    statement=r"""
        With all weights zero, the biases of one head give any constant: $B_3 B_1^\top B_2 = C$ for every
        $C \in R^{m\times n}$, whatever $H$ is and whichever of $m$ and $n$ is larger.
    """,
    refuted_by={"constant": "A shape, a constant or an input for which the head puts out anything but the constant."},
    method=r"""
        For $m \le n$, $B_3 = B_1 = [I\;0]$ and $B_2 = C$; otherwise $B_3 = C$ and $B_1 = B_2 = [I; 0]$ (the matrices
        are derived). The layer's formula, written out in NumPy, is evaluated for random $C$ and random $H$.
    """,
    quick="ten constants and inputs for each of three shapes",
    full="the same",
    seconds=3,
)
def property_2(lab: Lab) -> Evidence:
    """Random constants, for inputs that should not matter."""
    random, rows = np.random.default_rng(lab.seed), []
    for shape in SHAPES:
        worst = 0.0
        for _ in range(DRAWS):
            c = random.standard_normal(shape)
            worst = max(worst, distance(output(constant(jnp.asarray(c)).block, random.standard_normal(shape)), c))
        rows.append((*shape, "W = 0", worst))
    name = "worst difference from the constant"
    check = equal(name, max(row[-1] for row in rows), 0.0, tolerance=1e-15, reason=ROUNDING)
    table = Table("constants", "Constants", ("m", "n", "weights", "worst relative difference"), tuple(rows))
    return Evidence((check,), tables=(table,), headline=name)


def printed_form_misses(m: int, n: int, random: np.random.Generator) -> float:
    """The least mean square of an entry of H W3 B1^T B2 - H for standard normal H, by alternating least squares.

    It is |W3 B1^T B2 - I|^2 / n, and W3 B1^T B2 = L R with L (n x m) and R (m x n) arbitrary. In closed form it is
    max(0, 1 - m/n): the best matrix of rank m leaves n - m of the identity's singular values.
    """
    left, right = random.standard_normal((n, min(m, n))), np.zeros((min(m, n), n))
    for _ in range(SWEEPS):
        right = np.linalg.lstsq(left, np.eye(n))[0]
        left = np.linalg.lstsq(right.T, np.eye(n))[0].T
    return float(np.sum((left @ right - np.eye(n)) ** 2) / n)


@claim(
    "elsa-property-3",
    paper="elsa",
    whose="paper",
    seen="summary",
    identity=True,
    where="Property 3",
    title="A head can put out its input, a skip connection, if it has at least as many rows as columns",
    statement=r"""
        One set of weights gives $H W_3 B_1^\top B_2 = H$ for all $H \in R^{m\times n}$ with $m \ge n$. (The summary
        that could be read prints the form without a condition on the shape, and may well have $m \ge n$ in mind: for
        smaller $m$ see `elsa-property-3-shapes`.)
    """,
    refuted_by={"gives": "A shape with $m \\ge n$ for which the weights put out anything but $H$."},
    method=r"""
        $W_3 = I$ and $B_1 = B_2 = [I; 0]$ (derived) with the layer's formula written out in NumPy, on random inputs.
    """,
    quick="three shapes, ten inputs each",
    full="the same",
    seconds=2,
)
def property_3(lab: Lab) -> Evidence:
    """The printed form where it exists."""
    random = np.random.default_rng(lab.seed)
    rows = []
    for m, n in ALL_SHAPES:
        if m >= n:
            errors = [distance(output(skip(m, n).block, h), h) for h in random.standard_normal((DRAWS, m, n))]
            rows.append((m, n, max(errors)))
    name = "worst difference from H, shapes with m ≥ n"
    check = equal(name, max(row[-1] for row in rows), 0.0, tolerance=1e-15, reason=ROUNDING, printed="H W3 B1ᵀ B2 = H")
    table = Table("skip", "The skip connection", ("m", "n", "worst relative difference from H"), tuple(rows))
    return Evidence((check,), tables=(table,), headline=name)


@claim(
    "elsa-property-3-shapes",
    paper="elsa",
    whose="control",
    identity=True,
    where="Property 3, as printed, for shapes of every kind",
    title="The printed skip connection $HW_3B_1^\\top B_2 = H$ exists for $m \\ge n$, and for no smaller $m$",
    statement=r"""
        One set of weights with $H W_3 B_1^\top B_2 = H$ for all $H \in R^{m\times n}$ exists if $m \ge n$
        (`elsa-property-3`). If $m < n$, none does: $W_3 B_1^\top B_2$ has rank at most $m$ and would have to be the
        identity. The best weights of this form then miss $1 - m/n$ of the mean square of a standard normal $H$.
    """,
    refuted_by={
        "misses": "A shape for which the best weights of the printed form miss another share of $H$ "
        "than $\\max(0, 1 - m/n)$.",
    },
    method=r"""
        For every shape, the best weights of the printed form by alternating least squares, beside the closed form.
    """,
    quick="five shapes, two of them with fewer rows than columns",
    full="the same",
    seconds=3,
)
def property_3_shapes(lab: Lab) -> Evidence:
    """What the printed form misses, and where it misses nothing."""
    random = np.random.default_rng(lab.seed)
    rows = [(m, n, printed_form_misses(m, n, random), max(0.0, 1 - m / n)) for m, n in ALL_SHAPES]
    decisive = "largest difference between the share missed and max(0, 1 − m/n)"
    check = equal(
        decisive,
        max(abs(found - wanted) for *_, found, wanted in rows),
        0.0,
        tolerance=1e-14,
        reason="Exact solutions of linear least squares in turn: rounding.",
        printed="H W3 B1ᵀ B2 = H",
    )
    columns = ("m", "n", "share of H missed by the best weights", "1 − m/n")
    return Evidence(
        (check,),
        tables=(Table("skip", "The printed skip connection", columns, tuple(rows)),),
        words=(
            "The summary that could be read prints the form without a condition on the shape; it may well have "
            "$m \\ge n$ in mind. For one given $H$ there are weights for every shape (a projection onto its rows), but "
            "a head has to serve all $H$.",
        ),
        headline=decisive,
    )


@claim(
    "elsa-skip-any-shape",
    paper="elsa",
    whose="derived",
    identity=True,
    where="Property 3, completed",
    title="One of two forms of a head puts out $H$, and $HQ$ for every $Q$, whatever the shape",
    statement=r"""
        For every shape of $H$ one head puts out $H$ itself, and $HQ$ for every $Q$: $H W_3 B_1^\top B_2$ does for
        $m \ge n$, and $B_3 B_1^\top H W_2$ for $m \le n$.
    """,
    refuted_by={"carried": "A shape for which the form that should exist does not give $H$ or $HQ$."},
    method="Explicit weights against $H$ and $HQ$ on random inputs, with the layer's formula written out in NumPy.",
    quick="ten inputs and ten $Q$ for each of five shapes",
    full="the same",
    seconds=3,
)
def skip_any_shape(lab: Lab) -> Evidence:
    """H and H Q by one head."""
    random, rows = np.random.default_rng(lab.seed), []
    for m, n in ALL_SHAPES:
        worst = 0.0
        for _ in range(DRAWS):
            h, q = random.standard_normal((m, n)), random.standard_normal((n, n))
            worst = max(
                worst,
                distance(output(skip(m, n).block, h), h),
                distance(output(times(jnp.asarray(q), m).block, h), h @ q),
            )
        rows.append((m, n, "H W3 B1ᵀ B2" if m >= n else "B3 B1ᵀ H W2", worst))
    name = "worst difference from H and H Q"
    check = equal(
        name,
        max(row[-1] for row in rows),
        0.0,
        tolerance=1e-14,
        reason="Two orders of the same sums of at most nine products, relative to the largest: rounding.",
    )
    columns = ("m", "n", "form", "worst relative difference")
    return Evidence(
        (check,), tables=(Table("skip", "The skip connection as a head", columns, tuple(rows)),), headline=name
    )
