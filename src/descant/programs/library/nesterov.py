"""Ridge regression by Nesterov's accelerated gradient descent."""


def nesterov(X: "n d", y: "n 1", w: "d 1" = 0, *, eta=0.01, lam=0.5, T=10):
    """T steps of gradient descent from a point beyond w: v = w + t / (t + 3) (w - previous) (Nesterov 1983).

    Converges for eta <= 1 / (lambda_max(X^T X) + lam). The weight of the momentum grows with t.
    """
    previous = w
    for t in range(T):
        v = w + t / (t + 3) * (w - previous)
        previous = w
        w = v - eta * (X.T @ (X @ v - y) + lam * v)
    return w
