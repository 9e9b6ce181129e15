"""Attention layers that are estimators, and the same layers in other papers' coordinates."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from descant import FixedNoise, GaussianInputs, LinearRegression, Prompt, attention as at, best, risk
from descant.estimators import GD, GDBeta, GDPlusPlus, GramAffine, OracleRidge, PreconditionedGD
from descant.theory import Problem, heads_needed, saturated_risk
from tests.support.problems import batch, random_task
from tests.support.quick import quick

D, N = 4, 7


def gamma(seed=0):
    return jnp.asarray(np.random.default_rng(seed).standard_normal((D, D)) / 3)


def beta(seed=1):
    return jnp.asarray(np.random.default_rng(seed).standard_normal(D))


CONSTRUCTIONS = {
    "gd as lsa": lambda: (GD(jnp.zeros(D), [0.3]), at.gd_as_lsa(GD(jnp.zeros(D), [0.3]))),
    "preconditioned gd as lsa": lambda: (PreconditionedGD(gamma()), at.gd_as_lsa(PreconditionedGD(gamma()))),
    "gd from w0 as yq-lsa": lambda: (GD(beta(), [0.3]), at.gd_as_yq_lsa(GD(beta(), [0.3]))),
    "gd-beta as yq-lsa": lambda: (GDBeta(beta(), gamma()), at.gd_beta_as_yq_lsa(GDBeta(beta(), gamma()))),
    "gd-beta as ltb": lambda: (GDBeta(beta(), gamma()), at.gd_beta_as_ltb(GDBeta(beta(), gamma()))),
    "gd-beta as elsa": lambda: (GDBeta(beta(), gamma()), at.gd_beta_as_elsa(GDBeta(beta(), gamma()), N)),
    "gd as transformer": lambda: (
        GD(jnp.zeros(D), [0.3, 0.2, 0.4]),
        at.gd_as_transformer(GD(jnp.zeros(D), [0.3, 0.2, 0.4]), N),
    ),
    "gd++ as transformer": lambda: (
        GDPlusPlus([0.02, 0.01, 0.03], [0.01, 0.02, 0.0]),
        at.gd_plus_plus_as_transformer(GDPlusPlus([0.02, 0.01, 0.03], [0.01, 0.02, 0.0])),
    ),
    "merged attention as d + 1 heads": lambda: (
        GramAffine(beta(), np.random.default_rng(2).standard_normal((D, D + 1, D + 1))),
        at.gram_affine_as_lsa(GramAffine(beta(), np.random.default_rng(2).standard_normal((D, D + 1, D + 1)))),
    ),
}


@pytest.mark.parametrize("name", CONSTRUCTIONS)
@pytest.mark.parametrize("seed", quick([0, 1, 2]))
def test_construction_equals_its_estimator(name, seed, keys):
    """To 1e-12 on random anisotropic problems, prompt by prompt."""
    estimator, model = CONSTRUCTIONS[name]()
    prompts = batch(random_task(seed, D, N), 20, keys())
    expected = jax.vmap(estimator)(prompts)
    np.testing.assert_allclose(
        jax.vmap(model)(prompts), expected, rtol=1e-12, atol=1e-12 * float(jnp.abs(expected).max())
    )


@pytest.mark.parametrize("n", [1, 2, 3, 20])
def test_elsa_construction_at_every_shape(n, keys):
    """Fewer rows than columns and more: the skip head exists either way."""
    estimator = GDBeta(beta(), gamma())
    prompts = batch(random_task(0, D, n), 5, keys())
    np.testing.assert_allclose(
        jax.vmap(at.gd_beta_as_elsa(estimator, n))(prompts), jax.vmap(estimator)(prompts), rtol=1e-11, atol=1e-12
    )


def test_yq_lsa_is_gd_beta_for_an_attending_query_too(keys):
    estimator = GDBeta(beta(), gamma())
    model = at.gd_beta_as_yq_lsa(estimator)
    attending = at.LSA(model.v, model.u, model.guess, query_masked=False)
    prompts = batch(random_task(0, D, N), 20, keys())
    np.testing.assert_allclose(jax.vmap(attending)(prompts), jax.vmap(estimator)(prompts), rtol=1e-11, atol=1e-12)


def test_optimal_heads_are_those_of_the_notes():
    """Noise-free and isotropic: v = e_h, U_h = -a w*_h I + e_h w*^T / (d + 2/n); the last head a I."""
    d, n = 3, 5
    task = LinearRegression(d, n, prior=type(LinearRegression(d, n).prior)(jnp.array([1.0, -2.0, 0.5]), jnp.eye(d)))
    mean, a = task.prior.mean, n / (n + d + 1)
    v, u = jnp.eye(d + 1), np.zeros((d + 1, d + 1, d + 1))
    for h in range(d):
        u[h, :d, :d] = -a * mean[h] * np.eye(d)
        u[h, h, :d] += mean / (d + 2 / n)
    u[d, :d, :d] = a * np.eye(d)
    by_hand = at.LSA(v, jnp.asarray(u))
    expected = float(saturated_risk(Problem.of(task)))
    found = at.gram_affine_as_lsa(best("multi-head-lsa", task, heads=d + 1))
    for model in (by_hand, found):
        exact = risk(model, task)
        assert exact.method == "exact"
        np.testing.assert_allclose(exact.value, expected, rtol=1e-10)
    assert heads_needed(Problem.of(task)) == d


def one_layer_models() -> dict:
    """Models that are affine in the Gram matrix, with random weights."""
    key = jax.random.key(0)
    return {
        "two heads": at.LSA.random(D, 2, key=key),
        "attending": at.LSA.random(D, 1, key=key, query_masked=False),
        "guess": at.LSA.random(D, 1, key=key, guess=at.LinearGuess(beta())),
        "not normalized": at.with_normalization(at.LSA.random(D, 2, key=key), N, False),
        "ltb": at.LTB.random(D, key=key),
        "merged ltb": at.MergedLTB.random(D, key=key),
        "diag": at.FreeDiag.random(1, key=key, scale=0.02),
        "full": at.Full.random(D, 1, 2, key=key),
    }


@pytest.mark.parametrize("name", quick(one_layer_models(), "full"))
def test_exact_risks_of_models_agree_with_simulation(name):
    task, model = random_task(0, D, N), one_layer_models()[name]
    exact = risk(model, task)
    simulated = risk(model, task, "tokens", samples=8192)
    assert exact.method == "exact"
    assert simulated.method == "tokens"
    assert abs(exact.value - simulated.value) < 4 * simulated.standard_error


def test_models_without_an_exact_risk_are_simulated():
    task, key = random_task(0, D, N), jax.random.key(0)
    assert risk(at.Full.random(D, 2, key=key), task, samples=256).method == "moments"
    assert risk(at.SoftmaxTransformer(D, 8, 1, 2, key=key), task, samples=256).method == "tokens"


@pytest.mark.slow
def test_two_noise_network_is_ridge_at_its_two_levels():
    """Theorem 5.2 holds as n grows: the error to ridge regression falls at both levels, and stays at others."""
    d = 3
    errors = {}
    for n in (2_000, 200_000):
        model = at.two_noise_network(n, (1.0, 3.0))
        for sigma in (1.0, 3.0, 2.0):
            task = LinearRegression(d, n, inputs=GaussianInputs(jnp.eye(d) / n), noise=FixedNoise(sigma))
            moments = batch(task, 200, jax.random.key(0), moments=True)
            ridge = jax.vmap(OracleRidge(task.prior).weights)(moments)
            found = jax.vmap(model.weights)(moments)
            errors[n, sigma] = float(jnp.linalg.norm(found - ridge) / jnp.linalg.norm(ridge))
    assert errors[200_000, 1.0] < 0.01
    assert errors[200_000, 3.0] < 0.015
    assert errors[200_000, 1.0] < errors[2_000, 1.0] / 3
    assert errors[200_000, 2.0] > 0.5


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: at.gd_as_lsa(GD(beta(), [0.1])), "use gd_as_yq_lsa"),
        (lambda: at.gd_as_lsa(GD(jnp.zeros(D), [0.1, 0.1])), "use gd_as_transformer"),
        (lambda: at.gd_as_transformer(GD(beta(), [0.1]), 5), "starts with the label 0"),
        (lambda: at.two_noise_network(10, (1.0, 1.0)), "two different noise levels"),
        (lambda: at.to_pq(at.Full.random(2, 1, key=jax.random.key(0)), 5), "mixes inputs and label"),
        (lambda: at.to_vq(at.LSA.random(2, 2, key=jax.random.key(0)), 5), "2 heads"),
        (lambda: at.to_vq(at.gd_as_yq_lsa(GD(beta(), [0.1])), 5), "has a guess"),
        (lambda: at.transformer_as_lsa(at.Full.random(2, 2, key=jax.random.key(0)), 5), "2 layers"),
    ],
)
def test_what_a_form_cannot_express_is_refused(call, sentence):
    with pytest.raises(ValueError, match=sentence):
        call()


# --- conventions -------------------------------------------------------------------------------------------------


def prompt(d=3, n=6) -> Prompt:
    rng = np.random.default_rng(0)
    return Prompt(*(jnp.asarray(rng.standard_normal(shape)) for shape in ((n, d), n, d)))


def normal(*shape, seed=0):
    return jnp.asarray(np.random.default_rng(seed).standard_normal(shape)) / 4


def test_kqvp():
    """Against the public code's own order of products, with the prediction negated."""
    d, n, layers, heads, width = 3, 6, 2, 2, 5
    key, query, value = (normal(layers, heads, width, d + 1, seed=s) for s in range(3))
    projection = normal(layers, heads, d + 1, width, seed=3)
    data = prompt(d, n)
    tokens = np.vstack([np.column_stack([data.x, data.y]), np.append(data.x_query, 0.0)])
    for layer in range(layers):
        new = tokens.copy()
        for head in range(heads):
            k, q, v = (tokens @ np.asarray(part[layer, head]).T for part in (key, query, value))
            new += (q @ k[:n].T) @ v[:n] @ np.asarray(projection[layer, head]).T
        tokens = new
    model = at.from_kqvp(key, query, value, projection)
    np.testing.assert_allclose(model(data), -tokens[-1, -1], rtol=1e-11)
    back = at.from_kqvp(*at.to_kqvp(model))
    np.testing.assert_allclose(back.p, model.p, rtol=1e-14)
    np.testing.assert_allclose(back.q, model.q, rtol=1e-14)


