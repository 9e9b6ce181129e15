"""Adjusted half-MSE of estimators, and of networks after every layer, over a noise law and at single noise levels.

By NumPy: a network is a few products of small matrices, and programs for as many shapes as the paper has networks would
take longer to compile than to run. All networks of a law are measured on the same contexts, so that differences
between them have paired errors (`Measured.blocks`).
"""

import math
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import minimize
from scipy.special import softmax

from ...attention import AbstractDiagonal, AbstractLinearTransformer
from .._statistics import Mean, paired

# A network explodes on a context if it errs there by more than this many times what predicting zero costs in the mean.
EXPLODES = 10.0
# Up to this share of contexts at a noise level, explosions are left out of a profile.
RARE = 0.01
ESTIMATORS = ("const", "ada", "tuned", "bayes")
TUNING_POOL = 8_192
# Contexts that are held at once; and into so many parts the contexts are split for errors of differences.
CHUNK, BLOCKS = 1_024, 64
# Nodes of the Bayes estimator's quadrature over the logarithm of a uniform noise level, between these multiples of its
# estimate: what lies outside has a probability of about 1e-8 (n - d = 10).
NODES, LOWEST, HIGHEST = 40, 0.3, 12.0

Numbers = list[list[float]]
Layers = tuple[int | None, int | None]
WORST = 10


class Contexts(NamedTuple):
    """Contexts by their Gram matrices, and what ridge regressions need of them.

    Eigenvalues and eigenvectors of X^T X, X^T y in their basis, the squared length of the residuals, the noise level,
    and n - d.
    """

    gram: np.ndarray
    values: np.ndarray
    vectors: np.ndarray
    labels: np.ndarray
    residual: np.ndarray
    sigma: np.ndarray
    freedom: int

    def ridge(self, variance: np.ndarray | float) -> np.ndarray:
        """The weight vectors of ridge regression, in the eigenbasis."""
        return self.labels / (self.values + np.reshape(variance, (-1, 1)))


@dataclass(frozen=True)
class Measured:
    """Means with standard errors; `[network][layer]`, from the first layer to the last, then the estimators.

    `ordinary` is what is left of a mean without the share `exploding` of contexts on which the network explodes;
    `blocks` are its parts, means over a 64th of the contexts each. `worst` is the share of the mean over all
    contexts that the ten worst of them carry.
    """

    names: list[str]
    value: Numbers
    error: Numbers
    ordinary: Numbers
    ordinary_error: Numbers
    exploding: Numbers
    worst: Numbers
    sigmas: list[float]
    profiles: list[Numbers]
    profile_errors: list[Numbers]
    blocks: list[Numbers]

    def plain(self) -> dict[str, Any]:
        """For JSON."""
        return asdict(self)

    def mean(self, name: str, layer: int | None = None) -> tuple[float, float]:
        """Over all contexts, after the last layer or another (1, 2, ...)."""
        row, column = self._index(name, layer)
        return self.value[row][column], self.error[row][column]

    def ordinary_mean(self, name: str, layer: int | None = None) -> tuple[float, float]:
        """Over the contexts on which the network does not explode."""
        row, column = self._index(name, layer)
        return self.ordinary[row][column], self.ordinary_error[row][column]

    def exploding_share(self, name: str, layer: int | None = None) -> float:
        """The share of the other contexts."""
        row, column = self._index(name, layer)
        return self.exploding[row][column]

    def worst_share(self, name: str, layer: int | None = None) -> float:
        """The share of the mean over all contexts that the ten worst carry."""
        row, column = self._index(name, layer)
        return self.worst[row][column]

    def profile(self, name: str, layer: int | None = None) -> tuple[list[float], list[float]]:
        """Means and standard errors at the noise levels `sigmas`; rare explosions (1%) are left out."""
        row, column = self._index(name, layer)
        return [each[row][column] for each in self.profiles], [each[row][column] for each in self.profile_errors]

    def ratio(self, above: str, below: str, *, other: "Measured | None" = None, layers: Layers = (None, None)) -> Mean:
        """One ordinary mean over another; the error is that of the difference on the contexts that both saw.

        By the linear part: a / b differs from A / B by (a - (A / B) b) / B. `other` has the one below, if it is not
        this; it must have been measured on the same contexts. `layers` are those after which the two are read.
        """
        first, second = self._parts(above, layers[0]), (other or self)._parts(below, layers[1])
        top, bottom = sum(first) / len(first), sum(second) / len(second)
        spread = paired(first, [top / bottom * part for part in second])
        return Mean(top / bottom, spread.error / abs(bottom), spread.freedom)

    def _parts(self, name: str, layer: int | None) -> list[float]:
        row, column = self._index(name, layer)
        return [block[row][column] for block in self.blocks]

    def _index(self, name: str, layer: int | None) -> tuple[int, int]:
        return self.names.index(name), -1 if layer is None else layer - 1


