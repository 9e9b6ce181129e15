"""The leading eigenvector, by power iteration that normalises."""


def power_iteration(A: "n n", v: "n 1", *, T=10, K=20, start=0.01):
    """T steps v <- A v / |A v|, and the eigenvalue v^T A v.

    1 / |A v| is K Newton steps for s^(-1/2) from `start`, which must lie between 0 and sqrt(3) / |A v|; `power` does
    without, for matrices whose leading eigenvalue is known.
    """
    for t in range(T):
        u = A @ v
        v = u * rsqrt(u.T @ u, K, start)
    value = v.T @ A @ v
    return v, value