def test_pq():
    """Against Z <- Z + P Z M Z^T Q Z / n with tokens as columns."""
    d, n, layers = 3, 6, 2
    small_p, small_q = normal(layers, 1, d, d), normal(layers, 1, d, d, seed=1)
    data = prompt(d, n)
    z = np.vstack([np.column_stack([data.x, data.y]), np.append(data.x_query, 0.0)]).T
    mask = np.diag(np.append(np.ones(n), 0.0))
    for layer in range(layers):
        p, q = np.zeros((d + 1, d + 1)), np.zeros((d + 1, d + 1))
        p[:d, :d], q[:d, :d], p[d, d] = small_p[layer, 0], small_q[layer, 0], 1.0
        z = z + p @ z @ mask @ z.T @ q @ z / n
    model = at.from_pq(small_p, small_q, n)
    np.testing.assert_allclose(model(data), -z[-1, -1], rtol=1e-11)
    for back, start in zip(at.to_pq(model, n), (small_p, small_q), strict=True):
        np.testing.assert_allclose(back, start, rtol=1e-13)
    # The gauge c P, Q / c is undone.
    scaled = at.Full(model.p * 5, model.q / 5)
    np.testing.assert_allclose(at.to_pq(scaled, n)[1], small_q, rtol=1e-13)