def ratio(value: tuple[float, float], base: tuple[float, float]) -> tuple[float, float]:
    """One mean over another, each with its standard error, as if they were independent."""
    found = value[0] / base[0]
    return found, abs(found) * math.hypot(value[1] / value[0], base[1] / base[0])


def levels_of(law: str) -> list[float]:
    """Noise levels of a profile: the paper's figures reach one beyond the law, and for U(0, 5) up to 10."""
    top = noise_levels(law)[-1]
    near = [float(level) for level in np.arange(0, top + 1.01, 0.5)]
    return near + ([7.0, 8.0, 9.0, 10.0] if law == "uniform:5" else [])


def noise_levels(law: str) -> list[float]:
    """The levels of a law, or the ends of its range."""
    return [0.0, float(law[8:])] if law.startswith("uniform:") else [float(level) for level in law.split(",")]


def measure(
    models: dict[str, Any],
    law: str,
    *,
    d: int,
    n: int,
    sigmas: list[float],
    beside: bool,
    samples: int,
    level_samples: int,
    seed: int,
) -> Measured:
    """Measure networks on contexts of the law and at the noise levels `sigmas`; `beside` them, the law's estimators.

    The contexts follow from `law` and `seed` alone: what is measured with the same two has seen the same contexts.
    """
    layers = {name: _layers(model, d) for name, model in models.items()}
    tuning = _tuned(law, d, n, np.random.default_rng([seed, 1])) if beside else None
    parts = [_errors(layers, tuning, law, d, each) for each in _chunks(law, d, n, samples, [seed, 2])]
    losses = np.concatenate(parts)
    explodes = _explodes(losses, d)
    ordinary = np.where(explodes, 0.0, losses)
    profiles = []
    for index, sigma in enumerate(sigmas):
        chunks = _chunks(str(sigma), d, n, level_samples, [seed, 3, index])
        profiles.append(_mean(_without_rare(np.concatenate([_errors(layers, tuning, law, d, e) for e in chunks]), d)))
    lengths = [len(each) for each in layers.values()] + [1] * (len(ESTIMATORS) if beside else 0)

    def rows(values: np.ndarray) -> Numbers:
        """What belongs to a network, a layer after the other."""
        return [list(map(float, each)) for each in np.split(values, np.cumsum(lengths)[:-1])]

    (value, error), (rest, rest_error) = _mean(losses), _mean(ordinary)
    with np.errstate(all="ignore"):
        shares = np.sort(losses, axis=0)[-WORST:].sum(axis=0) / np.maximum(losses.sum(axis=0), 1e-300)
    return Measured(
        names=[*models, *(ESTIMATORS if beside else ())],
        value=rows(value),
        error=rows(error),
        ordinary=rows(rest),
        ordinary_error=rows(rest_error),
        exploding=rows(explodes.mean(axis=0)),
        worst=rows(np.nan_to_num(shares, nan=1.0)),
        sigmas=sigmas,
        profiles=[rows(each[0]) for each in profiles],
        profile_errors=[rows(each[1]) for each in profiles],
        blocks=[rows(each.mean(axis=0)) for each in np.array_split(ordinary, BLOCKS)],
    )


