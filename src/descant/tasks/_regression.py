"""In-context linear regression: the law of prompts that every paper here studies."""

from numbers import Real

import equinox as eqx
import jax
from jaxtyping import Array, Float, PRNGKeyArray

from .. import _check, _memory
from .._linalg import psd_root
from .._random import normals
from .._unknown import Unknown
from ._law import AbstractInputs, AbstractPrior
from ._posterior import Posterior, mixture_posterior
from ._prompt import Moments, Prompt
from ._task import AbstractTask
from ._wishart import bartlett_gram, bartlett_normals
from .inputs import GaussianInputs
from .labels import AbstractLabelNoise, GaussianLabelNoise
from .noise import AbstractNoise, FixedNoise, one_level
from .priors import GaussianPrior


class LinearRegression(AbstractTask):
    """Prompts of n labelled inputs: w ~ prior, x_i ~ inputs, y_i = `<w, x_i>` + sigma eta_i with one sigma ~ noise.

    **Arguments:** `d` and `n` are the input dimension and the context length. Left out, the `prior` is N(0, I), the
    `inputs` are N(0, I), there is no `noise` (a number is a fixed level), and `labels`, the law of eta, is N(0, 1).
    Sampling is written for one prompt; batch it with `jax.vmap` over keys.

    >>> import jax
    >>> task = LinearRegression(d=3, n=8, noise=FixedNoise(0.5))
    >>> prompts = jax.vmap(lambda key: task.sample(key=key))(jax.random.split(jax.random.key(0), 100))
    >>> prompts.x.shape
    (100, 8, 3)
    """

    d: int = eqx.field(static=True)
    n: int = eqx.field(static=True)
    prior: AbstractPrior
    inputs: AbstractInputs
    noise: AbstractNoise
    labels: AbstractLabelNoise

    def __init__(
        self,
        d: int,
        n: int,
        prior: AbstractPrior | None = None,
        inputs: AbstractInputs | None = None,
        noise: AbstractNoise | float | None = None,
        labels: AbstractLabelNoise | None = None,
    ):
        _check.size("d", d)
        _check.size("n", n)
        _memory.need(f"a prior and a law of inputs in d = {d} dimensions", 8 * d * d, "d")
        self.d = d
        self.n = n
        self.prior = GaussianPrior.isotropic(d) if prior is None else prior
        self.inputs = GaussianInputs.isotropic(d) if inputs is None else inputs
        noise = 0.0 if noise is None else noise
        self.noise = FixedNoise(float(noise)) if isinstance(noise, Real) else noise  # pyright: ignore
        self.labels = GaussianLabelNoise() if labels is None else labels

    def __check_init__(self):
        parts = {"prior": AbstractPrior, "inputs": AbstractInputs, "noise": AbstractNoise, "labels": AbstractLabelNoise}
        for name, sort in parts.items():
            part = getattr(self, name)
            if not isinstance(part, sort):
                raise ValueError(f"{name} is {part!r}; expected a law of the sort {sort.__name__}, or none.")
        self.prior.check(self.d)
        self.inputs.check(self.d)
        try:
            second = self.labels.moments().second
        except Unknown:
            return
        if second != 1.0:
            raise ValueError(f"labels has variance {second}; expected 1: the noise level is the standard deviation.")

    @property
    def numbers(self) -> int | None:
        """How many standard normal numbers a prompt is made of: inputs and query, task, label noise, noise level."""
        inputs, prior = self.inputs.numbers(self.d), self.prior.numbers(self.d)
        if inputs is None or prior is None or not (self.noise.placed and self.labels.placed):
            return None
        return (self.n + 1) * inputs + prior + self.n + 1

    def place(self, normals: Float[Array, " numbers"]) -> Prompt:
        """The prompt that standard normal numbers stand for, with its hidden task, noise level and noiseless label."""
        inputs, prior = self.inputs.numbers(self.d), self.prior.numbers(self.d)
        if self.numbers is None or inputs is None or prior is None:
            raise Unknown("not all laws of this task are made of normal numbers")
        _check.shape("normals", normals, (self.numbers,), "the property `numbers` says so")
        sizes = ((self.n + 1) * inputs, prior, self.n, 1)
        x_part, w_part, noise, level = jax.lax.split(normals, sizes)
        x = jax.vmap(self.inputs.place)(x_part.reshape(self.n + 1, inputs))
        return self._prompt(x, self.prior.place(w_part), self.noise.place(level[0]), self.labels.place(noise))

    def sample(self, *, key: PRNGKeyArray) -> Prompt:
        """Draw a prompt."""
        if self.numbers is not None:
            # One draw of many numbers: every call of a random function adds half a second to the compilation.
            return self.place(normals(key, self.numbers, self.dtype))
        for_x, for_w, for_level, for_labels = jax.random.split(key, 4)
        x = jax.vmap(lambda key: self.inputs.sample(self.d, key=key))(jax.random.split(for_x, self.n + 1))
        w, sigma = self.prior.sample(self.d, key=for_w), self.noise.sample(key=for_level)
        parts = (x, w, sigma, self.labels.sample(self.n, key=for_labels))
        return self._prompt(*(part.astype(self.dtype) for part in parts))

    def _prompt(self, x: Array, w: Array, sigma: Array, eta: Array) -> Prompt:
        """Put together what the laws drew; somebody's own may have drawn other shapes."""
        drawn = {"inputs": x[0], "prior": w, "noise": sigma, "labels": eta}
        shapes = ((self.d,), (self.d,), (), (self.n,))
        for (name, part), shape in zip(drawn.items(), shapes, strict=True):
            _check.shape(f"what {name} drew", part, shape, f"d = {self.d} and n = {self.n}")
        labels = x @ w
        return Prompt(x[:-1], labels[:-1] + sigma * eta, x[-1], w, sigma, labels[-1])

    @property
    def moments_take_tokens(self) -> bool:
        """Whether moments take drawn tokens: inputs or label noise that are not centred Gaussian, or n <= d."""
        return self._input_root() is None

    def _input_root(self) -> Float[Array, "d d"] | None:
        """The root of the inputs' covariance, where contexts can be drawn as Wishart matrices."""
        if self.n <= self.d or not self.labels.gaussian:
            return None
        try:
            return psd_root(self.inputs.centred_gaussian(self.d))
        except Unknown:
            return None

    def sample_moments(self, *, key: PRNGKeyArray) -> Moments:
        """Draw the moments of a context: without tokens for Gaussian inputs and n > d, from tokens otherwise."""
        root = self._input_root()
        if root is None:
            return self.sample(key=key).moments()
        if self.moment_numbers is not None:
            return self.place_moments(normals(key, self.moment_numbers, self.dtype))
        key, for_w, for_level = jax.random.split(key, 3)
        w = self.prior.sample(self.d, key=for_w).astype(self.dtype)
        sigma = self.noise.sample(key=for_level).astype(self.dtype)
        numbers = normals(key, bartlett_normals(self.d), self.dtype)
        return Moments(bartlett_gram(w, sigma, root, numbers, self.n), self.n, w, sigma)

    @property
    def moment_numbers(self) -> int | None:
        """How many standard normal numbers a context's moments are made of: task, Gram matrix, noise level."""
        prior = self.prior.numbers(self.d)
        if self.moments_take_tokens or prior is None or not self.noise.placed:
            return None
        return prior + bartlett_normals(self.d) + 1

    def place_moments(self, normals: Float[Array, " numbers"]) -> Moments:
        """The moments that standard normal numbers stand for."""
        prior, root = self.prior.numbers(self.d), self._input_root()
        if self.moment_numbers is None or prior is None or root is None:
            raise Unknown("the moments of this task are not made of normal numbers")
        _check.shape("normals", normals, (self.moment_numbers,), "the property `moment_numbers` says so")
        for_w, for_gram, level = jax.lax.split(normals, (prior, bartlett_normals(self.d), 1))
        w, sigma = self.prior.place(for_w), self.noise.place(level[0])
        return Moments(bartlett_gram(w, sigma, root, for_gram, self.n), self.n, w, sigma)

    def query_metric(self) -> Float[Array, "d d"]:
        """The second moment of the inputs."""
        return self.inputs.second_moment(self.d).astype(self.dtype)

    def posterior(self, moments: Moments, sigma: Float[Array, ""] | None = None) -> Posterior:
        """The posterior of w given a context; with `sigma`, given the prompt's noise level too.

        `Unknown` if the prior is no mixture of Gaussians, the noise law can't be integrated over, or label noise isn't
        Gaussian.
        """
        _check.shape("moments.gram", moments.gram, (self.d + 1, self.d + 1), f"d = {self.d}")
        if not self.labels.gaussian:
            raise Unknown(f"with {type(self.labels).__name__} the posterior takes more of a context than its moments")
        nodes = self.noise.nodes if sigma is None else (lambda _: one_level(sigma))
        return mixture_posterior(self.prior.components(self.d), nodes, moments)

    def regression(self) -> "LinearRegression":
        """This task: it is a linear regression already."""
        return self
