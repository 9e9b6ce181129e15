"""What a block can't put out because of its degree: more than three factors; and, without biases, fewer."""

from itertools import product as every
from math import ceil, gamma, log

import numpy as np

from ...programs import compile_program
from ...programs.language import Program
from .. import Evidence, Lab, Table, claim, equal
from ._formula import distance, drawn, output

DRAWS = 10
# Products of 2 x 2 blocks with so many factors are compiled.
FACTORS = (4, 5, 9)
# Plain attention is fitted on inputs of this shape, each drawn with its mirror image.
M, N, SAMPLES = 2, 3, 300


def share_of_all_signs(block, parts: list[np.ndarray]) -> np.ndarray:
    """The part of a block's output that changes sign with each of four parts of its input, which stand side by side."""
    found = 0.0
    for signs in every((1, -1), repeat=len(parts)):
        h = np.hstack([sign * part for sign, part in zip(signs, parts, strict=True)])
        found = found + np.prod(signs) * output(block, h)
    return np.asarray(found) / 2 ** len(parts)


def chain(count: int) -> Program:
    """The product of so many 2 x 2 matrices."""
    names = [f"A{index}" for index in range(count)]
    given = ", ".join(f'{name}: "2 2"' for name in names)
    return Program.from_text(f"def chain({given}):\n    return {' @ '.join(names)}\n")


@claim(
    "elsa-four-factors",
    paper="elsa",
    whose="derived",
    identity=True,
    where="The formula of a block: three factors, each affine in $H$; the summary names it as a limit",
    title="A product of four parts of $H$ takes more than one block of ELSA; two are enough",
    statement=r"""
        Every entry that one block puts out, with any number of heads, any biases and a residual, is a polynomial of
        degree three in $H$. Of a product $ABCD$ of four parts of $H$ it has nothing: where each part is as likely as
        its negative, independently, no block comes closer to $ABCD$ than zero does. Two blocks put it out (shown for
        $2\times2$ parts). $L$ blocks have degree $3^L$, so that $k$ factors need at least $\log_3 k$ of them.
    """,
    refuted_by={
        "one": "A block whose output has a part that changes sign with each of four parts of $H$.",
        "two": "Blocks for the product of four that are more than two, or not exact.",
        "many": "A product of $k$ factors by fewer than $\\log_3 k$ blocks.",
    },
    method=r"""
        Random blocks of four heads with biases and a residual: the average of $s_1s_2s_3s_4\,f(s_1A, s_2B, s_3C, s_4D)$
        over all signs, which leaves $ABCD$ as it is and nothing of a polynomial of degree three. It is the part of $f$
        that correlates with $ABCD$ under symmetric laws, so the mean square of $f - ABCD$ is at least that of $ABCD$.
        Products of four, five and nine $2\times2$ matrices, stored side by side, are compiled and run.
    """,
    quick="ten random blocks; products of four, five and nine factors",
    full="the same",
    seconds=5,
)
def four_factors(lab: Lab) -> Evidence:
    """The certificate on random blocks, and compiled products."""
    random = np.random.default_rng(lab.seed)
    left, three = 0.0, np.inf
    for _ in range(DRAWS):
        block, parts = drawn(2, 8, random, residual=True), list(random.standard_normal((4, 2, 2)))
        scale = np.abs(output(block, np.hstack(parts))).max()
        left = max(left, float(np.abs(share_of_all_signs(block, parts)).max() / scale))
        merged = [parts[0], parts[1], np.hstack(parts[2:])]
        three = min(three, float(np.abs(share_of_all_signs(block, merged)).max() / scale))
    rows = []
    for count in FACTORS:
        compiled, parts = compile_program(chain(count)), random.standard_normal((count, 2, 2))
        wanted = np.linalg.multi_dot(list(parts))
        found = next(iter(compiled.run({f"A{index}": part for index, part in enumerate(parts)}).values()))
        least = ceil(log(count, 3) - 1e-9)
        rows.append((count, least, compiled.sizes.blocks, compiled.sizes.heads, distance(np.asarray(found), wanted)))
    rounding = "Sums and differences of sixteen outputs, relative to the largest entry: rounding."
    decisive = "largest part of one block's output that changes sign with each of four parts"
    checks = (
        equal(decisive, left, 0.0, against="one", tolerance=1e-14, reason=rounding),
        equal("blocks for four factors", rows[0][2], 2, against="two", exact=True, tolerance=0.0, reason="Counted."),
        equal(
            "worst relative error of a compiled product",
            max(row[-1] for row in rows),
            0.0,
            against="two",
            tolerance=1e-14,
            reason="Rounding of a few dozen products.",
        ),
        equal(
            "products by fewer blocks than their degree needs",
            sum(row[2] < row[1] for row in rows),
            0,
            against="many",
            exact=True,
            tolerance=0.0,
            reason="Counted.",
        ),
    )
    columns = ("factors", "least blocks by degree", "blocks compiled", "heads", "relative error")
    words = (
        f"Of three parts the same blocks do have such a part: at least {three:.2g} of the largest entry. "
        f"The compiler is not always at the bound: nine factors take it {rows[-1][2]} blocks, because a cubic term "
        "multiplies three factors only if the middle one is stored transposed.",
    )
    table = Table("products", "Products of 2 × 2 matrices, compiled", columns, tuple(rows))
    return Evidence(checks, tables=(table,), words=words, headline=decisive)


