"""Ridge regression, solved to machine precision by Newton-Schulz iteration."""


def ridge_newton_schulz(X: "n d", y: "n 1", *, lam=0.5, high=50.0, T=20):
    """w = (X^T X + lam I)^-1 X^T y, with the inverse by T steps of Newton-Schulz from Z = 2 / (lam + high) I.

    `high` bounds the eigenvalues of X^T X + lam I from above, lam does from below: with a condition number of
    k = high / lam the error after T steps is ((k - 1) / (k + 1)) ** (2 ** T).
    """
    A = X.T @ X + lam * eye(d)
    Z = 2 / (lam + high) * eye(d)
    for t in range(T):
        Z = 2 * Z - Z @ A @ Z
    return Z @ (X.T @ y)
