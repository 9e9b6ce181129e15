"""Every estimator against an independent computation, and properties that all of them share."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from sklearn.linear_model import BayesianRidge, LinearRegression as SklearnOLS, Ridge

from descant import CategoricalNoise, FixedNoise, LinearRegression, UniformNoise
from descant.estimators import (
    GD,
    OLS,
    AdaRidge,
    AttendingGramAffine,
    Bayes,
    ConstRidge,
    GDBeta,
    GDPlusPlus,
    GramAffine,
    MonteCarloBayes,
    OracleRidge,
    PreconditionedGD,
    TunedRidge,
    Zero,
    tuned_ridge,
)
from tests.support.problems import TASKS, batch, estimators, random_task
from tests.support.quick import quick


@pytest.mark.parametrize("task", quick(["categorical", "short", "low rank", "uniform inputs"]))
def test_all_predict_with_their_weights(task, keys):
    """__call__ on tokens is <weights(moments), x_query>, alone and under jit and vmap."""
    prompts = batch(TASKS[task], 3, keys())
    for name, estimator in estimators(TASKS[task]).items():
        together = jax.jit(jax.vmap(lambda prompt, estimator=estimator: estimator(prompt)))(prompts)
        for index in range(2):
            prompt = jax.tree.map(lambda leaf, index=index: leaf[index], prompts)
            weights = estimator.weights(prompt.moments())
            assert weights.shape == (TASKS[task].d,), name
            np.testing.assert_allclose(estimator(prompt), weights @ prompt.x_query, rtol=1e-10, atol=1e-12)
            np.testing.assert_allclose(together[index], estimator(prompt), rtol=1e-7, atol=1e-8, err_msg=name)


def _prompt(key, d=5, n=12, sigma=0.6):
    return LinearRegression(d, n, noise=FixedNoise(sigma)).sample(key=key)


@pytest.mark.parametrize(("d", "n"), [(5, 12), (5, 5), (5, 3)])
def test_ols_is_least_squares(d, n, keys):
    prompt = _prompt(keys(), d, n)
    found = OLS().weights(prompt.moments())
    np.testing.assert_allclose(found, np.linalg.lstsq(prompt.x, prompt.y)[0], rtol=1e-6, atol=1e-8)
    sklearn = SklearnOLS(fit_intercept=False).fit(prompt.x, prompt.y).coef_
    np.testing.assert_allclose(found, sklearn, rtol=1e-6, atol=1e-8)


def test_ridge_family_is_sklearns_ridge(keys):
    prompt = _prompt(keys())
    moments, x, y = prompt.moments(), np.asarray(prompt.x), np.asarray(prompt.y)
    prior = LinearRegression(5, 12).prior
    residuals = y - x @ np.linalg.lstsq(x, y)[0]
    estimate = float(residuals @ residuals) / (12 - 5)
    cases = {
        0.36: OracleRidge(prior),
        0.9: ConstRidge(prior, 0.9),
        estimate: AdaRidge(prior),
        min(1.3 * estimate, 0.2): TunedRidge(prior, 1.3, 0.2),
        1.3 * estimate: TunedRidge(prior, 1.3, 1e9),
    }
    for alpha, estimator in cases.items():
        expected = Ridge(alpha=alpha, fit_intercept=False).fit(x, y).coef_
        np.testing.assert_allclose(estimator.weights(moments), expected, rtol=1e-9)


def test_oracle_ridge_towards_a_general_prior(keys):
    """Generalised ridge: argmin |y - X w|^2 / sigma^2 + (w - mu)^T Psi^-1 (w - mu)."""
    task = random_task(0)
    prompt = task.sample(key=keys())
    x, y, mu = np.asarray(prompt.x), np.asarray(prompt.y), np.asarray(task.prior.mean)
    precision = np.linalg.inv(task.prior.cov)
    expected = np.linalg.solve(x.T @ x / 0.49 + precision, x.T @ y / 0.49 + precision @ mu)
    np.testing.assert_allclose(OracleRidge(task.prior).weights(prompt.moments()), expected, rtol=1e-8)


def test_bayesian_ridge_agrees_given_its_own_precisions(keys):
    """scikit-learn's BayesianRidge fits noise and prior precision; with these in our prior, its mean is ours."""
    prompt = _prompt(keys(), d=4, n=60)
    fitted = BayesianRidge(fit_intercept=False, tol=1e-10, max_iter=5000).fit(prompt.x, prompt.y)
    noise, scale = fitted.alpha_**-0.5, fitted.lambda_**-0.5
    from descant import GaussianPrior

    task = LinearRegression(4, 60, GaussianPrior.isotropic(4, 0.0, scale), noise=FixedNoise(noise))
    np.testing.assert_allclose(Bayes(task).weights(prompt.moments()), fitted.coef_, rtol=1e-5)


