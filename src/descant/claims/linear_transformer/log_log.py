"""Theorem 5.1: GD++ reaches any accuracy in log log many layers."""

import itertools

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from ...attention import gd_plus_plus_as_transformer
from ...estimators import GDPlusPlus
from ...tasks import Moments
from .. import Axis, Evidence, Figure, Lab, Panel, Series, Table, at_most, claim

D = 10
CONDITIONS = (10.0, 100.0, 1e4)
ACCURACIES = (1e-3, 1e-6, 1e-12)
MOST_LAYERS = 20


@claim(
    "gd-plus-plus-log-log",
    paper="linear-transformer",
    where="Theorem 5.1",
    title="GD++ is as accurate as one likes after log log many layers",
    statement=r"""
        Without noise, a GD++ network reaches $|\hat y - \langle w, x_t\rangle| \le \varepsilon |x_t| |w|$ on all
        contexts whose $X^\top X$ has condition number at most $\kappa$, with $O(\log \kappa + \log\log 1/\varepsilon)$
        layers: every layer maps an eigenvalue $\lambda$ to $\lambda (1 - \gamma\lambda)^2$, $\gamma = 1/(3
        \lambda_{\max})$, until they are nearly equal; then one gradient step.
    """,
    refuted_by="Accuracies that take more layers than a constant number of doublings of digits, or conditions whose "
    "cost grows faster than their logarithm.",
    method=r"""
        The network of the theorem is built for each depth and run as a linear transformer on contexts whose eigenvalues
        fill $[1/\kappa, 1]$, ends included, with random directions. The error bound is uniform over $w$ and $x_t$: the
        spectral norm of the map from $w$ to $\hat w - w$.
    """,
    quick="condition numbers 10, 100, 10,000; up to 20 layers",
    full="the same",
    seconds=12,
)
def gd_plus_plus_log_log(lab: Lab) -> Evidence:
    """Errors against depth, and the layers needed for each accuracy."""
    depths = tuple(range(1, MOST_LAYERS + 1))
    errors = {}
    for kappa in CONDITIONS:
        lab.tell(f"condition number {kappa:g}", None)
        errors[kappa] = [_error(depth, kappa, lab) for depth in depths]
    needed = {
        kappa: [next((depth for depth, e in zip(depths, values, strict=True) if e <= eps), 10**6) for eps in ACCURACIES]
        for kappa, values in errors.items()
    }
    checks = []
    for kappa in CONDITIONS:
        found = needed[kappa]
        checks.append(
            at_most(
                f"layers from accuracy 1e-3 to 1e-12, condition number {kappa:g}",
                found[-1] - found[0],
                3,
                reason="From ε to ε² in one layer: the digits of 1e-3 double twice to reach 1e-12, with one layer to "
                "spare.",
            )
        )
        checks.append(
            at_most(
                f"layers to accuracy 1e-12, condition number {kappa:g}",
                found[-1],
                np.log(kappa) / np.log(9 / 4) + 8,
                reason="While the smallest eigenvalue is small, a layer leaves it and shrinks the largest to 4/9: "
                "log κ / log(9/4) layers; the rest is for the digits.",
            )
        )
    ratios = _squaring(errors)
    checks.append(
        at_most(
            "largest of (error after the next layer) / (error)², errors between 0.1 and 1e-5 (below, rounding shows)",
            ratios,
            2.0,
            reason="The theorem's proof has 1 + ε → 1 + 2ε² for the eigenvalues' spread.",
            printed="2 ε²",
        )
    )
    figure = Figure(
        "gd-plus-plus-log-log",
        "Error of Theorem 5.1's GD++ against its depth",
        "A slow start, as long as the logarithm of the condition number, then the digits double with every layer, "
        "down to rounding.",
        (
            Panel(
                "largest relative error over all tasks and queries",
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
    return Evidence(tuple(checks), (figure,), (table,))


def _error(depth: int, kappa: float, lab: Lab) -> float:
    """The largest |w_hat - w| / |w| over all tasks w, on one context with the given spread of eigenvalues."""
    eigenvalues = np.geomspace(1 / kappa, 1.0, D)
    directions = np.linalg.qr(np.asarray(jax.random.normal(lab.key("directions"), (D, D))))[0]
    xx = jnp.asarray(directions * eigenvalues @ directions.T)
    network = gd_plus_plus_as_transformer(GDPlusPlus.preconditioned(depth, 1 / kappa, 1.0))
    # Layers of zeros at the end do nothing, and let all depths share one program.
    padding = jnp.zeros(MOST_LAYERS - depth)
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


def _squaring(errors: dict[float, list[float]]) -> float:
    """How much larger than its square an error is after one more layer."""
    pairs = [pair for values in errors.values() for pair in itertools.pairwise(values)]
    ratios = [after / before**2 for before, after in pairs if 1e-5 < before < 0.1]
    # A network that never comes so far does not square its error.
    return max(ratios, default=np.inf)
