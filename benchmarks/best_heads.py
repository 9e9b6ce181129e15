"""The best five-head LSA at d = n = 10: variable projection against L-BFGS on the weights, one start each.

The prior is not isotropic: otherwise there is nothing to search but one number.
"""

import jax
import jax.numpy as jnp
import numpy as np
from scipy.optimize import minimize

from descant.theory import Problem, best_heads, multi_head_lsa_risk

from ._timing import ratio

D, HEADS = 10, 5


def main() -> None:
    problem = Problem(jnp.ones(D), jnp.diag(jnp.linspace(0.5, 1.5, D)), jnp.eye(D), D, sigma=0.0)
    cut = HEADS * (D + 1)

    @jax.jit
    @jax.value_and_grad
    def risk(flat):
        return multi_head_lsa_risk(problem, flat[:cut].reshape(HEADS, D + 1), flat[cut:].reshape(HEADS, D + 1, D))

    def objective(flat):
        value, gradient = risk(flat)
        return float(value), np.asarray(gradient)

    start = 0.3 * np.random.default_rng(0).standard_normal(cut * (D + 1))

    def plain():
        options = {"maxiter": 5000, "maxfun": 10_000, "ftol": 1e-14, "gtol": 1e-9}
        return minimize(objective, start, jac=True, method="L-BFGS-B", options=options).fun

    ours, other, times = ratio(lambda: best_heads(problem, HEADS).risk, plain, 3)
    print(
        f"best heads: ours {ours:.3f} s to {best_heads(problem, HEADS).risk:.6f}, L-BFGS {other:.3f} s to "
        f"{plain():.6f}, ratio {times:.2f}"
    )


if __name__ == "__main__":
    main()
