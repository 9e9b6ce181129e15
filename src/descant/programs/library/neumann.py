"""A Neumann series."""


def neumann(A: "n n", B: "n k", *, T=10):
    """B + A B + A^2 B + ... + A^T B, by Horner's rule; near (I - A)^-1 B if A's eigenvalues are in the unit circle."""
    S = B
    for t in range(T):
        S = B + A @ S
    return S
