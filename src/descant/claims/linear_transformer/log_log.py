"""Theorem 5.1: GD++ reaches any accuracy in log log many layers."""

import itertools
from operator import mul

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from ...attention import gd_plus_plus_as_transformer
from ...estimators import GDPlusPlus, gd_plus_plus_layer
from ...tasks import Moments
from .. import Axis, Check, Evidence, Figure, Lab, Panel, Series, Table, at_most, claim

D = 10
CONDITIONS = (10.0, 100.0, 1e4, 1e6)
ACCURACIES = (1e-3, 1e-6, 1e-12)
MOST_LAYERS = 26
# Depths at which the network runs as a transformer, on contexts of several spectra.
RUN_DEPTHS = (2, 6, 10)
SPECTRA = {
    "geometric": lambda kappa: np.geomspace(1 / kappa, 1, D),
    "evenly spaced": lambda kappa: np.linspace(1 / kappa, 1, D),
    "one small eigenvalue": lambda kappa: np.array([1 / kappa] + [1.0] * (D - 1)),
    "in the middle": lambda kappa: np.full(D, kappa**-0.5),
}


@claim(
    "gd-plus-plus-log-log",
    paper="linear-transformer",
    whose="paper",
    seen="no equations",
    where="Theorem 5.1, Lemma A.3",
    title="Given the range of eigenvalues, GD++ doubles its digits with each layer, after about log κ layers",
    statement=r"""
        For every range $[\mu, \nu]$ of eigenvalues there are weights of GD++ that reach $|\hat y - \langle w^*, x_t
        \rangle| \le \varepsilon |x_t| |w^*|$, $w^*$ least squares, on all contexts whose $X^\top X$ lies in the range,
        with $O(\log \kappa + \log\log 1/\varepsilon)$ layers, $\kappa = \nu/\mu$: every layer but the last maps an
        eigenvalue $\lambda$ to $\lambda (1 - \gamma\lambda)^2$, $\gamma = 1/(3 \lambda_{\max})$; the last takes a
        gradient step. If the eigenvalues spread by $1 + \epsilon$, $\epsilon \le 0.1$, they spread by at most $1 + 2
        \epsilon^2$ after a layer. The weights depend on $\mu$ and $\nu$.
    """,
    refuted_by={
        "digits": "Three more layers that don't bring an accuracy of 1e-3 to 1e-12.",
        "condition": "A condition number κ whose cost grows faster than $\\log\\kappa / \\log(9/4)$, by a layer.",
        "squares": "A spread $1 + \\epsilon$, $\\epsilon \\le 0.1$, that is above $1 + 2\\epsilon^2$ after a layer.",
        "uniform": "A context in the range on which the network, run as a transformer, errs by more.",
    },
    method=r"""
        GD++ acts on each eigenvalue by itself, so that the largest error over all contexts, tasks and queries is the
        largest $|1 - \lambda f(\lambda)|$ over the range, a number without sampling; the maps rise, so that it lies at
        an end. The same network also runs as a linear transformer on contexts of four spectra with random directions:
        there the error is the spectral norm of the map from $w$ to $\hat w - w$.
    """,
    quick="condition numbers 10 to 1,000,000; up to 26 layers",
    full="the same",
    seconds=8,
)
def gd_plus_plus_log_log(lab: Lab) -> Evidence:
    """Errors against depth, the layers needed for each accuracy, and the network itself."""
    depths = tuple(range(1, MOST_LAYERS + 1))
    errors = {kappa: [_largest_error(depth, kappa) for depth in depths] for kappa in CONDITIONS}
    needed = {
        kappa: [next((depth for depth, e in zip(depths, values, strict=True) if e <= eps), 10**6) for eps in ACCURACIES]
        for kappa, values in errors.items()
    }
    figure = Figure(
        "gd-plus-plus-log-log",
        "Error of Theorem 5.1's GD++ against its depth",
        "A slow start, as long as the logarithm of the condition number, then the digits double with every layer, "
        "down to rounding.",
        (
            Panel(
                "largest relative error over all contexts, tasks and queries",
                Axis("layers"),
                Axis("relative error ε", log=True),
                tuple(
                    Series(f"κ = {kappa:g}", depths, tuple(np.maximum(errors[kappa], 1e-17))) for kappa in CONDITIONS
                ),
            ),
        ),
    )
    table = Table(
        "layers-needed",
        "Layers needed",
        ("condition number", *(f"ε = {eps:g}" for eps in ACCURACIES)),
        tuple((kappa, *needed[kappa]) for kappa in CONDITIONS),
    )
    words = (
        "The spread obeys $\\epsilon' = \\epsilon^2 (4\\kappa - 1)/(3\\kappa - 1)^2$ with $\\kappa = 1 + \\epsilon$: "
        "at "
        "most $\\tfrac34 \\epsilon^2$, so that the lemma's 2 is generous, and no condition on $\\epsilon$ is needed.",
    )
    checks = (*_counts(needed), _squares(), _as_transformer(errors, lab))
    return Evidence(checks, (figure,), (table,), words, headline=checks[0].name)


