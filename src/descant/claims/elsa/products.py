"""Property 4 and the product of three matrices: blocks of H multiplied by one head, and what H must be for it."""

from collections.abc import Callable

import jax.numpy as jnp
import numpy as np

from ...programs.paper import Part, Primitive, product_ab, product_abt, product_abtc, product_atb
from .. import Check, Evidence, Lab, Table, at_least, claim, equal
from ._formula import SHAPES, distance, filled, output, placed

DRAWS = 10
ROUNDING = "Sums of at most nine products, relative to the largest entry: rounding."
JUNK = 1e-3
# Blocks: A above on the left; B, and beside it C, below.
A, B, C = Part(1, 0, 3, 2), Part(4, 2, 2, 2), Part(4, 4, 2, 2)


def _tried(
    head: Callable[[int, int], Primitive], parts: list[Part], product: Callable, top: int, left: int, seed: int
) -> tuple[float, float, float]:
    """Worst error where the conditions hold; with one more row of H not zero, the least junk and the worst surprise.

    The row is the last one, outside of every block. Expected is that the head multiplies whole columns of H.
    """
    random = np.random.default_rng(seed)
    clean, junk, surprise = 0.0, np.inf, 0.0
    for shape in SHAPES:
        primitive = head(*shape)
        for _ in range(DRAWS):
            h, blocks = filled(shape, parts, random)
            assert all(condition.holds for condition in primitive.conditions(jnp.asarray(h)))
            wanted = placed(product(*blocks), shape, top, left)
            clean = max(clean, distance(output(primitive.block, h), wanted))
            h[-1, :] = random.standard_normal(shape[1])
            found = output(primitive.block, h)
            junk = min(junk, distance(found, wanted))
            surprise = max(surprise, distance(found, _whole_columns(h, parts, product, primitive.formula, top, left)))
    return clean, junk, surprise


def _whole_columns(
    h: np.ndarray, parts: list[Part], product: Callable, formula: str, top: int, left: int
) -> np.ndarray:
    """What the head computes for any H: rows are masked only where a bias stands for them."""
    whole = [h[:, part.column_range] for part in parts]
    if formula == "A^T B":
        return placed(whole[0].T @ whole[1], h.shape, top, left)
    match formula:
        case "A B":
            value = whole[0] @ h[parts[1].row_range, parts[1].column_range]
        case "A B^T":
            value = whole[0] @ h[parts[1].row_range, parts[1].column_range].T
        case _:
            value = whole[0] @ (whole[1].T @ whole[2])
    return placed(value, h.shape, 0, left)


def _checks(name: str, clean: float, junk: float, surprise: float) -> list[Check]:
    return [
        equal(
            f"{name}: worst difference from the product",
            clean,
            0.0,
            against="product",
            tolerance=1e-14,
            reason=ROUNDING,
        ),
        equal(
            f"{name}: with another row of H not zero, worst difference from the product of whole columns",
            surprise,
            0.0,
            against="junk",
            tolerance=1e-14,
            reason="Rounding again, relative to the largest entry.",
        ),
        at_least(
            f"{name}: with another row of H not zero, least difference from the product",
            junk,
            JUNK,
            against="needed",
            reason="A thousandth of the largest entry is far above rounding.",
        ),
    ]


COLUMNS = ("product", "form", "worst difference, conditions met", "least difference, one more row not zero")
REFUTED = {
    "product": "Blocks that meet the conditions and are not multiplied exactly.",
    "junk": "An input that breaks the conditions and is not multiplied as whole columns.",
    "needed": "Another row that is not zero and does no harm.",
}


