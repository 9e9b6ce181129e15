"""Kernel ridge regression with a polynomial kernel."""


def kernel_ridge(X: "n d", y: "n 1", query: "k d", *, degree=2, offset=1.0, lam=0.5, eta=0.01, T=20):
    """The predictions for the queries, with the kernel (x^T z + offset) ^ degree.

    T steps of gradient descent a <- a - eta ((K + lam I) a - y) for the weights of the samples, which converge for
    eta < 2 / (lambda_max(K) + lam). The kernel is an element-wise power of the Gram matrix: every row of it takes
    blocks of its own.
    """
    G = (X @ X.T + offset * ones(n, n)) ** degree
    a = zeros(n, 1)
    for t in range(T):
        a = a - eta * (G @ a + lam * a - y)
    prediction = (query @ X.T + offset * ones(k, n)) ** degree @ a
    return prediction
