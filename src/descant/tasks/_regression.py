"""In-context linear regression: the law of prompts that every paper here studies."""

import equinox as eqx
import jax
from jaxtyping import Array, Float, PRNGKeyArray

from .. import _check
from .._linalg import psd_root
from .._random import normals
from ._inputs import AbstractInputs, GaussianInputs
from ._noise import AbstractNoise, FixedNoise
from ._posterior import Posterior, known_noise_posterior, mixture_posterior
from ._prior import GaussianPrior
from ._prompt import Moments, Prompt
from ._wishart import bartlett_freedoms, bartlett_gram, bartlett_normals


class LinearRegression(eqx.Module):
    """Prompts of n labelled inputs: w ~ prior, x_i ~ inputs, y_i = `<w, x_i>` + sigma N(0, 1), one sigma ~ noise a prompt.

    Left out, the prior is N(0, I), the inputs are N(0, I), and there is no noise. Sampling is written for one prompt;
    batch it with `jax.vmap` over keys.

    >>> import jax
    >>> task = LinearRegression(d=3, n=8, noise=FixedNoise(0.5))
    >>> prompts = jax.vmap(lambda key: task.sample(key=key))(jax.random.split(jax.random.key(0), 100))
    >>> prompts.x.shape
    (100, 8, 3)
    """

    d: int = eqx.field(static=True)
    n: int = eqx.field(static=True)
    prior: GaussianPrior
    inputs: AbstractInputs
    noise: AbstractNoise

    def __init__(
        self,
        d: int,
        n: int,
        prior: GaussianPrior | None = None,
        inputs: AbstractInputs | None = None,
        noise: AbstractNoise | None = None,
    ):
        _check.size("d", d)
        _check.size("n", n)
        self.d = d
        self.n = n
        self.prior = GaussianPrior.isotropic(d) if prior is None else prior
        self.inputs = GaussianInputs.isotropic(d) if inputs is None else inputs
        self.noise = FixedNoise(0.0) if noise is None else noise

    def __check_init__(self):
        _check.shape("prior.mean", self.prior.mean, (self.d,), f"d = {self.d}")
        self.inputs.check(self.d)

    @property
    def dtype(self):
        """The precision of draws: that of the prior. Cast all arrays of a task to float32 to sample in float32."""
        return self.prior.mean.dtype

    @property
    def moments_take_tokens(self) -> bool:
        """Whether moments can only be had by drawing tokens: other than Gaussian inputs, or n <= d."""
        return not isinstance(self.inputs, GaussianInputs) or self.n <= self.d

    @property
    def numbers(self) -> int:
        """How many standard normal numbers a prompt is made of: inputs and query, task, label noise, noise level."""
        return (self.n + 1) * self.d + self.d + self.n + 1

    def place(self, normals: Float[Array, " numbers"]) -> Prompt:
        """The prompt that standard normal numbers stand for, with its hidden task, noise level and noiseless label."""
        _check.shape("normals", normals, (self.numbers,), "the property `numbers` says so")
        sizes = ((self.n + 1) * self.d, self.d, self.n, 1)
        x_part, w_part, noise, level = jax.lax.split(normals, sizes)
        x = self.inputs.place(x_part.reshape(self.n + 1, self.d))
        w, sigma = self.prior.place(w_part), self.noise.place(level[0])
        labels = x @ w
        return Prompt(x[:-1], labels[:-1] + sigma * noise, x[-1], w, sigma, labels[-1])

    def sample(self, *, key: PRNGKeyArray) -> Prompt:
        """Draw a prompt."""
        # One draw of many numbers: every call of a random function adds half a second to the compilation.
        return self.place(normals(key, self.numbers, self.dtype))

    def sample_moments(self, *, key: PRNGKeyArray) -> Moments:
        """Draw the moments of a context: without tokens for Gaussian inputs and n > d, from tokens otherwise."""
        if self.moments_take_tokens:
            return self.sample(key=key).moments()
        assert isinstance(self.inputs, GaussianInputs)  # or tokens would have been drawn
        key_normal, key_chi = jax.random.split(key)
        numbers = normals(key_normal, self.d + bartlett_normals(self.d) + 1, self.dtype)
        chi_squares = jax.random.chisquare(
            key_chi, bartlett_freedoms(self.d, self.n).astype(self.dtype), dtype=self.dtype
        )
        w, sigma = self.prior.place(numbers[: self.d]), self.noise.place(numbers[-1])
        gram = bartlett_gram(w, sigma, psd_root(self.inputs.cov), numbers[self.d : -1], chi_squares)
        return Moments(gram, self.n, w, sigma)

    def posterior(self, moments: Moments, sigma: Float[Array, ""] | None = None) -> Posterior:
        """The posterior of w given a context; with `sigma`, given the prompt's noise level too (then it is Gaussian)."""
        _check.shape("moments.gram", moments.gram, (self.d + 1, self.d + 1), f"d = {self.d}")
        if sigma is not None:
            return known_noise_posterior(self.prior, moments, sigma)
        if isinstance(self.noise, FixedNoise):
            return known_noise_posterior(self.prior, moments, self.noise.sigma)
        return mixture_posterior(self.prior, self.noise, moments)

    def error_norm(self, difference: Float[Array, " d"]) -> Float[Array, ""]:
        """E `<difference, x_query>`^2: what an error in the weight vector costs."""
        return difference @ self.inputs.second_moment(self.d) @ difference
