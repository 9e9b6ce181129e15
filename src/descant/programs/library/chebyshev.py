"""Ridge regression by Chebyshev iteration."""


def chebyshev(X: "n d", y: "n 1", w: "d 1" = 0, *, low=0.5, high=50.0, lam=0.5, T=10):
    """T steps of the Chebyshev iteration (Saad 2003, algorithm 12.1) for (X^T X + lam I) w = X^T y.

    `low` and `high` bound the eigenvalues of X^T X + lam I. The coefficients differ from step to step.
    """
    theta = (high + low) / 2
    delta = (high - low) / 2
    rho = delta / theta
    r = X.T @ (y - X @ w) - lam * w
    p = r / theta
    for t in range(T):
        w = w + p
        r = r - X.T @ (X @ p) - lam * p
        new = 1 / (2 * theta / delta - rho)
        p = new * rho * p + 2 * new / delta * r
        rho = new
    return w
