"""Every program of the library against an independent computation."""

import jax.numpy as jnp
import numpy as np
import pytest
import scipy.linalg

from descant import Moments
from descant.estimators import GDBeta, GDPlusPlus
from descant.programs import compile_program, library
from descant.programs.studies import SETTINGS

RANDOM = np.random.default_rng(7)
N, D = 12, 4
X, Y, QUERY = RANDOM.standard_normal((N, D)), RANDOM.standard_normal((N, 1)), RANDOM.standard_normal((D, 1))
GRAM, MOMENT = X.T @ X, X.T @ Y
TOP = float(np.linalg.eigvalsh(GRAM)[-1])


def outputs(name, inputs, **settings):
    """Through the weights, without compiling a JAX program for each of them."""
    return list(compile_program(name, settings).evaluate(inputs).values())


def close(found, expected, tolerance=1e-11):
    scale = np.abs(expected).max()
    np.testing.assert_allclose(found, expected, rtol=0, atol=tolerance * scale)


def test_ridge():
    """The polynomial of gradient descent, by eigenvalues: w_T = (1 - (1 - eta e)^T) / e X^T y."""
    eta, lam, steps = 1 / (TOP + 0.5), 0.5, 25
    values, vectors = np.linalg.eigh(GRAM + lam * np.eye(D))
    expected = vectors @ np.diag((1 - (1 - eta * values) ** steps) / values) @ vectors.T @ MOMENT
    (found,) = outputs("ridge", {"X": X, "y": Y}, n=N, d=D, eta=eta, lam=lam, T=steps)
    close(found, expected)


def test_momentum():
    """The same recurrence as powers of one 2d x 2d matrix."""
    eta, mu, lam, steps = 0.5 / TOP, 0.6, 0.5, 20
    a = GRAM + lam * np.eye(D)
    eye = np.eye(D)
    one = np.block([[eye - eta * a, mu * eye], [-eta * a, mu * eye]])
    shift = np.vstack([eta * MOMENT, eta * MOMENT])
    state = np.zeros((2 * D, 1))
    for _ in range(steps):
        state = one @ state + shift
    (found,) = outputs("momentum", {"X": X, "y": Y}, n=N, d=D, eta=eta, mu=mu, lam=lam, T=steps)
    close(found, state[:D])


def test_chebyshev():
    """The error after T steps is the scaled Chebyshev polynomial of degree T in each eigen-direction."""
    lam, steps = 0.5, 12
    values, vectors = np.linalg.eigh(GRAM + lam * np.eye(D))
    low, high = float(values[0]), float(values[-1])
    exact = np.linalg.solve(GRAM + lam * np.eye(D), MOMENT)
    polynomial = np.polynomial.chebyshev.Chebyshev.basis(steps)
    at = (high + low - 2 * values) / (high - low)
    shrink = polynomial(at) / polynomial((high + low) / (high - low))
    expected = exact - vectors @ np.diag(shrink) @ vectors.T @ exact
    (found,) = outputs("chebyshev", {"X": X, "y": Y}, n=N, d=D, low=low, high=high, lam=lam, T=steps)
    close(found, expected, 1e-10)


def test_newton_schulz():
    a = RANDOM.standard_normal((5, 5)) + 3 * np.eye(5)
    (found,) = outputs("newton_schulz", {"A": a}, n=5, scale=1 / np.linalg.norm(a, 2) ** 2, T=30)
    close(found, scipy.linalg.inv(a))


def test_ridge_newton_schulz():
    (found,) = outputs("ridge_newton_schulz", {"X": X, "y": Y}, n=N, d=D, lam=0.5, high=TOP + 0.5, T=14)
    close(found, scipy.linalg.solve(GRAM + 0.5 * np.eye(D), MOMENT, assume_a="pos"))


def test_gd_beta():
    beta, gamma = RANDOM.standard_normal((D, 1)), RANDOM.standard_normal((D, D))
    inputs = {"X": X, "y": Y, "query": QUERY, "Gamma": gamma, "beta": beta}
    (found,) = outputs("gd_beta", inputs, n=N, d=D)
    tokens = np.hstack([X, Y])
    weights = GDBeta(jnp.asarray(beta[:, 0]), jnp.asarray(gamma)).weights(Moments(jnp.asarray(tokens.T @ tokens), N))
    close(found, np.asarray(weights) @ QUERY[:, 0] * np.ones((1, 1)))


def test_gd_plus_plus():
    eta, gamma, layers = 0.3 / TOP, 0.1 / TOP, 4
    (found,) = outputs("gd_plus_plus", {"X": X, "y": Y, "query": QUERY}, n=N, d=D, eta=eta, gamma=gamma, T=layers)
    tokens = np.hstack([X, Y])
    estimator = GDPlusPlus([eta] * layers, [gamma] * layers)
    weights = estimator.weights(Moments(jnp.asarray(tokens.T @ tokens), N))
    close(found, np.asarray(weights) @ QUERY[:, 0] * np.ones((1, 1)))


def test_td():
    features, after = RANDOM.standard_normal((N, D)), RANDOM.standard_normal((N, D))
    alpha, discount, sweeps = 0.01, 0.9, 15
    one = np.eye(D) - alpha * features.T @ (features - discount * after)
    expected = sum(np.linalg.matrix_power(one, k) for k in range(sweeps)) @ (alpha * features.T @ Y)
    inputs = {"F": features, "G": after, "r": Y}
    (found,) = outputs("td", inputs, n=N, d=D, alpha=alpha, discount=discount, T=sweeps)
    close(found, expected)


