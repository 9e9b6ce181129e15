"""The optimum where it has no closed form: the posterior mean by importance sampling."""

from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from .. import _check
from .._predictor import AbstractPredictor
from .._unknown import Unknown
from ..tasks import AbstractTask, GaussianPrior, LinearRegression, Prompt, WeighedRidges

DRAWS = 512
# Draws whose likelihood is computed at once.
BLOCK = 64
# Degrees of freedom of the proposal: heavier tails than a posterior's, so that weights stay bounded.
HEAVY = 5


class BayesEstimate(NamedTuple):
    """A posterior mean by Monte Carlo: the weight vector, the prediction and its standard error.

    Also how many equally weighed draws are worth as much: few of them mean that the standard error can't be trusted
    either.
    """

    weights: Float[Array, " d"]
    value: Float[Array, ""]
    standard_error: Float[Array, ""]
    effective: Float[Array, ""]


class MonteCarloBayes(AbstractPredictor):
    """The posterior mean of a linear regression whose prior or label noise has no closed form, by importance sampling.

    Tasks are proposed around the ridge solutions that would be the posterior if labels were Gaussian (and, unless the
    prior is a mixture of Gaussians, tasks too), with the tails of a Student-t law, and weighed by the true densities.
    As an average over `draws` it is off by a standard error, which `estimate` reports; its risk is above that of the
    true posterior mean by the mean square of that, see `descant.measure.bayes_risk` for one that is not. The same
    `seed` gives the same answer.

    **Arguments:** `draws` is rounded up to a multiple of 64. `MonteCarloBayes.of(task)` refuses a task whose laws know
    too little of themselves: the prior's density and covariance, the label noise's density, a noise law without the
    level 0.
    """

    task: LinearRegression
    matching: GaussianPrior | None
    draws: int = eqx.field(static=True)
    seed: int = eqx.field(static=True)

    def __init__(self, task: LinearRegression, draws: int = DRAWS, seed: int = 0):
        _check.size("draws", draws, least=2)
        self.task = task
        try:
            task.prior.components(task.d)
            self.matching = None
        except Unknown:
            self.matching = GaussianPrior.matching(task.prior, task.d)
        self.draws = -(-draws // BLOCK) * BLOCK
        self.seed = seed

    @classmethod
    def of(cls, task: AbstractTask, draws: int = DRAWS, seed: int = 0) -> "MonteCarloBayes":
        """The estimator of a task whose laws know enough of themselves; else `Unknown` says what is missing."""
        made = cls(task.regression(), draws, seed)
        sigmas = _check.concrete(made.task.noise.nodes(jnp.zeros_like).sigmas)
        if sigmas is not None and not (sigmas > 0).all():
            raise Unknown("without noise a posterior can't be sampled by weighing, and this noise law has the level 0")
        jax.eval_shape(lambda key: made(task.sample(key=key)), jax.random.key(0))
        return made

    def __call__(self, prompt: Prompt) -> Float[Array, ""]:
        """The estimate of the posterior mean at the query."""
        return self.estimate(prompt).value

    def estimate(self, prompt: Prompt, *, key: PRNGKeyArray | None = None) -> BayesEstimate:
        """The estimate with its standard error (delta method).

        **Arguments:** another `key` gives an independent estimate; left out, it is that of `seed`.
        """
        key = jax.random.key(self.seed) if key is None else key
        prior, d, matching = self.task.prior, self.task.d, self.matching
        mixture = (prior if matching is None else matching).components(d)
        spectra, sigmas, log_prior, weights, _ = WeighedRidges.of(mixture, self.task.noise.nodes, prompt.moments())
        # Labels that aren't Gaussian may favour other parts: the square root flattens what Gaussian ones would say.
        flat = jnp.cumsum(jnp.sqrt(weights).ravel())
        log_parts = jnp.log(jnp.diff(flat, prepend=0.0) / flat[-1])
        for_part, for_normal, for_scale = jax.random.split(key, 3)
        # By hand: jax.random.categorical would draw a number for every part and every draw.
        quantiles = flat[-1] * jax.random.uniform(for_part, (self.draws,), prompt.y.dtype)
        part = jnp.minimum(jnp.searchsorted(flat, quantiles, side="right"), flat.size - 1)
        normal = jax.random.normal(for_normal, (self.draws, d), prompt.y.dtype)
        tails = jax.random.chisquare(for_scale, HEAVY, (self.draws,), prompt.y.dtype) / HEAVY

        def drawn(part, normal, tail):
            """A task, and the logarithm of its weight."""
            of_prior, level = jnp.divmod(part, sigmas.shape[0])
            spectrum = jax.tree.map(lambda leaf: leaf[of_prior], spectra)
            sigma = sigmas[level]
            # In coordinates z of w = mean + directions z, in which the prior's Gaussian is N(0, I).
            width = jnp.sqrt(spectrum.remaining(sigma**2))
            step = normal / jnp.sqrt(tail)
            z = spectrum.shrinkage(sigma**2) * spectrum.slope + width * step
            w = spectrum.mean + spectrum.directions @ z
            proposed = -(HEAVY + d) / 2 * jnp.log1p(step @ step / HEAVY) - jnp.sum(jnp.log(width)) + log_parts[part]
            likelihood = self.task.labels.log_density((prompt.y - prompt.x @ w) / sigma) - jnp.log(sigma)
            density = -0.5 * z @ z if matching is None else prior.log_density(w)
            return w, log_prior[of_prior, level] + density + jnp.sum(likelihood) - proposed

        # In blocks: all draws of all prompts of a chunk at once would not fit into the caches,
        # nor for long contexts memory.
        blocks = jax.tree.map(lambda leaf: leaf.reshape(-1, BLOCK, *leaf.shape[1:]), (part, normal, tails))
        w, logs = jax.lax.map(lambda block: jax.vmap(drawn)(*block), blocks)
        w, shares = w.reshape(-1, d), jax.nn.softmax(logs.ravel())
        mean = shares @ w
        apart = (w - mean[None, :]) @ prompt.x_query
        error = jnp.sqrt(jnp.sum((shares * apart) ** 2))
        return BayesEstimate(mean, mean @ prompt.x_query, error, 1 / jnp.sum(shares**2))