def _explodes(losses: np.ndarray, d: int) -> np.ndarray:
    return ~(losses <= EXPLODES * d / 2)  # N(0, I) tasks and inputs: predicting zero costs d


def _without_rare(losses: np.ndarray, d: int) -> np.ndarray:
    """Without explosions where they are rare: a profile from thousands of contexts would show them or not by chance."""
    explodes = _explodes(losses, d)
    return np.where(explodes & (explodes.mean(axis=0) <= RARE), 0.0, losses)


def _mean(losses: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    with np.errstate(all="ignore"):  # what overflows has an infinite mean, and no error
        return losses.mean(axis=0), np.nan_to_num(losses.std(axis=0, ddof=1), nan=math.inf, posinf=math.inf) / len(
            losses
        ) ** 0.5


def draw(law: str, d: int, n: int, count: int, generator: np.random.Generator) -> Contexts:
    """Contexts of a law: N(0, I) tasks and inputs, one noise level for each context."""
    levels = noise_levels(law)
    if law.startswith("uniform:"):
        sigma = generator.uniform(*levels, size=count)
    else:
        sigma = generator.choice(levels, size=count)
    x = generator.standard_normal((count, n, d))
    w = generator.standard_normal((count, d, 1))
    y = x @ w + sigma[:, None, None] * generator.standard_normal((count, n, 1))
    tokens = np.concatenate([x, y], axis=2)
    gram = np.swapaxes(tokens, 1, 2) @ tokens
    values, vectors = np.linalg.eigh(gram[:, :d, :d])
    labels = np.einsum("cij,ci->cj", vectors, gram[:, :d, d])
    # Without noise, what is left of the labels is rounding.
    residual = np.maximum(gram[:, d, d] - np.sum(labels**2 / values, axis=1), 1e-15 * gram[:, d, d])
    return Contexts(gram, values, vectors, labels, residual, sigma, n - d)


def _chunks(law: str, d: int, n: int, samples: int, seed: list[int]) -> Iterator[Contexts]:
    generator = np.random.default_rng(seed)
    for start in range(0, samples, CHUNK):
        yield draw(law, d, n, min(CHUNK, samples - start), generator)


Layer = tuple[np.ndarray, np.ndarray] | np.ndarray


def _layers(model: AbstractLinearTransformer, d: int) -> list[Layer]:
    """P and Q of every layer; of a diagonal one the four omegas, spread over the entries of the Gram matrix."""
    if isinstance(model, AbstractDiagonal):
        places = np.append(np.zeros(d, int), 1)
        return [np.asarray(omegas)[np.ix_(places, places)] for omegas in model.omegas()]
    p, q = (np.asarray(each)[:, 0] for each in model.dense(d))
    return list(zip(p, q, strict=True))


def weights_after(layers: list[Layer], gram: np.ndarray) -> np.ndarray:
    """The weight vectors that can be read after every layer, (contexts, layers, d)."""
    size = gram.shape[-1]
    steps, found = [], []
    with np.errstate(all="ignore"):  # deep networks explode on rare contexts
        for index, layer in enumerate(layers):
            update = layer * gram if isinstance(layer, np.ndarray) else layer[0] @ gram @ layer[1]
            steps.append(np.eye(size) + update)
            # Only the last row of the product of all steps is wanted.
            row = steps[-1][:, -1:]
            for step in reversed(steps[:-1]):
                row = row @ step
            found.append(-row[:, 0, :-1])
            if index < len(layers) - 1:
                gram = steps[-1] @ gram @ np.swapaxes(steps[-1], 1, 2)
    return np.stack(found, axis=1)


def _errors(
    layers: dict[str, list[Layer]], tuning: tuple[float, float] | None, law: str, d: int, contexts: Contexts
) -> np.ndarray:
    """Half of the adjusted loss on each context: of each network after every layer, then of the estimators."""
    wanted = contexts.ridge(contexts.sigma**2)
    there = np.einsum("cij,cj->ci", contexts.vectors, wanted)
    columns = []
    with np.errstate(all="ignore"):
        for each in layers.values():
            columns.append(np.sum((weights_after(each, contexts.gram) - there[:, None]) ** 2, axis=2) / 2)
        if tuning is not None:
            for found in estimates(contexts, law, tuning):
                columns.append(np.sum((found - wanted) ** 2, axis=1, keepdims=True) / 2)
    # What overflows is not a number, or infinite: both are explosions.
    return np.nan_to_num(np.concatenate(columns, axis=1), nan=math.inf, posinf=math.inf)


def estimates(contexts: Contexts, law: str, tuning: tuple[float, float]) -> Iterator[np.ndarray]:
    """The weight vectors of ConstRR, AdaRR, TunedRR and the posterior mean, in the eigenbasis of each context."""
    levels = noise_levels(law)
    uniform = law.startswith("uniform:")
    yield contexts.ridge(levels[1] ** 2 / 3 if uniform else float(np.mean(np.square(levels))))
    ada = estimated(contexts)
    yield contexts.ridge(ada)
    yield contexts.ridge(np.minimum(tuning[0] * ada, tuning[1]))
    if len(levels) == 1:
        yield contexts.ridge(levels[0] ** 2)
    elif uniform:
        yield _posterior_mean(contexts, *_nodes(ada**0.5, levels[1]))
    else:
        yield _posterior_mean(contexts, np.array(levels)[None], np.zeros((1, 1)))


def estimated(contexts: Contexts) -> np.ndarray:
    """The residuals' estimate of the noise variance."""
    return contexts.residual / contexts.freedom


def _nodes(estimate: np.ndarray, top: float) -> tuple[np.ndarray, np.ndarray]:
    """Noise levels of a uniform law about each context's estimate, and the logarithms of their weights."""
    places, weights = np.polynomial.legendre.leggauss(NODES)
    low, high = np.log(LOWEST * np.minimum(estimate, top)), np.log(np.minimum(HIGHEST * estimate, top))
    half = (high - low)[:, None] / 2
    logs = low[:, None] + half * (1 + places)
    return np.exp(logs), np.log(half * weights) + logs


def _posterior_mean(contexts: Contexts, sigma: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """Ridge solutions of all noise levels, weighed by their probability given the context."""
    values, labels, variance = contexts.values[:, None], contexts.labels[:, None], sigma[:, :, None] ** 2
    exponent = np.sum(np.log(values + variance) + labels**2 / (values * (values + variance)), axis=2)
    exponent += contexts.freedom * np.log(sigma**2) + contexts.residual[:, None] / sigma**2
    chances = softmax(weight - exponent / 2, axis=1)
    return np.sum(chances[:, :, None] * labels / (values + variance), axis=1)


def _tuned(law: str, d: int, n: int, generator: np.random.Generator) -> tuple[float, float]:
    """The two constants of TunedRR, factor and ceiling of the estimated noise variance, of least loss on a pool."""
    pool = draw(law, d, n, TUNING_POOL, generator)
    estimate, wanted, top = estimated(pool), pool.ridge(pool.sigma**2), noise_levels(law)[-1] ** 2
    if top == 0.0:
        return 1.0, 0.0

    def loss(logs: np.ndarray) -> float:
        factor, ceiling = np.exp(logs)
        return float(np.mean(np.sum((pool.ridge(np.minimum(factor * estimate, ceiling)) - wanted) ** 2, axis=1)))

    # min() has a kink and several shallow basins: the best of a coarse grid, then polished without gradients.
    grid = [
        np.log([factor, ceiling * top]) for factor in (0.8, 1.0, 1.25, 1.6) for ceiling in (0.3, 0.5, 0.75, 1.0, 4.0)
    ]
    found = minimize(loss, min(grid, key=loss), method="Nelder-Mead", options={"xatol": 1e-3, "fatol": np.inf})
    factor, ceiling = np.exp(found.x)
    return float(factor), float(ceiling)