def _counts(needed: dict[float, list[int]]) -> list[Check]:
    first = CONDITIONS[0]
    checks = []
    for kappa in CONDITIONS:
        found = needed[kappa]
        checks.append(
            at_most(
                f"layers from accuracy 1e-3 to 1e-12, condition number {kappa:g}",
                found[-1] - found[0],
                3,
                against="digits",
                exact=True,
                reason="From ε to about ε²: the digits of 1e-3 double twice to reach 1e-12, with one layer to spare.",
            )
        )
        if kappa > first:
            checks.append(
                at_most(
                    f"layers to accuracy 1e-12, condition number {kappa:g}, more than with {first:g}",
                    found[-1] - needed[first][-1],
                    np.log(kappa / first) / np.log(9 / 4) + 1,
                    against="condition",
                    exact=True,
                    reason="While the smallest eigenvalue is small, a layer leaves it and shrinks the largest to 4/9; "
                    "layers are whole, hence the 1.",
                )
            )
    return checks


def _polynomial(depth: int, kappa: float, values: np.ndarray) -> tuple[np.ndarray, list[float]]:
    """f at eigenvalues between 1/kappa and 1, and the spread (largest over smallest) before each layer."""
    network = GDPlusPlus.preconditioned(depth, 1 / kappa, 1.0)
    w, m, spreads = np.zeros_like(values), np.ones_like(values), []
    for step, contraction in zip(np.asarray(network.steps), np.asarray(network.contractions), strict=True):
        now = values * m**2
        spreads.append(float(now.max() / now.min()))
        w, m = gd_plus_plus_layer(w, m, step, contraction, values, 1.0, times=mul)
    return w, spreads


def _largest_error(depth: int, kappa: float) -> float:
    """Over the range; its ends are where the maps, which rise, have their extremes. `_as_transformer` looks between."""
    values = np.array([1 / kappa, 1.0])
    return float(np.abs(1 - values * _polynomial(depth, kappa, values)[0]).max())


def _squares() -> Check:
    """How the spread of the eigenvalues falls, where it is small and not yet rounding."""
    ratios = []
    for kappa in CONDITIONS:
        spreads = _polynomial(MOST_LAYERS, kappa, np.array([1 / kappa, 1.0]))[1]
        pairs = itertools.pairwise(spread - 1 for spread in spreads)
        ratios += [after / before**2 for before, after in pairs if 1e-6 < before < 0.1]
    return at_most(
        "largest ε' / ε², the spread of eigenvalues being 1 + ε before a layer and 1 + ε' after it",
        max(ratios, default=np.inf),
        2.0,
        against="squares",
        exact=True,
        reason="The lemma's own constant; ε between 0.1 and 1e-6, below which rounding shows.",
        printed="2 ε²",
    )


def _as_transformer(errors: dict[float, list[float]], lab: Lab) -> Check:
    """The network itself, beside the largest error that the polynomial has."""
    excess = []
    for kappa in CONDITIONS:
        for index, spectrum in enumerate(SPECTRA.values()):
            key = jax.random.fold_in(lab.key("directions"), index)
            directions = np.linalg.qr(np.asarray(jax.random.normal(key, (D, D))))[0]
            xx = jnp.asarray(directions * spectrum(kappa) @ directions.T)
            for depth in RUN_DEPTHS:
                excess.append(_error(depth, kappa, xx) - errors[kappa][depth - 1])
    return at_most(
        "error of the transformer less the largest of the polynomial, at most, four spectra",
        max(excess),
        0.0,
        tolerance=1e-12,
        against="uniform",
        reason="Rounding: eigenvalues of products of matrices, a thousand times 1e-16.",
    )


def _error(depth: int, kappa: float, xx) -> float:
    """The largest |w_hat - w| / |w| over all tasks w, on one context."""
    network = gd_plus_plus_as_transformer(GDPlusPlus.preconditioned(depth, 1 / kappa, 1.0))
    # Layers of zeros at the end do nothing, and let all depths share one program.
    padding = jnp.zeros(max(RUN_DEPTHS) - depth)
    padded = jax.tree.map(lambda leaf: jnp.concatenate([leaf, padding]), network)
    return float(np.linalg.norm(np.asarray(_misses(padded, xx)), 2))


@eqx.filter_jit
def _misses(network, xx):
    """w_hat - w for each unit vector w."""

    def miss(w):
        xy = xx @ w
        gram = jnp.block([[xx, xy[:, None]], [xy[None, :], (w @ xy)[None, None]]])
        return network.weights(Moments(gram, 2 * D)) - w

    return jax.vmap(miss)(jnp.eye(D))
