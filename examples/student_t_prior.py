"""A prior of one's own: heavy-tailed tasks, Student-t of some degrees of freedom.

    descant risk gd-beta --d 3 --n 8 --noise 0.7 --prior student_t_prior:HeavyTails:3 --prior-mean 1
    descant risk lsa --d 3 --n 8 --noise 0.7 --prior student_t_prior:HeavyTails:5 --prior-mean 1
`sample` is all it must have; with known moments, one-layer attention has exact risks under it.
"""

import equinox as eqx
import jax
import numpy as np

from descant import LinearRegression, best, risk
from descant.tasks import AbstractPrior, Unknown, elliptical_fourth, symmetric_moments


class HeavyTails(AbstractPrior):
    """Student-t tasks; `mean` and `scale` come from --prior-mean and --prior-scale."""

    df: float = eqx.field(static=True)
    mean: float = eqx.field(static=True, default=0.0)
    scale: float = eqx.field(static=True, default=1.0)

    def check(self, d): ...

    def sample(self, d, *, key):
        for_v, for_length = jax.random.split(key)
        length = self.scale * (self.df / jax.random.chisquare(for_length, self.df)) ** 0.5
        return self.mean + length * jax.random.normal(for_v, (d,))

    def moments(self, d):
        if self.df <= 2:
            raise Unknown(f"tasks of {self.df} degrees of freedom have no covariance")
        cov = self.scale**2 * self.df / (self.df - 2) * np.eye(d)
        fourth = elliptical_fourth(cov, (self.df - 2) / (self.df - 4)) if self.df > 4 else None
        return symmetric_moments(np.full(d, self.mean), cov, fourth)


if __name__ == "__main__":
    task = LinearRegression(3, 8, HeavyTails(5, mean=1.0), noise=0.7)
    print(risk(best("lsa", task), task))
