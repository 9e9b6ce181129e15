"""Properties 2 and 3: a head that is a constant, and a head that is the input itself."""

import jax.numpy as jnp
import numpy as np

from ...programs.paper import constant, skip, times
from .. import Evidence, Lab, Table, claim, equal, shown
from ._formula import SHAPES, distance, output

DRAWS = 10
ROUNDING = "Sums of at most nine products of which one is not zero: rounding alone."


@claim(
    "elsa-property-2",
    paper="elsa",
    where="Property 2",
    title="A head can put out any constant matrix",
    statement=r"""
        With all weights zero, the biases of one head give any constant: $B_3 B_1^\top B_2 = C$ for every
        $C \in R^{m\times n}$, whatever $H$ is and whichever of $m$ and $n$ is larger.
    """,
    refuted_by="A shape or a constant that no biases give.",
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
    check = equal(
        "worst difference from the constant", max(row[-1] for row in rows), 0.0, tolerance=1e-14, reason=ROUNDING
    )
    table = Table("constants", "Constants", ("m", "n", "weights", "worst relative difference"), tuple(rows))
    return Evidence((check,), tables=(table,))


@claim(
    "elsa-property-3",
    paper="elsa",
    where="Property 3",
    title="A head can be the skip connection",
    statement=r"""
        One head can put out $H$ itself, and $HQ$ for every $Q$, for every shape of $H$. The form $H W_3 B_1^\top B_2$,
        as printed, does it for $m \ge n$. For $m < n$ it can't, because $B_1^\top B_2$ has rank at most $m$; there
        $B_3 B_1^\top H W_2$ does it.
    """,
    refuted_by="A shape for which neither form gives $H$, or a shape with $m<n$ for which the first does.",
    method=r"""
        The form that exists for the shape, by explicit weights (derived), against $H$ and $HQ$ on random inputs, with
        the layer's formula written out in NumPy. The rank of $W_3 B_1^\top B_2$ for random matrices, which is the
        largest there is, beside the $n$ it needs.
    """,
    quick="ten inputs for each of three shapes",
    full="the same",
    seconds=3,
)
def property_3(lab: Lab) -> Evidence:
    """H and H Q by one head; the rank of the printed form."""
    random, rows, printed = np.random.default_rng(lab.seed), [], []
    for m, n in SHAPES:
        worst = 0.0
        for _ in range(DRAWS):
            h, q = random.standard_normal((m, n)), random.standard_normal((n, n))
            worst = max(
                worst,
                distance(output(skip(m, n).block, h), h),
                distance(output(times(jnp.asarray(q), m).block, h), h @ q),
            )
        w3, b1, b2 = (random.standard_normal(shape) for shape in ((n, n), (m, n), (m, n)))
        rank = int(np.linalg.matrix_rank(w3 @ b1.T @ b2))
        printed.append((rank == n) == (m >= n))
        rows.append((m, n, "H W3 B1ᵀ B2" if m >= n else "B3 B1ᵀ H W2", worst, rank, "yes" if rank == n else "no"))
    checks = (
        equal("worst difference from H and H Q", max(row[3] for row in rows), 0.0, tolerance=1e-14, reason=ROUNDING),
        shown(
            "the printed form has the rank it needs exactly where m ≥ n",
            all(printed),
            reason="Ranks of random matrices are the largest possible, with probability one.",
            printed="H W3 B1ᵀ B2 = H",
        ),
    )
    columns = ("m", "n", "form", "worst relative difference", "rank of W3 B1ᵀ B2", "printed form possible")
    return Evidence(
        checks,
        tables=(Table("skip", "The skip connection as a head", columns, tuple(rows)),),
        words=(
            "As far as the text could be read, the paper prints the first form; it may well have $m \\ge n$ in mind.",
        ),
    )