def test_gd_by_hand_and_by_autodiff(keys):
    prompt = _prompt(keys())
    start, steps = jnp.arange(5.0), [0.3, 0.2, 0.1]

    def loss(w):
        return jnp.mean((prompt.x @ w - prompt.y) ** 2) / 2

    w = start
    for step in steps:
        w = w - step * jax.grad(loss)(w)
    np.testing.assert_allclose(GD(start, steps).weights(prompt.moments()), w, rtol=1e-10)


def test_gd_converges_to_ols(keys):
    prompt = _prompt(keys(), d=3, n=50)
    moments = prompt.moments()
    largest = np.linalg.eigvalsh(np.asarray(moments.xx) / 50).max()
    found = GD(jnp.zeros(3), [1 / largest] * 500).weights(moments)
    np.testing.assert_allclose(found, OLS().weights(moments), rtol=1e-6)


def test_one_step_estimators_are_one_family(keys):
    moments = _prompt(keys()).moments()
    gamma = np.random.default_rng(0).standard_normal((5, 5))
    zero, beta = jnp.zeros(5), jnp.arange(5.0)
    np.testing.assert_allclose(
        PreconditionedGD(gamma).weights(moments), GDBeta(zero, gamma).weights(moments), rtol=1e-12
    )
    np.testing.assert_allclose(
        GD(beta, [0.3]).weights(moments), GDBeta(beta, 0.3 * jnp.eye(5)).weights(moments), rtol=1e-12
    )
    # beta - Gamma X^T (X beta - y) / n, written out as an affine function of the Gram matrix.
    tensor = np.zeros((5, 6, 6))
    tensor[:, :5, 5] = gamma
    tensor[:, :5, :5] = -gamma[:, :, None] * np.asarray(beta)[None, None, :]
    np.testing.assert_allclose(
        GramAffine(beta, tensor).weights(moments), GDBeta(beta, gamma).weights(moments), rtol=1e-10
    )


def _gd_plus_plus_on_tokens(prompt, steps, contractions):
    """The linear transformer itself, token by token, with the paper's signs: w_yx = -step, w_xx = -contraction."""
    x = np.vstack([prompt.x, prompt.x_query])
    y = np.append(prompt.y, 0.0)
    n = prompt.n
    for step, contraction in zip(steps, contractions, strict=True):
        sigma, alpha = x[:n].T @ x[:n], x[:n].T @ y[:n]
        x, y = x - contraction * x @ sigma, y - step * x @ alpha
    return -y[-1]


@pytest.mark.parametrize("layers", [1, 2, 4])
def test_gd_plus_plus_is_the_restricted_linear_transformer(layers, keys):
    prompt = _prompt(keys())
    rng = np.random.default_rng(layers)
    steps, contractions = rng.uniform(0.005, 0.03, layers), rng.uniform(0.0, 0.02, layers)
    expected = _gd_plus_plus_on_tokens(prompt, steps, contractions)
    np.testing.assert_allclose(GDPlusPlus(steps, contractions)(prompt), expected, rtol=1e-9)


