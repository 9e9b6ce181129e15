"""GD++: gradient descent that also transforms its inputs (von Oswald et al. 2023)."""


def gd_plus_plus(X: "n d", y: "n 1", query: "d 1", *, eta=0.01, gamma=0.01, T=5):
    """T layers that take a step on the residuals and contract the inputs, x <- (I - gamma X^T X) x, query included.

    Each is a step of gradient descent on inputs that the layer before has made rounder.
    """
    prediction = zeros(1, 1)
    for t in range(T):
        g = X.T @ y
        G = X.T @ X
        prediction = prediction + eta * query.T @ g
        y = y - eta * X @ g
        query = query - gamma * G @ query
        X = X - gamma * X @ G
    return prediction
