"""Ridge regression by gradient descent."""


def ridge(X: "n d", y: "n 1", w: "d 1" = 0, *, eta=0.01, lam=0.5, T=10):
    """T steps of gradient descent on |y - X w|^2 / 2 + lam |w|^2 / 2, from w or from zero.

    Converges for eta < 2 / (lambda_max(X^T X) + lam).
    """
    for t in range(T):
        w = w - eta * (X.T @ (X @ w) - X.T @ y + lam * w)
    return w