def test_preconditioned_gd_plus_plus_solves_least_squares(keys):
    prompt = _prompt(keys(), d=4, n=40)
    moments = prompt.moments()
    low, *_, high = np.linalg.eigvalsh(np.asarray(moments.xx))
    ols = OLS().weights(moments)
    errors = [
        np.linalg.norm(GDPlusPlus.preconditioned(layers, low, high).weights(moments) - ols) for layers in range(1, 11)
    ]
    assert errors[-1] < 1e-9 * np.linalg.norm(ols)
    # Quadratic convergence once the condition number is near 1: each layer doubles the digits.
    assert errors[6] < 30 * errors[5] ** 2 / np.linalg.norm(ols) or errors[6] < 1e-10


def test_an_attending_query_adds_its_own_token(keys):
    prompt = _prompt(keys(), d=3, n=7)
    rng = np.random.default_rng(1)
    offset, v, u = rng.standard_normal(3), rng.standard_normal((2, 4)), rng.standard_normal((2, 4, 3))
    tokens = np.vstack([np.column_stack([prompt.x, prompt.y]), np.append(prompt.x_query, 0.0)])
    x_query = np.asarray(prompt.x_query)
    tensor = np.einsum("hi,hjl->lij", v, u)
    for attends, predictor in (
        (False, GramAffine(offset, tensor)),
        (True, AttendingGramAffine(GramAffine(offset, tensor))),
    ):
        used = tokens if attends else tokens[:-1]
        attention = sum(v[h] @ (used.T @ used / 7) @ u[h] @ x_query for h in range(2))
        np.testing.assert_allclose(predictor(prompt), offset @ x_query + attention, rtol=1e-10)


def test_bayes_with_one_level_is_the_oracle(keys):
    task = random_task(0)
    prompt = task.sample(key=keys())
    expected = OracleRidge(task.prior)(prompt)
    np.testing.assert_allclose(Bayes(task)(prompt), expected, rtol=1e-12)
    certain = LinearRegression(task.d, task.n, task.prior, task.inputs, CategoricalNoise([0.7, 9.0], [1.0, 0.0]))
    np.testing.assert_allclose(Bayes(certain)(prompt), expected, rtol=1e-10)


def test_zero_is_zero(keys):
    assert float(Zero()(_prompt(keys()))) == 0.0


@pytest.mark.parametrize(
    ("noise", "scale", "ceiling"),
    # Recomputed by grid search for the theory notes: c about 1.2-1.35, T about 0.70-0.75 smax^2; {1,3}: 1.5 and 8.9.
    [(UniformNoise(5.0), (1.15, 1.4), (0.68 * 25, 0.78 * 25)), (CategoricalNoise([1.0, 3.0]), (1.4, 1.6), (8.7, 9.2))],
)
def test_tuned_ridge_finds_the_known_constants(noise, scale, ceiling):
    tuned = tuned_ridge(LinearRegression(10, 20, noise=noise))
    assert scale[0] < float(tuned.scale) < scale[1]
    assert ceiling[0] < float(tuned.ceiling) < ceiling[1]


def _made_for_three():
    task = LinearRegression(3, 9, noise=FixedNoise(0.5))
    merged = GramAffine(np.ones(3), np.ones((3, 4, 4)))
    one_step = [GD(np.ones(3), [0.1]), PreconditionedGD(np.eye(3)), GDBeta(np.ones(3), np.eye(3)), merged]
    ridges = [OracleRidge.of(task), ConstRidge.best(task), AdaRidge.of(task), TunedRidge(task.prior, 1.0, 1.0)]
    return [*one_step, AttendingGramAffine(merged), *ridges, MonteCarloBayes.of(task)]


@pytest.mark.parametrize("estimator", _made_for_three(), ids=lambda each: type(each).__name__)
def test_inputs_of_another_dimension_are_refused(estimator, keys):
    """On tokens, by moments and in merged form alike."""
    prompt, sentence = _prompt(keys(), d=4), "made for inputs of dimension 3; these have dimension 4"
    with pytest.raises(ValueError, match=sentence):
        estimator(prompt)
    if estimator.linear:
        with pytest.raises(ValueError, match=sentence):
            estimator.weights(LinearRegression(4, 12).sample_moments(key=keys()))
    if isinstance(estimator, (GD, PreconditionedGD, GDBeta, GramAffine, AttendingGramAffine)):
        with pytest.raises(ValueError, match=sentence):
            estimator.gram_affine(4, 12)
