"""How many blocks a step of descent takes on the natural input."""

import jax.numpy as jnp
import numpy as np

from ...attention import ELSABlock
from ...programs.paper import ridge_as_elsa
from .. import Evidence, Lab, Table, at_least, claim, equal
from ._descent import Ridge, draw
from ._formula import distance, drawn, output

# Samples and dimensions: fewer samples than dimensions, and more.
SIZES = ((2, 3), (4, 2), (9, 4))
DRAWS = 5
STEPS = 20


def natural(problem: Ridge, w: np.ndarray) -> np.ndarray:
    """[X y 0 0 0; 0 0 w x_query 0], as the construction of two blocks takes it."""
    n, d = problem.x.shape
    h = np.zeros((n + d, d + 4))
    h[:n, :d], h[:n, d], h[n:, d + 1], h[n:, d + 2] = problem.x, problem.y, w, problem.query
    return h


def mixed(step, problems: tuple[Ridge, Ridge], w: np.ndarray) -> tuple[float, float]:
    """How much of a step's row of w_1 depends on the samples by way of w_2; and its largest entry, for scale.

    It is the part that is odd in w_2, in the one problem less in the other.
    """
    mirrored = w * np.where(np.arange(len(w)) == 1, -1, 1)
    rows = [np.concatenate([step(problem, w), step(problem, mirrored)]) for problem in problems]
    odd = [(row[: len(row) // 2] - row[len(row) // 2 :]) / 2 for row in rows]
    return float(np.abs(odd[0] - odd[1]).max()), float(np.abs(rows).max())


def floor(n: int, d: int, eta: float, lam: float, sigma: float) -> float:
    """The least share of w - eta (X^T (X w - y) + lam w) that one block misses, X, w and the task standard normal.

    The part eta sum_{j != k} (X^T X)_{kj} w_j of entry k has mean square eta^2 (d - 1) n and is orthogonal to all that
    a block has in that row: what is odd in w_j there does not depend on X.
    """
    square = n * n + 2 * n  # the mean square of (X^T X)_kk
    own = (1 - eta * lam) ** 2 - 2 * (1 - eta * lam) * eta * n + eta**2 * square
    lost, labels = eta**2 * (d - 1) * n, eta**2 * (square + (d - 1) * n + sigma**2 * n)
    return lost / (own + lost + labels)


def block_of(heads: list[dict[str, np.ndarray]], rows: int, columns: int) -> ELSABlock:
    """A block of heads that say which of their matrices are not zero."""
    shapes = {"w": (columns, columns), "b": (rows, columns)}
    w1, w2, w3, b1, b2, b3 = (
        jnp.asarray(np.stack([head.get(name, np.zeros(shapes[name[0]])) for head in heads]))
        for name in ("w1", "w2", "w3", "b1", "b2", "b3")
    )
    return ELSABlock(w1, w2, w3, b1, b2, b3)


def keep(right: np.ndarray, rows: int) -> dict[str, np.ndarray]:
    """H times a constant, by the form that exists for this shape."""
    eye = np.eye(rows, len(right))
    return {"w3": right, "b1": eye, "b2": eye} if rows >= len(right) else {"b3": eye, "b1": eye, "w2": right}


def one_dimension(n: int, eta: float, lam: float) -> ELSABlock:
    """For d = 1 one block takes the step: w (1 - eta lam) - eta w (x^T x) + eta x^T y, one head for each term."""
    rows, columns, label, w = n + 1, 5, 1, 2
    unit, below = np.eye(columns), np.eye(rows)[n]
    key = np.outer(unit[0], unit[0])
    heads = [
        keep(np.eye(columns) - eta * lam * np.outer(unit[w], unit[w]), rows),
        {"w3": np.outer(unit[w], unit[0]), "w1": key, "w2": -eta * np.outer(unit[0], unit[w])},
        {"b3": np.outer(below, unit[0]), "w1": key, "w2": eta * np.outer(unit[label], unit[w])},
    ]
    return block_of(heads, rows, columns)


def carried(n: int, d: int, eta: float, lam: float) -> ELSABlock:
    """One step per block, from H with the residual r = X w - y in its last column, which is updated with w.

    w <- (1 - eta lam) w - eta X^T r and r <- (1 - eta lam) r - eta lam y - eta X X^T r.
    """
    rows, columns, label, w, scratch = n + d, d + 4, d, d + 1, d + 3
    unit = np.eye(columns)
    x = np.diag(np.arange(columns) < d).astype(float)
    shrunk = np.outer(unit[w], unit[w]) + np.outer(unit[scratch] + unit[label], unit[scratch])
    below = np.zeros((rows, columns))
    below[n:, :d] = np.eye(d)
    heads = [
        keep(np.eye(columns) - eta * lam * shrunk, rows),
        {"b3": below, "w1": x, "w2": -eta * np.outer(unit[scratch], unit[w])},
        {"w3": x, "w1": x, "w2": -eta * np.outer(unit[scratch], unit[scratch])},
    ]
    return block_of(heads, rows, columns)


@claim(
    "elsa-blocks-per-step",
    paper="elsa",
    whose="extension",
    identity=True,
    where="Section 3.5: two blocks per iteration on the natural input",
    title="For $d \\ge 2$ one block takes no ridge step on the natural input; $T + 1$ blocks are enough for $T$",
    statement=r"""
        On $H = [X\;y\;0\;0\;0;\;0\;0\;w\;x_q\;0]$ with $d \ge 2$ no single block, with any number of heads, any biases
        and a residual, puts out $w - \eta(X^\top(Xw-y) + \lambda w)$ in the rows of $w$: of $(X^\top X)_{kj}w_j$, $j
        \ne k$, it has nothing. For standard normal $X$ and $w$, labels that are independent of $w$ and an $x_q$ that is
        independent of both, it misses at least the mean square of that part, $\eta^2(d-1)N$ per entry. For $d = 1$ one
        block is enough. But two blocks per iteration are not needed: if the empty column carries $Xw - y$ from block to
        block, $T + 1$ blocks take $T$ steps.
    """,
    refuted_by={
        "one": "A block whose row of $w_k$ has a part that depends on both $w_j$ and the samples.",
        "single": "A problem with $d = 1$ in which one block does not take the step.",
        "more": "An iterate that is not in the place of $w$ after as many blocks and one more.",
    },
    method=r"""
        Random blocks of four heads, biases and a residual: what is odd in $w_2$ in the row of $w_1$ is compared between
        two problems with the same $w$ and query. It must be the same for a block, and is not for the step. An explicit
        block for $d = 1$, and a network that carries the residual (both derived), against descent in NumPy.
    """,
    quick="five random blocks for each of three sizes; twenty steps",
    full="the same",
    seconds=6,
)
def blocks_per_step(lab: Lab) -> Evidence:
    """The certificate, the exception, and the network of T + 1 blocks."""
    random = np.random.default_rng(lab.seed)
    blocks = steps = 0.0
    for n, d in SIZES:
        for _ in range(DRAWS):
            first, other, w = draw(n, d, random), draw(n, d, random), random.standard_normal(d)
            pair = first, other._replace(query=first.query, eta=first.eta, lam=first.lam)
            block = drawn(n + d, d + 4, random, residual=True)
            found, scale = mixed(lambda p, w, b=block, n=n: output(b, natural(p, w))[n], pair, w)
            blocks = max(blocks, found / scale)
            found, scale = mixed(lambda p, w: (w - p.eta * p.gradient(w))[:1], pair, w)
            steps = max(steps, found / scale)
    single = 0.0
    for n in (2, 9):
        problem, w = draw(n, 1, random), random.standard_normal(1)
        found = output(one_dimension(n, problem.eta, problem.lam), natural(problem, w))[n:, 2]
        single = max(single, distance(found, w - problem.eta * problem.gradient(w)))
    rows = []
    for n, d in SIZES:
        problem, w = draw(n, d, random), random.standard_normal(d)
        given = (jnp.asarray(each) for each in (problem.x, problem.y, problem.query))
        two = ridge_as_elsa(*given, eta=problem.eta, lam=problem.lam, steps=1).network.unrolled()
        step = carried(n, d, problem.eta, problem.lam)
        states = [output(two[0], natural(problem, w))]
        for _ in range(STEPS):
            states.append(output(step, states[-1]))
        path = problem.path(w, STEPS)
        errors = [distance(h[n:, d + 1], wanted) for h, wanted in zip(states, path, strict=True)]
        rows.append((n, d, STEPS, 2 * STEPS, len(states), max(errors)))
    decisive = "worst error of an iterate after as many blocks and one more"
    rounding = "Rounding of sums of products, relative to the largest entry."
    checks = (
        equal(
            "largest part in one block's row of w₁ that depends on w₂ and the samples",
            blocks,
            0.0,
            against="one",
            tolerance=1e-13,
            reason=rounding,
        ),
        at_least(
            "largest such part in a gradient step",
            steps,
            1e-2,
            against="one",
            reason="Far above rounding: the step has the part that blocks lack.",
        ),
        equal("d = 1: worst error of one block", single, 0.0, against="single", tolerance=1e-13, reason=rounding),
        equal(
            decisive,
            max(row[-1] for row in rows),
            0.0,
            against="more",
            tolerance=1e-13,
            reason=rounding,
        ),
    )
    columns = ("samples", "d", "steps T", "blocks, two per step", "blocks, residual carried", "worst error")
    words = (
        "In the rows of the samples the cubic term of a block is $XX^\\top r$, so that one block updates $w$ and "
        "$r = Xw - y$ together; the first of the blocks writes $r$. The compiler goes another way with as many blocks: "
        "the first one puts $X^\\top X$ and $X^\\top y$ in the place of $X$ and $y$.",
        f"With $\\eta = 0.1$, $\\lambda = 0.5$ and noise 0.5, one block misses at least "
        f"{floor(4, 2, 0.1, 0.5, 0.5):.3f} of a step's mean square for 4 samples in 2 dimensions, "
        f"{floor(4, 8, 0.1, 0.5, 0.5):.3f} in 8.",
    )
    table = Table("blocks", "Blocks for T steps of ridge descent", columns, tuple(rows))
    return Evidence(checks, tables=(table,), words=words, headline=decisive)
