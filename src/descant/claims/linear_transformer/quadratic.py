"""Theorem 4.2: without noise, no layer holds a quadratic."""

import numpy as np
from threadpoolctl import threadpool_limits

from ..._sampling import standard_error
from .. import CONTROL, Axis, Baseline, Evidence, Figure, Lab, Panel, Series, at_least, at_most, claim

D, LAYERS = 10, 4
BOUND = 0.1
LENGTHS = (20, 100, 1_000, 10_000)
QUANTILE = 0.99


@claim(
    "no-quadratic",
    paper="linear-transformer",
    whose="paper",
    seen="no equations",
    where="Theorem 4.2",
    title="Without noise, no layer's labels are a quadratic of Gaussian inputs",
    statement=r"""
        Without noise and with $n \gg d$ Gaussian inputs, the labels $(y_i^l)_i$ at any layer of any linear transformer
        have cosine similarity at most $0.1$ with $(x_i(1)^2)_i$, with high probability. Looked at: $d = 10$, $n$ up to
        10,000; the largest cosine that any network could have is about $\sqrt{(d + 4)/n}$, so that $n \gg d$ means
        hundreds of $d$.
    """,
    refuted_by={
        "bound": "Long contexts on which labels could have a cosine above 0.1 with the squares more than once in a "
        "hundred.",
        "power": "A largest cosine that does not fall as the root of n, so that long contexts don't help.",
        "span": "A network whose labels have a larger cosine than the span of the inputs allows.",
    },
    method=r"""
        By Theorem 4.1 the labels of a noiseless context are linear in the inputs at every layer, $y_i^l = \langle v^l,
        x_i\rangle$. So the largest cosine over *all* networks and layers is at most that of the squares with the span
        of the inputs' columns, which is computed exactly for each context: $|P_X z| / |z|$, $z_i = x_i(1)^2$. It is
        measured on random contexts of growing length; beside it, the cosine in token space at every layer of random
        dense networks.
    """,
    quick="400 contexts for each n = 20, 100, 1000, 10,000; d = 10",
    full="4000 contexts for each",
    seconds=6,
)
def no_quadratic(lab: Lab) -> Evidence:
    """The best any network could do, and what random networks do, against the context's length."""
    count = lab.pick(400, 4_000)
    best, tried = [], []
    for n in LENGTHS:
        lab.tell(f"n = {n}", None)
        generator = np.random.default_rng([lab.seed, n])
        # Small matrices: more threads of BLAS cost more than they do.
        with threadpool_limits(1, user_api="blas"):
            inputs = (generator.standard_normal((n, D)) for _ in range(count))
            best.append(np.array([_largest_cosine(x, x[:, 0] ** 2) for x in inputs]))
            tried.append(_network_cosines(n, generator))
    high = [float(np.quantile(each, QUANTILE)) for each in best]
    # The standard error of a quantile, from halves of the sample.
    spread = [_quantile_error(each) for each in best]
    means = [float(each.mean()) for each in best]
    slope = np.polyfit(np.log(LENGTHS), np.log(means), 1)[0]
    checks = (
        at_most(
            f"largest cosine of any network, 99% quantile over contexts, n = {LENGTHS[-1]}",
            high[-1],
            BOUND,
            error=spread[-1],
            against="bound",
            reason="The theorem's own bound; with high probability is read as 99% of the contexts.",
            printed="0.1",
        ),
        at_most(
            "its power law in n: the exponent",
            slope,
            -0.45,
            against="power",
            reason="The cosine is of order sqrt(d / n): an exponent of -1/2, so that long contexts push it below any "
            "bound.",
        ),
        at_most(
            "cosine at any layer of random networks in token space, less the largest of any network on the same "
            "contexts",
            max(float(excess.max()) for excess in (each[:, 1] - each[:, 0] for each in tried)),
            0.0,
            tolerance=1e-13,
            against="span",
            reason="Rounding: the networks' labels lie in the span of the inputs.",
        ),
        at_least(
            f"largest cosine of any network at n = {LENGTHS[0]}, mean",
            means[0],
            BOUND,
            error=float(standard_error(best[0])),
            against=CONTROL,
            reason="The theorem needs n much larger than d: on short contexts the bound is exceeded, as it may be.",
        ),
    )
    figure = Figure(
        "no-quadratic",
        "How much of a square a linear transformer can hold",
        "The largest cosine that any network could reach falls as one over the root of n, and passes 0.1 at a few "
        "thousand tokens.",
        (
            Panel(
                "labels against squares of the first input, d = 10",
                Axis("context length n", log=True),
                Axis("cosine similarity", log=True),
                (
                    Series("any network, mean", LENGTHS, tuple(means)),
                    Series("any network, 99%", LENGTHS, tuple(high), tuple(spread)),
                    Series("random FULL, any layer, mean", LENGTHS, tuple(float(each[:, 1].mean()) for each in tried)),
                ),
                (Baseline("bound of the theorem", BOUND),),
            ),
        ),
    )
    return Evidence(checks, (figure,))


def _network_cosines(n: int, generator: np.random.Generator, count: int = 20) -> np.ndarray:
    """For random dense networks: the cosine that any could reach on the context, and the largest of their layers."""
    pairs = []
    for _ in range(count):
        tokens = generator.standard_normal((n, D + 1))
        tokens[:, -1] = tokens[:, :-1] @ generator.standard_normal(D)
        squares = tokens[:, 0] ** 2
        limit = _largest_cosine(tokens[:, :-1], squares)
        cosines = []
        for _ in range(LAYERS):
            p, q = generator.standard_normal((2, D + 1, D + 1)) / (D * n**0.5)
            tokens = tokens + tokens @ (p @ (tokens.T @ tokens) @ q).T
            labels = tokens[:, -1]
            cosines.append(abs(labels @ squares) / (np.linalg.norm(labels) * np.linalg.norm(squares)))
        pairs.append((limit, max(cosines)))
    return np.array(pairs)


def _largest_cosine(x: np.ndarray, squares: np.ndarray) -> float:
    """The largest cosine of anything linear in the inputs with the squares."""
    return float(np.linalg.norm(np.linalg.qr(x)[0].T @ squares) / np.linalg.norm(squares))


def _quantile_error(values: np.ndarray, parts: int = 8) -> float:
    """The standard error of the quantile, from its spread over parts of the sample."""
    quantiles = [np.quantile(part, QUANTILE) for part in np.array_split(values, parts)]
    return float(standard_error(quantiles))
