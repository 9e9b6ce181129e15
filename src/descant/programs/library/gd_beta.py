"""GD-beta: one preconditioned step of gradient descent from a learnt start (Zhang, Wu, Bartlett 2024)."""


def gd_beta(X: "n d", y: "n 1", query: "d 1", Gamma: "d d", beta: "d 1" = 0):
    """The prediction <beta - Gamma grad(beta), query>, with the gradient of |y - X beta|^2 / (2 n)."""
    w = beta + Gamma @ X.T @ (y - X @ beta) / n
    prediction = query.T @ w
    return prediction
