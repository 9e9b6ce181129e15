"""Subspace (power) iteration."""


def power(A: "n n", V: "n k", *, scale=0.1, T=10):
    """T steps V <- scale A V: the columns turn to the leading eigenvectors of A.

    There is no normalisation in a linear network, so choose scale near 1 / lambda_max; directions don't depend on it.
    """
    for t in range(T):
        V = scale * A @ V
    return V
