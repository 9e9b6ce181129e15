"""Least mean squares: online gradient descent, one sample after the other."""


def lms(X: "n d", y: "n 1", w: "d 1" = 0, *, eta=0.1):
    """One pass w <- w + eta x (y - x^T w) over the rows of X (Widrow, Hoff 1960), and the error made at each of them.

    Stable on average for eta < 2 / E|x|^2.
    """
    errors = zeros(n, 1)
    for t in range(n):
        error = y[t] - X[t] @ w
        w = w + eta * X[t].T @ error
        errors[t] = error
    return w, errors
