"""The inverse of a matrix by Newton-Schulz iteration."""


def newton_schulz(A: "n n", *, scale=0.1, T=20):
    """T steps Z <- 2 Z - Z A Z from Z = scale A^T; the error I - A Z is squared by each of them.

    Converges for 0 < scale < 2 / |A|^2 (spectral norm), to the pseudoinverse if A is singular.
    """
    Z = scale * A.T
    for t in range(T):
        Z = 2 * Z - Z @ A @ Z
    return Z
