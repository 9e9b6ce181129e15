"""Least mean squares: online gradient descent, one sample after the other."""


def lms(X: "n d", y: "n 1", w: "d 1" = 0, *, eta=0.1):
    """One pass w <- w + eta x (y - x^T w) over the rows of X (Widrow, Hoff 1960).

    Stable on average for eta < 2 / E|x|^2. All rows are read by the same weights.
    """
    for t in range(n):
        w = w + eta * X[t].T @ (y[t] - X[t] @ w)
    return w