def test_power():
    a = GRAM
    start = RANDOM.standard_normal((D, 2))
    (found,) = outputs("power", {"A": a, "V": start}, n=D, k=2, scale=1 / TOP, T=60)
    close(found, np.linalg.matrix_power(a / TOP, 60) @ start)
    leading = scipy.linalg.eigh(a)[1][:, -1]
    direction = found[:, 0] / np.linalg.norm(found[:, 0])
    assert abs(direction @ leading) == pytest.approx(1, abs=1e-3)


def test_neumann():
    a, b = 0.1 * RANDOM.standard_normal((D, D)), RANDOM.standard_normal((D, 2))
    (found,) = outputs("neumann", {"A": a, "B": b}, n=D, k=2, T=80)
    close(found, np.linalg.solve(np.eye(D) - a, b))


def test_kalman():
    """The posterior of Bayesian linear regression, which row-by-row updates must arrive at."""
    n, d, noise = 2, 2, 0.7
    x, y, start = X[:n, :d], Y[:n], QUERY[:d]
    precision = np.eye(d) / 1.5 + x.T @ x / noise**2
    mean = start + np.linalg.solve(precision, x.T @ (y - x @ start) / noise**2)
    mean_found, covariance = outputs("kalman", {"X": x, "y": y, "w": start}, n=n, d=d, variance=1.5, noise=noise, K=12)
    close(mean_found, mean)
    close(covariance, np.linalg.inv(precision))


def test_conjugate_gradient():
    """Against the textbook's, with division; exact after as many steps as there are unknowns."""
    a = GRAM + 0.5 * np.eye(D)
    w, r = np.zeros((D, 1)), MOMENT
    p = r
    for steps in range(1, D + 1):
        alpha = (r.T @ r).item() / (p.T @ a @ p).item()
        w, old, r = w + alpha * p, r, r - alpha * a @ p
        p = r + (r.T @ r).item() / (old.T @ old).item() * p
        if steps == D - 1:
            (found,) = outputs("conjugate_gradient", {"X": X, "y": Y}, n=N, d=D, T=steps, K=30, start=1e-3)
            close(found, w, 1e-9)
    close(w, scipy.linalg.solve(a, MOMENT), 1e-9)


def test_power_iteration():
    v = QUERY
    for _ in range(15):
        v = GRAM @ v / np.linalg.norm(GRAM @ v)
    vector, value = outputs("power_iteration", {"A": GRAM, "v": QUERY}, n=D, T=15, K=15, start=1 / TOP)
    close(vector, v)
    close(value, v.T @ GRAM @ v)
    assert value.item() == pytest.approx(TOP, rel=0.01)


def test_nesterov():
    """The same recurrence as a product of 2d x 2d matrices."""
    lam, steps = 0.5, 8
    eta = 1 / (TOP + lam)
    eye = np.eye(D)
    shrink = eye - eta * (GRAM + lam * eye)
    state = np.zeros((2 * D, 1))
    for t in range(steps):
        weight = t / (t + 3)
        one = np.block([[(1 + weight) * shrink, -weight * shrink], [eye, 0 * eye]])
        state = one @ state + np.vstack([eta * MOMENT, 0 * MOMENT])
    (found,) = outputs("nesterov", {"X": X, "y": Y}, n=N, d=D, eta=eta, lam=lam, T=steps)
    close(found, state[:D])


def test_lms():
    eta, w = 0.1, QUERY[:, 0]
    for x, y in zip(X, Y[:, 0], strict=True):
        w = w + eta * (y - x @ w) * x
    (found,) = outputs("lms", {"X": X, "y": Y, "w": QUERY}, n=N, d=D, eta=eta)
    close(found[:, 0], w)


def test_lms_of_many_rows_is_small():
    assert compile_program("lms", n=100, d=4).sizes.parameters < 100_000


def test_matrix_sqrt():
    a = GRAM + np.eye(D)
    root, inverse = outputs("matrix_sqrt", {"A": a}, n=D, scale=1 / (TOP + 1), T=20)
    close(root, scipy.linalg.sqrtm(a))
    close(inverse, scipy.linalg.inv(scipy.linalg.sqrtm(a)))


def test_deltanet():
    """A product of Householder-like matrices, token by token."""
    n, beta = 6, 0.3
    queries, keys, values = X[:n], X[n:], RANDOM.standard_normal((n, 3))
    memory = np.zeros((3, D))
    rows = []
    for q, k, v in zip(queries, keys, values, strict=True):
        memory = memory @ (np.eye(D) - beta * np.outer(k, k)) + beta * np.outer(v, k)
        rows.append(memory @ q)
    found, last = outputs("deltanet", {"Q": queries, "K": keys, "V": values}, n=n, d=D, e=3, beta=beta)
    close(found, np.array(rows))
    close(last, memory)


def test_kernel_ridge():
    """The polynomial of gradient descent, by eigenvalues of the kernel's matrix."""
    n, steps, lam, degree = 3, 10, 0.5, 2
    x, y, query = X[:n, :2], Y[:n], X[n : n + 2, :2]
    values, vectors = np.linalg.eigh((x @ x.T + 0.7) ** degree + lam * np.eye(n))
    eta = 1 / values[-1]
    a = vectors @ np.diag((1 - (1 - eta * values) ** steps) / values) @ vectors.T @ y
    settings = {"n": n, "d": 2, "k": 2, "degree": degree, "offset": 0.7, "lam": lam, "eta": eta, "T": steps}
    (found,) = outputs("kernel_ridge", {"X": x, "y": y, "query": query}, **settings)
    close(found, (query @ x.T + 0.7) ** degree @ a)


def test_every_program_is_tested_and_says_what_it_is():
    found = library()
    assert set(found) == set(SETTINGS) and len(found) == 18
    for name, program in found.items():
        assert f"test_{name}" in globals() and program.name == name
        assert len(program.doc.split("\n")[0]) > 20
