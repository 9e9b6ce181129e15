"""The two constants of TunedRR, for a task."""

import jax
import jax.numpy as jnp
import numpy as np
import scipy
from jaxtyping import Float, PRNGKeyArray

from ..tasks import AbstractTask, Spectrum
from ._ridge import TunedRidge, check_residuals, matching_prior, residual_variance

POOL = 20_000


def tuned_ridge(task: AbstractTask, *, key: PRNGKeyArray | None = None, pool: int = POOL) -> TunedRidge:
    """The TunedRR of least risk on a fixed pool of contexts: deterministic for a given key.

    It minimises E |w_hat - w_oracle|^2 in the query's metric, which has far less noise than the risk. Where w and the
    label noise are Gaussian, the oracle is the posterior mean, so this is the adjusted risk and has the same minimiser
    as the risk; for other tasks the two minimisers may differ.

    Everything but the noise variance is computed once, so that a trial of (scale, ceiling) costs one product.

    **Arguments:** `pool` contexts are drawn with `key` (key 0 if left out); they must have n > d.

    **Returns:** a `TunedRidge`. `RuntimeError` if the search for its constants doesn't end.
    """
    check_residuals(task.n, task.d)
    key = jax.random.key(0) if key is None else key
    inputs, prior = task.query_metric(), matching_prior(task)

    def summarise(key):
        moments = task.sample_moments(key=key)
        spectrum = Spectrum.of(prior.mean, prior.cov, moments)
        assert moments.sigma is not None
        metric = spectrum.directions.T @ inputs @ spectrum.directions
        return spectrum, metric, residual_variance(spectrum), moments.sigma**2

    spectra, metrics, estimates, variances = jax.jit(jax.vmap(summarise))(jax.random.split(key, pool))

    @jax.jit
    def adjusted(scale, ceiling):
        def one(spectrum, metric, estimate, variance):
            guess = jnp.minimum(scale * estimate, ceiling)
            error = (spectrum.shrinkage(guess) - spectrum.shrinkage(variance)) * spectrum.slope
            return error @ metric @ error

        return jnp.mean(jax.vmap(one)(spectra, metrics, estimates, variances))

    top = float(jnp.max(variances))
    if top == 0.0:
        return TunedRidge(prior, 1.0, 0.0)

    def objective(log_parameters: Float[np.ndarray, " 2"]) -> float:
        scale, ceiling = np.exp(log_parameters)
        return float(adjusted(scale, ceiling))

    # min() has a kink and several shallow basins: start from the best of a coarse grid, then polish without gradients.
    grid = [(s, c) for s in np.log([0.8, 1.0, 1.25, 1.6]) for c in np.log(top * np.array([0.3, 0.5, 0.75, 1.0, 4.0]))]
    start = min(grid, key=lambda point: objective(np.array(point)))
    found = scipy.optimize.minimize(objective, start, method="Nelder-Mead", options={"xatol": 1e-3, "fatol": np.inf})
    if not found.success:
        raise RuntimeError(f"the constants of TunedRR were not found: {found.message}")
    scale, ceiling = np.exp(found.x)
    return TunedRidge(prior, scale, ceiling)
