"""Ridge regression by heavy-ball momentum."""


def momentum(X: "n d", y: "n 1", w: "d 1" = 0, v: "d 1" = 0, *, eta=0.01, mu=0.5, lam=0.5, T=10):
    """T steps of gradient descent with memory: v <- mu v - eta grad(w), w <- w + v (Polyak 1964).

    Converges for 0 <= mu < 1 and eta < 2 (1 + mu) / (lambda_max(X^T X) + lam).
    """
    for t in range(T):
        v = mu * v - eta * (X.T @ (X @ w - y) + lam * w)
        w = w + v
    return w
