"""Ridge regression by conjugate gradients."""


def conjugate_gradient(X: "n d", y: "n 1", w: "d 1" = 0, *, lam=0.5, T=4, K=30, start=0.001):
    """T steps of conjugate gradients for (X^T X + lam I) w = X^T y (Hestenes, Stiefel 1952); exact after d of them.

    The step length r^T r / p^T A p and the weight of the old direction take 1 / s for numbers s that depend on the
    data: K Newton steps from `start`, which must lie between 0 and 2 / s for all of them. Stop before r is rounding:
    then s is too small for K steps.
    """
    r = X.T @ (y - X @ w) - lam * w
    p = r
    s = r.T @ r
    for t in range(T):
        q = X.T @ (X @ p) + lam * p
        alpha = s * reciprocal(p.T @ q, K, start)
        w = w + alpha * p
        r = r - alpha * q
        new = r.T @ r
        p = r + new * reciprocal(s, K, start) * p
        s = new
    return w