def test_vq():
    d, n = 3, 6
    v, q = normal(d + 1, d + 1), normal(d + 1, d + 1, seed=1)
    data = prompt(d, n)
    e = np.vstack([np.column_stack([data.x, data.y]), np.append(data.x_query, 0.0)]).T
    mask = np.diag(np.append(np.ones(n), 0.0))
    expected = (e + np.asarray(v) @ e @ mask @ e.T @ np.asarray(q) @ e / n)[-1, -1]
    model = at.from_vq(v, q)
    np.testing.assert_allclose(model(data), expected, rtol=1e-12)
    back_v, back_q = at.to_vq(at.with_normalization(model, n, False), n)
    np.testing.assert_allclose(back_v[-1], v[-1], rtol=1e-14)
    np.testing.assert_allclose(back_q, q, rtol=1e-14)


def test_lsa_and_transformer_of_one_layer():
    data = prompt()
    model = at.LSA.random(3, 2, key=jax.random.key(0))
    as_transformer = at.lsa_as_transformer(model, 6)
    np.testing.assert_allclose(as_transformer(data), model(data), rtol=1e-12)
    back = at.transformer_as_lsa(as_transformer, 6)
    np.testing.assert_allclose(back.v, model.v, rtol=1e-14)
    np.testing.assert_allclose(back.u, model.u, rtol=1e-14)


@pytest.mark.parametrize("normalized", [True, False])
def test_normalization(normalized):
    data = prompt()
    model = at.LSA.random(3, 2, key=jax.random.key(0), guess=at.LinearGuess(jnp.ones(3)))
    other = at.with_normalization(model, 6, normalized)
    assert other.normalized is normalized
    np.testing.assert_allclose(other(data), model(data), rtol=1e-13)
    assert at.with_normalization(other, 6, True).v == pytest.approx(np.asarray(model.v), rel=1e-14)
