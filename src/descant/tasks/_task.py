"""What a task is: a law of prompts, and what can be asked of it."""

from abc import abstractmethod
from typing import TYPE_CHECKING

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from .._final import AbstractOpen
from .._unknown import Unknown
from ._posterior import Posterior
from ._prompt import Moments, Prompt

if TYPE_CHECKING:
    from ._regression import LinearRegression


class AbstractTask(AbstractOpen):
    """A law of prompts of n labelled inputs in R^d and a query. `sample` is all it must have, beside the sizes d and n.

    A task of one's own is a subclass with fields `d` and `n` (static) and a method `sample`; it can then be trained on,
    and every predictor is measured on its tokens. What else it knows is asked of it; left out, the answer is no:

    | method | what it makes possible |
    |---|---|
    | `numbers`, `place` | prompts as functions of standard normal numbers: faster draws for Adam |
    | `moment_numbers`, `place_moments` | moments as functions of standard normal numbers, in the same way |
    | `sample_moments`, `moments_take_tokens` | contexts drawn as Gram matrices, at a cost that doesn't grow with n |
    | `query_metric` | risks over sampled contexts with the query integrated by hand |
    | `posterior` | Bayes, adjusted risks, the objectives `posterior` and `adjusted` |
    | `regression` | the closed forms of `descant.theory` |

    >>> import jax
    >>> class Signs(AbstractTask):
    ...     d: int = eqx.field(static=True)
    ...     n: int = eqx.field(static=True)
    ...     def sample(self, *, key):
    ...         x = jax.random.normal(key, (self.n + 1, self.d))
    ...         y = jax.numpy.sign(x[:, 0])
    ...         return Prompt(x[:-1], y[:-1], x[-1], y_query=y[-1])
    >>> from descant import estimators, risk
    >>> risk(estimators.Zero(), Signs(2, 5)).method
    'tokens'
    """

    d: eqx.AbstractVar[int]
    n: eqx.AbstractVar[int]

    @abstractmethod
    def sample(self, *, key: PRNGKeyArray) -> Prompt:
        """Draw a prompt with its `y_query`, what is to be predicted (without label noise).

        One prompt, in JAX: it is mapped over keys and compiled, so no Python `if` on what was drawn. Give `w` and
        `sigma` too where there are such.
        """

    @property
    def dtype(self):
        """The precision of draws: cast all arrays of a task to float32 to sample in float32."""
        leaves = jax.tree.leaves(eqx.filter(self, eqx.is_inexact_array))
        return jnp.result_type(*leaves) if leaves else jnp.result_type(float)

    @property
    def numbers(self) -> int | None:
        """How many standard normal numbers `place` makes a prompt of; None if there is no `place`."""
        return None

    def place(self, normals: Float[Array, " numbers"]) -> Prompt:
        """The prompt that standard normal numbers stand for, `numbers` of them: a draw, if they are drawn."""
        raise Unknown(f"prompts of {type(self).__name__} are not made of normal numbers")

    @property
    def moments_take_tokens(self) -> bool:
        """Whether moments can only be had by drawing tokens."""
        return True

    def sample_moments(self, *, key: PRNGKeyArray) -> Moments:
        """Draw the moments of a context with its hidden `w` and `sigma`; left out, those of a prompt that is drawn."""
        return self.sample(key=key).moments()

    @property
    def moment_numbers(self) -> int | None:
        """How many standard normal numbers `place_moments` makes a context's moments of; None if there is none."""
        return None

    def place_moments(self, normals: Float[Array, " numbers"]) -> Moments:
        """The moments that standard normal numbers stand for, `moment_numbers` of them."""
        raise Unknown(f"moments of {type(self).__name__} are not made of normal numbers")

    def query_metric(self) -> Float[Array, "d d"]:
        """E x_query x_query^T: what errors of a weight vector cost, where labels are `<w, x>` with a hidden w.

        One matrix for all prompts: only a task whose query is independent of the context and of w may have it.
        """
        raise Unknown(f"labels of {type(self).__name__} are not known to be linear in the inputs")

    def posterior(self, moments: Moments, sigma: Float[Array, ""] | None = None) -> Posterior:
        """The posterior of the hidden w given a context; with `sigma`, given the prompt's noise level too.

        **Returns:** a `Posterior`: mean (d,) and covariance (d, d) of w, and how far quadrature may have the mean
        wrong.
        """
        raise Unknown(f"the posterior of {type(self).__name__} is not known")

    def regression(self) -> "LinearRegression":
        """The linear regression that this task is, with its laws: what exact risks are made of."""
        raise Unknown(f"{type(self).__name__} is not known to be a linear regression")

    def error_norm(self, difference: Float[Array, " d"]) -> Float[Array, ""]:
        """E `<difference, x_query>`^2: what an error in the weight vector costs."""
        return difference @ self.query_metric() @ difference
