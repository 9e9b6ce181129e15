"""A task of one's own that is not linear regression: the labels are squares, y = `<w, x>`^2 - |w|^2.

    descant risk zero --d 3 --n 20 --task nonlinear_task:Squares
    descant risk ols --d 3 --n 20 --task nonlinear_task:Squares

Risks are measured on tokens; what can't be known of the task (its best LSA, its posterior) is refused with a sentence.
"""

import equinox as eqx
import jax

from descant import Prompt, best, estimators, risk
from descant.tasks import AbstractTask, Unknown


class Squares(AbstractTask):
    """Prompts of n inputs in R^d, labelled with a random quadratic form."""

    d: int = eqx.field(static=True)
    n: int = eqx.field(static=True)

    def sample(self, *, key):
        for_w, for_x = jax.random.split(key)
        w = jax.random.normal(for_w, (self.d,))
        x = jax.random.normal(for_x, (self.n + 1, self.d))
        y = (x @ w) ** 2 - w @ w
        return Prompt(x[:-1], y[:-1], x[-1], y_query=y[-1])


if __name__ == "__main__":
    task = Squares(3, 20)
    print(risk(estimators.Zero(), task))
    try:
        best("lsa", task)
    except Unknown as reason:
        print(reason)
