"""A law of noise levels of one's own: every order of magnitude is as likely as every other.

    descant risk bayes --d 3 --n 8 --noise log_uniform_noise:LogUniform:0.1,3
    descant train gd++ --d 3 --n 8 --noise log_uniform_noise:LogUniform:0.1,3 --layers 1

With `moment` there are exact risks, with `nodes` the posterior of somebody who knows the law only.
"""

import math

import equinox as eqx
import jax
import jax.numpy as jnp

from descant import LinearRegression, best, risk
from descant.tasks import AbstractNoise, NoiseNodes, peak_panels


class LogUniform(AbstractNoise):
    """log sigma ~ U(log low, log high)."""

    low: float = eqx.field(static=True)
    high: float = eqx.field(static=True)

    def sample(self, *, key):
        return self.low * (self.high / self.low) ** jax.random.uniform(key)

    def moment(self, power):
        return jnp.asarray((self.high**power - self.low**power) / (power * math.log(self.high / self.low)))

    def nodes(self, log_likelihood):
        low, high = jnp.log(self.low), jnp.log(self.high)
        t, weights, rougher = peak_panels(lambda t: log_likelihood(jnp.exp(t)), high, low)
        return NoiseNodes(jnp.exp(t), weights - jnp.log(high - low), rougher - jnp.log(high - low))


if __name__ == "__main__":
    task = LinearRegression(3, 8, noise=LogUniform(0.1, 3.0))
    for name in ("bayes", "tuned-ridge", "lsa"):
        print(name, risk(best(name, task), task, samples=4096))
