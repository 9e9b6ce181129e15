"""Property 1: mask-and-move."""

import numpy as np

from ...programs.paper import Part, mask_and_move
from .. import Evidence, Figure, HeatMap, Lab, Table, claim, equal
from ._formula import SHAPES, distance, placed

DRAWS = 40


def _draw(shape: tuple[int, int], random: np.random.Generator) -> tuple[Part, int, int]:
    """A random block and a random place for it."""
    rows, columns = (int(random.integers(1, size)) for size in shape)
    tops, lefts = (random.integers(0, size - part + 1, 2) for size, part in zip(shape, (rows, columns), strict=True))
    return Part(int(tops[0]), int(lefts[0]), rows, columns), int(tops[1] - tops[0]), int(lefts[1] - lefts[0])


@claim(
    "elsa-property-1",
    paper="elsa",
    whose="paper",
    seen="summary",
    identity=True,
    where="Property 1",
    title="Two 0-1 matrices cut any block out of a matrix and move it to any place it fits",
    statement=r"""
        For every block of a matrix $A$ and every place it fits into, there are 0-1 matrices $W$ and $V$ such that $WAV$
        has the block in that place and zeros elsewhere. Key and value weights do this to $H^\top H$:
        $W_1^\top (H^\top H) W_2$.
    """,
    refuted_by={
        "moved": "A block and a place for which $WAV$ is anything else.",
        "gram": "A block of $H^\\top H$ that the weights of key and value move anywhere else.",
    },
    method=r"""
        $W = \sum_r e_{r+a} e_r^\top$ and $V = \sum_c e_c e_{c+b}^\top$ (derived), applied to random matrices of three
        shapes for random blocks and moves, and to $H^\top H$ by way of $HW_1$ and $HW_2$; compared with slicing.
    """,
    quick="40 random blocks and moves for each of three shapes",
    full="the same",
    seconds=3,
)
def property_1(lab: Lab) -> Evidence:
    """Random blocks, moved by products and by slicing."""
    random = np.random.default_rng(lab.seed)
    rows, gram, example = [], 0.0, None
    for shape in SHAPES:
        worst = 0.0
        for _ in range(DRAWS):
            part, down, right = _draw(shape, random)
            matrix = random.standard_normal(shape)
            w, v = (np.asarray(each) for each in mask_and_move(shape, part, down, right))
            block = matrix[part.row_range, part.column_range]
            wanted = placed(block, shape, part.top + down, part.left + right)
            worst = max(worst, distance(w @ matrix @ v, wanted))
            if part.rows * part.columns >= 6 and down and right:
                example = matrix, w @ matrix @ v
        rows.append((f"{shape[0]} × {shape[1]}", DRAWS, worst))
        # On H^T H: the left matrix is the transpose of the key's weights.
        size = shape[1]
        part, down, right = _draw((size, size), random)
        h = random.standard_normal(shape)
        w, v = (np.asarray(each) for each in mask_and_move((size, size), part, down, right))
        block = (h.T @ h)[part.row_range, part.column_range]
        found = (h @ w.T).T @ (h @ v)
        gram = max(gram, distance(found, placed(block, (size, size), part.top + down, part.left + right)))
    assert example is not None
    reason = "Products with zeros and ones are exact in floating point."
    checks = (
        equal(
            "worst difference from slicing",
            max(row[-1] for row in rows),
            0.0,
            against="moved",
            tolerance=0.0,
            reason=reason,
        ),
        equal(
            "worst difference on the Gram matrix, through key and value weights",
            gram,
            0.0,
            against="gram",
            tolerance=1e-14,
            reason="Two orders of the same sums of at most nine products, relative to the largest: rounding.",
        ),
    )
    figure = Figure(
        "mask-and-move",
        "A block, cut out and moved",
        "The product on the right has one block of the matrix on the left in another place, and zeros elsewhere.",
        tuple(
            HeatMap(title, tuple(map(tuple, values.tolist())))
            for title, values in zip(("A", "W A V"), example, strict=True)
        ),
    )
    table = Table("moves", "Random moves", ("shape of A", "moves tried", "worst relative difference"), tuple(rows))
    return Evidence(checks, (figure,), (table,), headline="worst difference from slicing")
