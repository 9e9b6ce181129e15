"""An estimator of one's own: least squares, shrunk towards zero by the share of n that the dimension takes.

    descant risk shrunk_estimator:ShrunkOLS --d 3 --n 8 --noise 0.7 --prior student_t_prior:HeavyTails:5

It is linear in the query and sees the context through X^T X and X^T y, so it says so by its weights, and is measured on
Gram matrices as our own are.
"""

import jax.numpy as jnp

from descant import AbstractLinearPredictor, LinearRegression, best, risk


class ShrunkOLS(AbstractLinearPredictor):
    """(1 - d / n) times the least-squares solution; 0 where contexts are no longer than the dimension."""

    def weights(self, moments):
        keep = max(0.0, 1 - moments.d / moments.n)
        return keep * jnp.linalg.pinv(moments.xx, hermitian=True) @ moments.xy


if __name__ == "__main__":
    task = LinearRegression(3, 8, noise=0.7)
    for name, predictor in (("shrunk", ShrunkOLS()), ("ols", best("ols", task)), ("ridge", best("ridge", task))):
        print(name, risk(predictor, task))
