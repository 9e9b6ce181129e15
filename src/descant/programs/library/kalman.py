"""Bayesian linear regression, one sample after the other: a Kalman filter for a constant state."""


def kalman(X: "n d", y: "n 1", w: "d 1" = 0, *, variance=1.0, noise=0.5, start=0.05, K=10):
    """Mean and covariance of w given y = X w + noise, prior N(w, variance I), updated row by row.

    The gain needs 1 / s for s = x P x^T + noise^2, a number that depends on the data: K Newton steps from `start`,
    which must lie between 0 and 2 / s. All rows share their weights.
    """
    P = variance * eye(d)
    for t in range(n):
        x = X[t]
        u = P @ x.T
        s = x @ u + noise**2 * eye(1)
        g = reciprocal(s, K, start)
        w = w + u @ g @ (y[t] - x @ w)
        P = P - u @ g @ u.T
    return w, P
