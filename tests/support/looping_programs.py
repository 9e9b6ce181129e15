# type: ignore
"""Programs as Python functions with loops that Python itself decides about."""

from descant.programs import program


@program
def keeps_the_first(X: "n d", w: "d 1"):
    kept = []
    for t in range(3):
        b = X @ w
        if t == 0:
            kept.append(b)
        w = w + X.T @ kept[0]
    return w


@program
def names_the_first(X: "n d", w: "d 1"):
    a = w
    for t in range(3):
        b = X.T @ (X @ w)
        if t == 0:
            a = b
        w = w + b
    return a, w


@program
def breaks(X: "n d", w: "d 1"):
    for t in range(5):
        w = w + X.T @ (X @ w)
        if t == 2:
            break
    return w


@program
def breaks_inside(X: "n d", w: "d 1"):
    for _ in range(3):
        for k in range(4):
            w = w - 0.1 * X[k : k + 1, :].T
            if k == 1:
                break
    return w


@program
def skips(X: "n d", w: "d 1"):
    for t in range(4):
        if t == 2:
            continue
        w = w + X[t : t + 1, :].T
    return w