@claim(
    "elsa-property-4",
    paper="elsa",
    whose="paper",
    seen="summary",
    identity=True,
    where="Property 4; its conditions, $AB$ and $AB^\\top$ are derived",
    title="A head multiplies two blocks of $H$, if the rows beside them are zero",
    statement=r"""
        One head of ELSA multiplies two blocks of $H$: $A^\top B$ by mask-and-move on $H^\top H$ (the paper's form: $AB$
        with $A^\top$ stored), and $AB$ and $AB^\top$ with $A$ and $B$ stored. With the weights here it is exact under
        conditions: for $A^\top B$ both blocks have the same rows and no other row is non-zero in the columns of both;
        for the others $A$'s columns are zero outside its rows. Otherwise the head multiplies whole columns of $H$.
    """,
    refuted_by=REFUTED,
    method=r"""
        Explicit 0-1 weights (derived) with the layer's formula in NumPy, on random blocks in inputs of three shapes.
        Then a further row of $H$ is filled, and the output compared with the product of whole columns.
    """,
    quick="ten inputs for each product and shape",
    full="the same",
    seconds=4,
)
def property_4(lab: Lab) -> Evidence:
    """A^T B, A B, A B^T: exact where the conditions hold, whole columns elsewhere."""
    tried = {
        ("AᵀB", "B3 (H W1)ᵀ(H W2)"): _tried(
            lambda m, n: product_atb(m, n, B, C, 1, 0), [B, C], lambda a, b: a.T @ b, 1, 0, lab.seed
        ),
        ("A B", "(H W3) B1ᵀ (H W2)"): _tried(
            lambda m, n: product_ab(m, n, A, B, 5), [A, B], lambda a, b: a @ b, A.top, 5, lab.seed
        ),
        ("A Bᵀ", "(H W3)(H W1)ᵀ B2"): _tried(
            lambda m, n: product_abt(m, n, A, B, 5), [A, B], lambda a, b: a @ b.T, A.top, 5, lab.seed
        ),
    }
    checks = [check for (name, _), errors in tried.items() for check in _checks(name, *errors)]
    rows = tuple((*names, errors[0], errors[1]) for names, errors in tried.items())
    return Evidence(
        tuple(checks),
        tables=(Table("products", "Products by one head, relative differences", COLUMNS, rows),),
        headline="AᵀB: worst difference from the product",
    )


@claim(
    "elsa-three-matrices",
    paper="elsa",
    whose="paper",
    seen="summary",
    identity=True,
    where="Abstract: multiplications of three matrices; the conditions are derived",
    title="Plain attention multiplies three blocks of $H$, the middle one stored transposed",
    statement=r"""
        Without any bias, one head of linear self-attention computes $A B^\top C$ of three blocks of $H$ (hence $ABC$
        with $B^\top$ stored), if $A$'s columns are zero outside its rows, and $B$ and $C$ have the same rows, with no
        other row non-zero in the columns of both.
    """,
    refuted_by={**REFUTED, "plain": "Weights that need a bias."},
    method="Explicit 0-1 weights, biases zero, with the layer's formula in NumPy, "
    "on random blocks in inputs of three shapes.",
    quick="ten inputs for each of three shapes",
    full="the same",
    seconds=3,
)
def three_matrices(lab: Lab) -> Evidence:
    """A B^T C by weights alone."""
    errors = _tried(
        lambda m, n: product_abtc(m, n, A, B, C, 5), [A, B, C], lambda a, b, c: a @ b.T @ c, A.top, 5, lab.seed
    )
    block = product_abtc(*SHAPES[0], A, B, C, 5).block
    biases = max(float(np.abs(np.asarray(bias)).max()) for bias in (block.b1, block.b2, block.b3) if bias is not None)
    checks = [
        *_checks("A Bᵀ C", *errors),
        equal(
            "largest bias", biases, 0.0, against="plain", exact=True, tolerance=0.0, reason="Plain attention has none."
        ),
    ]
    rows = (("A Bᵀ C", "(H W3)(H W1)ᵀ(H W2)", errors[0], errors[1]),)
    return Evidence(
        tuple(checks),
        tables=(Table("product", "Three blocks by one plain head", COLUMNS, rows),),
        headline="A Bᵀ C: worst difference from the product",
    )
