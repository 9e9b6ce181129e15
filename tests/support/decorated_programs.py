# type: ignore
"""Programs as Python functions; their annotations are sizes, which a type checker can't read."""

import numpy as np

from descant.programs import program, rsqrt

MATRICES = np.arange(6.0).reshape(2, 3)


@program
def ridge(X: "n d", y: "n 1", w: "d 1" = 0, *, eta=0.1, lam=0.5, T=10):
    """Ridge."""
    previous = zeros(d, 1)
    for t in range(T):
        step = X.T @ (X @ w) - X.T @ y + lam * w
        older = previous
        previous = w
        w = w - eta * step + 0.1 * (w - older)
        for k in range(2):
            w -= 0.01 * hstack([w, step])[:, 0:1] / (k + 1)
    return w, previous.T, vstack([w, 2 * eye(d)[:, 0:1]])


def helper(a):
    return a @ a.T


@program
def pythonic(X: "3 2", *, T=4):
    kept = []
    for t in range(T):
        X = X + 0.5 * MATRICES.T if t % 2 else X
        kept.append(helper(X))
    return kept[0] + kept[-1]


@program
def wrong(X: "n d"):
    Y = X.T
    return X @ X + Y


WRONG_LINE = wrong.front_end.function.__code__.co_firstlineno + 3


@program
def inverse(X: "n d"):
    return np.linalg.inv(X)


@program
def branch(X: "n d"):
    return X if X == 0 else X.T


@program
def placing(X: "3 2"):
    Z = zeros(3, 2)
    for t in range(3):
        Z = place(Z, X[t], 2 - t)
    return Z


@program
def writing(X: "3 2"):
    X[0] = X[1]
    return X


@program
def endless(X: "n d"):
    for t in range(100_000):
        for k in range(100_000):
            pass
    return X


def rebinding(X: "n d"):
    n = 3
    return X + zeros(n, d)


def normalised(v, steps=3):
    return v * rsqrt(v.T @ v, steps, 0.3)


@program
def modern(X: "n d", *, T=4):
    v = u = X[0].T
    Z = zeros(n, d)
    for t in range(T):
        if t % 2 == 0 or t > 2:
            v = normalised(X.T @ (X @ v), steps=2)
        else:
            u = u + v
            v = v - reciprocal(u.T @ u, 3, start=0.1) * v
        Z = place(Z, v.T, t % n)
    s = trace(X.T @ X) + mean(X * X) if T > 1 else sum(X)
    return s * Z, diag(v) @ u, X**2, sum(Z, axis=0)
