"""Theorem 5.2: two layers are ridge regression at two noise levels."""

import numpy as np

from ..._sampling import standard_error
from ...attention import FreeDiag, two_noise_network
from ...tasks import LinearRegression
from .. import Axis, Evidence, Figure, Lab, Panel, Series, at_least, at_most, claim
from ._contexts import Contexts

D = 10
SIGMAS = (1.0, 3.0)
BETWEEN = 2.0
LENGTHS = (200, 2_000, 20_000, 200_000)
SAMPLES = 4_096


@claim(
    "two-noise-network",
    paper="linear-transformer",
    whose="paper",
    seen="no equations",
    where="Theorem 5.2 and its proof, appendix A.5",
    title="Two layers tend to ridge regression at two noise levels, and at those alone",
    statement=r"""
        For inputs $x \sim N(0, I/n)$ and a noise level that is either of two, $\sigma_1$ or $\sigma_2$, a network of
        two layers tends to the ridge regression that knows which, as $n \to \infty$: layer 1 has only $\omega_{yx}$,
        layer 2 only $\omega_{yy}$, with $(1 + n\sigma^2\omega_{yy})\,|\omega_{yx}| = 1/(1 + \sigma^2)$ at both levels.
        At a level between the two it does not. Looked at: $\sigma \in \{1, 3\}$ and 2 between them, $d = 10$.
    """,
    refuted_by={
        "limit": "A distance from ridge regression, relative to it, that does not tend to zero at either level.",
        "elsewhere": "A level for which the network was not made, and at which it is within a quarter of ridge "
        "regression.",
    },
    method=r"""
        The two linear equations give the network. It runs on sampled Gram matrices, which cost the same at any context
        length; its weights are compared with the ridge regression that is told $\sigma$, in the mean over contexts. A
        third level, 2, which the network was not made for, is measured beside the two.
    """,
    quick="n = 200 to 200,000; 4,096 contexts for each",
    full="the same",
    seconds=2,
)
def two_noise(lab: Lab) -> Evidence:
    """Relative errors at the two levels and between them, against n."""
    levels = (*SIGMAS, BETWEEN)
    found = {sigma: ([], []) for sigma in levels}
    for n in LENGTHS:
        lab.tell(f"n = {n}", None)
        network = two_noise_network(n, SIGMAS)
        for sigma in levels:
            mean, error = _relative_error(network, n, sigma, lab)
            found[sigma][0].append(mean)
            found[sigma][1].append(error)
    checks = []
    for sigma in SIGMAS:
        means, errors = found[sigma]
        slope = float(np.polyfit(np.log(LENGTHS), np.log(means), 1)[0])
        slack = (
            2 * max(error / mean for mean, error in zip(means, errors, strict=True)) / np.log(LENGTHS[-1] / LENGTHS[0])
        )
        checks += [
            at_most(
                f"relative error at σ = {sigma:g}, n = {LENGTHS[-1]}",
                means[-1],
                0.02,
                error=errors[-1],
                against="limit",
                reason="The theorem is about the limit; 2% is what fluctuations of order sqrt(d / n) = 0.7% and their"
                " multiple at the larger noise allow at this length.",
            ),
            at_most(
                f"power law of the error in n at σ = {sigma:g}: the exponent",
                slope,
                -0.45,
                error=slack,
                against="limit",
                reason="Gram matrices fluctuate by 1/sqrt(n), so the error should fall with exponent -1/2.",
            ),
        ]
    means, errors = found[BETWEEN]
    checks.append(
        at_least(
            f"relative error at σ = {BETWEEN:g}, for which the network was not made, n = {LENGTHS[-1]}",
            means[-1],
            0.25,
            error=errors[-1],
            against="elsewhere",
            reason="The two equations fix the network; elsewhere its factor is a straight line in σ² and not 1/(1 + "
            "σ²).",
        )
    )
    figure = Figure(
        "two-noise-network",
        "Distance from ridge regression against the context's length",
        "At the two levels that the network is made for the error falls as one over the root of n; at a level between"
        " them it stays.",
        (
            Panel(
                "two layers, noise levels 1 and 3",
                Axis("context length n", log=True),
                Axis("root mean square error / root mean square of ridge", log=True),
                tuple(
                    Series(f"σ = {sigma:g}", LENGTHS, tuple(found[sigma][0]), tuple(found[sigma][1]))
                    for sigma in levels
                ),
            ),
        ),
    )
    return Evidence(tuple(checks), (figure,), headline=checks[2].name)


def _relative_error(network: FreeDiag, n: int, sigma: float, lab: Lab) -> tuple[float, float]:
    """Root mean square distance from ridge over ridge's root mean square, and its standard error."""
    contexts = Contexts.draw(LinearRegression(D, n), SAMPLES, lab.seed + round(100 * sigma), sigma, 1 / n)
    ridge = contexts.ridge(sigma**2)
    off, size = ((contexts.answers(network) - ridge) ** 2).sum(axis=1), (ridge**2).sum(axis=1)
    ratio = off.mean() / size.mean()
    return float(np.sqrt(ratio)), float(standard_error(off - ratio * size) / size.mean() / 2 / np.sqrt(ratio))
