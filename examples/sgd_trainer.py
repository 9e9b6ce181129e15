"""A trainer of one's own: plain stochastic gradient descent, whose state can be put on disk between its steps.

descant train lsa --d 3 --n 8 --solver sgd_trainer:SGD --steps 400 --lr 0.1
"""

import jax
import jax.numpy as jnp
import numpy as np
from jax.flatten_util import ravel_pytree

from descant.training import State, sample_loss


class SGD:
    """Stochastic gradient descent on fresh contexts, with a constant step size."""

    def __init__(self, model, task, *, objective, key, steps: int = 1000, batch: int = 64, lr: float = 0.05):
        (self._theta, self._rebuild), self._steps, self._lr = ravel_pytree(model), steps, lr

        def loss(theta, step):
            model, keys = self._rebuild(theta), jax.random.split(jax.random.fold_in(key, step), batch)
            return jnp.mean(jax.vmap(lambda key: sample_loss(objective, model, task, key))(keys))

        self._slope = jax.jit(jax.value_and_grad(loss))

    def init(self):  # the model as it was given
        return State({"theta": np.asarray(self._theta)}, {"step": 0})

    def advance(self, state):  # one step: the new state, and a row of metrics
        theta, step = state.arrays["theta"], state.info["step"] + 1
        value, slope = self._slope(jnp.asarray(theta), step)
        info = {"step": step, "stopped": f"step limit of {self._steps}"}
        row = {"step": step, "loss": float(value), "progress": step / self._steps}
        return State({"theta": theta - self._lr * np.asarray(slope)}, info), [row]

    def finished(self, state):
        return state.info["step"] >= self._steps

    def model(self, state):
        return self._rebuild(jnp.asarray(state.arrays["theta"]))
