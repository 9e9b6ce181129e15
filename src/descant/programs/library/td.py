"""Temporal-difference learning, TD(0), on a batch of transitions."""


def td(F: "n d", G: "n d", r: "n 1", w: "d 1" = 0, *, alpha=0.01, discount=0.9, T=10):
    """T sweeps w <- w + alpha F^T (r + discount G w - F w): linear value estimates <w, feature>.

    Row i of F holds the features of a state, of G those of the state after it, of r the reward between them.
    """
    for t in range(T):
        w = w + alpha * F.T @ (r + discount * G @ w - F @ w)
    return w
