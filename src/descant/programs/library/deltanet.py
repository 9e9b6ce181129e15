"""DeltaNet: linear attention that corrects its memory instead of adding to it."""


def deltanet(Q: "n d", K: "n d", V: "n e", S: "e d" = 0, *, beta=0.5):
    """S <- S - beta (S k - v) k^T for each token, and what its query reads, S q (Schlag, Irie, Schmidhuber 2021).

    The memory S takes a step of gradient descent on |S k - v|^2 / 2 with every key and value; rows of the result are
    written one by one. Stable for beta < 2 / |k|^2.
    """
    out = zeros(n, e)
    for t in range(n):
        S = S - beta * (S @ K[t].T - V[t].T) @ K[t]
        out[t] = Q[t] @ S.T
    return out, S