def skip_floor(m: int, n: int) -> float:
    """The least share of a standard normal H (m x n) that a cubic form misses.

    Length r and direction of H are independent, and a cubic form is r^3 times a function of the direction: the best is
    a multiple of r^2 H, which explains E[r^4]^2 / (E[r^2] E[r^6]) = (mn + 2) / (mn + 4).
    """
    return 2 / (m * n + 4)


def missed(target: np.ndarray, degree: int, directions: np.ndarray) -> float:
    """The share of a form of this degree, given on directions (k, M, N), that no plain head can give in its row.

    What any number of heads give in the first row are the forms H_1a (H^T H)_bc. They are fitted on the directions;
    lengths are integrated by hand.
    """
    gram = np.swapaxes(directions, 1, 2) @ directions
    a, (b, c) = np.arange(N), np.triu_indices(N)
    forms = (directions[:, 0, a, None] * gram[:, None, b, c]).reshape(len(directions), -1)
    fitted = forms @ np.linalg.lstsq(forms, target)[0]
    explained = np.sum(fitted**2) / np.sum(target**2)
    return float(1 - explained * _length(3 + degree) ** 2 / (_length(6) * _length(2 * degree)))


def _length(power: int) -> float:
    """E r^power of the length r of a standard normal H (M x N), power even or odd."""
    return 2 ** (power / 2) * gamma((M * N + power) / 2) / gamma(M * N / 2)


@claim(
    "elsa-plain-cubic",
    paper="elsa",
    whose="derived",
    identity=True,
    where="The formula of plain attention: what the biases are for",
    title="Plain attention without a residual puts out cubic forms only: $\\mathrm{LSA}(cH) = c^3\\,\\mathrm{LSA}(H)$",
    statement=r"""
        Without biases and residual, every entry that a block puts out is a cubic form in $H$, with any number of heads;
        $L$ blocks give forms of degree $3^L$. So no plain block puts out a constant, $H$ itself, or a product of two
        parts of $H$. Where $H$ and $-H$ are equally likely it is no better than zero at the first and the last. Of a
        standard normal $H \in R^{m\times n}$ itself it misses at least $2/(mn+4)$, and with enough heads no more.
    """,
    refuted_by={
        "cubic": "Plain blocks that do not scale with the cube of the input.",
        "even": "A plain block better than zero at a constant or at a product of two entries.",
        "skip": "Another share of a standard normal $H$ than $2/(mn+4)$ that the best plain block misses.",
    },
    method=r"""
        Random plain blocks of four heads, one and two of them, at $H$ and $3H$. Then the best cubic form
        $\sum c_{abc} H_{1a}(H^\top H)_{bc}$, which is what any number of heads can give in the first row, is fitted by
        least squares to a constant, to $H_{11}H_{22}$ and to $H_{11}$, on random directions of $H$ with their mirror
        images; the length of a standard normal $H$ is independent of its direction and integrated by hand.
    """,
    quick="ten random blocks; 300 directions of a $2\\times3$ input and their mirror images",
    full="the same",
    seconds=3,
)
def plain_cubic(lab: Lab) -> Evidence:
    """Homogeneity, and what is missed of constants, products and H."""
    random, worst = np.random.default_rng(lab.seed), 0.0
    for _ in range(DRAWS):
        first, second = (drawn(M, N, random, bias=False) for _ in range(2))
        h = random.standard_normal((M, N))
        one, three = output(first, h), output(first, 3 * h)
        worst = max(worst, distance(three, 3**3 * one), distance(output(second, three), 3**9 * output(second, one)))
    half = random.standard_normal((SAMPLES, M, N))
    half /= np.linalg.norm(half, axis=(1, 2), keepdims=True)
    u = np.concatenate([half, -half])
    constant, of_two = missed(np.ones(len(u)), 0, u), missed(u[:, 0, 0] * u[:, 1, 1], 2, u)
    itself, floor = missed(u[:, 0, 0], 1, u), skip_floor(M, N)
    decisive = "largest relative difference between LSA(3H) and 27 LSA(H), and of two blocks' 3⁹"
    parity = "Features are odd, the target is even, and inputs come with their mirror images: rounding."
    checks = (
        equal(decisive, worst, 0.0, against="cubic", tolerance=1e-13, reason="Rounding of sums of products."),
        equal("share of a constant missed", constant, 1.0, against="even", tolerance=1e-12, reason=parity),
        equal("share of H₁₁H₂₂ missed", of_two, 1.0, against="even", tolerance=1e-12, reason=parity),
        equal(
            "share of H missed, beside 2/(mn + 4)",
            itself,
            floor,
            against="skip",
            tolerance=1e-13,
            reason="Lengths by hand, and on directions the best form is H itself: rounding.",
        ),
    )
    columns = ("target", "share missed", "by the formula")
    rows = (("a constant", constant, 1.0), ("H₁₁H₂₂", of_two, 1.0), ("H", itself, floor))
    table = Table("missed", "What the best plain block misses", columns, rows, f"Standard normal H of {M} × {N}.")
    words = (
        "With a residual a plain block is $H$ plus cubic forms: still odd in $H$, so that a constant and a product of "
        f"two stay out of reach. Of an $H$ of 20 rows and 7 columns plain attention without it misses "
        f"{skip_floor(20, 7):.3f}, of a single number {skip_floor(1, 1):.3f}.",
    )
    return Evidence(checks, tables=(table,), words=words, headline=decisive)
