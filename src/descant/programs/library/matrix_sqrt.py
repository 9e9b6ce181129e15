"""The square root of a matrix and its inverse, by the coupled Newton-Schulz iteration."""


def matrix_sqrt(A: "n n", *, scale=0.1, T=15):
    """T steps of Newton-Schulz for A^(1/2) and A^(-1/2) (Higham 2008, equation 6.35), which needs products only.

    A has positive eigenvalues; `scale` brings those of scale A into (0, 2).
    """
    S = scale * A
    Z = eye(n)
    for t in range(T):
        M = 1.5 * eye(n) - 0.5 * Z @ S
        S = S @ M
        Z = M @ Z
    return S / sqrt(scale), Z * sqrt(scale)
