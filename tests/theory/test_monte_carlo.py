"""Every closed form against simulated prompts: within 4 standard errors, at 0.1% relative error or better."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from descant._sampling import mean_over_keys
from descant.tasks import FixedNoise, LinearRegression, UniformNoise
from descant.theory import (
    Problem,
    attending_risk,
    best_heads,
    gd_beta_minimum,
    gd_beta_risk,
    gd_risk,
    gram_risk,
    lsa_risk,
    ltb_risk,
    multi_head_lsa_risk,
    ols_risk,
    one_step_risk,
    optimal_gamma,
    optimal_step,
    posterior_risk,
    saturated_risk,
    yq_lsa_risk,
    zero_risk,
)
from tests.support.problems import low_rank_task, random_task
from tests.support.quick import quick

SAMPLES = 4_800_000
# Queries per prompt where the query is not integrated out.
QUERIES = 6
FIRST_OF_THREE = quick(range(3))


def _parameters(problem: Problem, seed: int) -> dict:
    """Weights to measure: arbitrary ones of every class, and the best ones."""
    rng, d = np.random.default_rng(seed), problem.d

    def draw(*shape, scale=0.5):
        return jnp.asarray(scale * rng.standard_normal(shape))

    one, two = best_heads(problem, 1), best_heads(problem, 2)
    many = best_heads(problem, d + 1)
    alone, pair = best_heads(problem, 1, query_masked=False), best_heads(problem, d + 1, query_masked=False)
    block = best_heads(problem, 1, query_masked=False, free_offset=True)
    return {
        "beta": draw(d),
        "gamma": draw(d, d, scale=0.2),
        "v": draw(2, d + 1, scale=0.3),
        "u": draw(2, d + 1, d + 1, scale=0.1),
        "guess": draw(d),
        "tensor": draw(d, d + 1, d + 1, scale=0.1),
        "best": [(jnp.asarray(s.offset), jnp.asarray(s.tensor)) for s in (one, two, many)],
        "attending": [(jnp.asarray(s.offset), jnp.asarray(s.tensor)) for s in (alone, pair, block)],
        "problem": problem,
    }


def _masked_weights(task: LinearRegression, p: dict, prompt) -> dict:
    """The weight vector of each predictor whose query is masked, written as the papers write it."""
    problem, n = p["problem"], task.n
    x, y, mean = prompt.x, prompt.y, task.prior.mean
    zero, identity = jnp.zeros(task.d), jnp.eye(task.d)
    tokens = jnp.column_stack([x, y])
    gram = tokens.T @ tokens / n

    def one_step(start, gamma):
        return start - gamma @ (x.T @ (x @ start - y)) / n

    def attend(v, u, guess):
        """Row vector of v^T G U applied to the query token (x_query, <guess, x_query>)."""
        rows = sum(v[h] @ gram @ u[h] for h in range(v.shape[0]))
        return rows[:-1] + rows[-1] * guess

    weights = {
        "zero": zero,
        "gd_beta": one_step(p["beta"], p["gamma"]),
        "gd": one_step(p["beta"], 0.4 * identity),
        "best gd": one_step(zero, optimal_step(problem, zero) * identity),
        "best preconditioned": one_step(zero, optimal_gamma(problem, zero)),
        "best gd_beta": one_step(mean, optimal_gamma(problem, mean)),
        "lsa": attend(p["v"][:1], p["u"][:1], zero),
        "multi": attend(p["v"], p["u"], zero),
        "ltb": p["guess"] + attend(p["v"][:1], p["u"][:1], zero),
        "yq": p["guess"] + attend(p["v"][:1], p["u"][:1], p["guess"]),
        "gram": p["guess"] + jnp.einsum("lij,ij->l", p["tensor"], gram),
    }
    for index, (offset, tensor) in enumerate(p["best"]):
        weights[f"best {index}"] = offset + jnp.einsum("lij,ij->l", tensor, gram)
    return weights


def _attending_answers(task: LinearRegression, p: dict, prompt, query) -> dict:
    """What predictors answer whose query token (x_query, 0) is among the keys and values."""
    tokens = jnp.column_stack([prompt.x, prompt.y])
    token = jnp.append(query, 0.0)
    gram = (tokens.T @ tokens + jnp.outer(token, token)) / task.n
    answers = {"multi attending": sum(p["v"][h] @ gram @ p["u"][h] @ token for h in range(2))}
    for index, (offset, tensor) in enumerate(p["attending"]):
        answers[f"attending {index}"] = offset @ query + jnp.einsum("lij,ij,l->", tensor, gram, query)
    return answers


def _errors(subject, key):
    """Squared errors of all predictors on one prompt, tokens and all; the query of masked ones integrated out."""
    task, p = subject
    # Not fold_in(key, i): that is one of the keys that `sample` splits off.
    key, key_queries = jax.random.split(key)
    prompt = task.sample(key=key)
    masked = jnp.stack(list(_masked_weights(task, p, prompt).values()))
    errors = jax.vmap(lambda weights: task.error_norm(weights - prompt.w))(masked)
    drawn = jax.random.split(key_queries, QUERIES)
    queries = jax.vmap(lambda key: task.inputs.sample(task.d, key=key))(drawn)

    def attending(query):
        return (jnp.stack(list(_attending_answers(task, p, prompt, query).values())) - query @ prompt.w) ** 2

    return jnp.concatenate([errors, jnp.mean(jax.vmap(attending)(queries), axis=0)])


def _closed_forms(p: dict) -> dict:
    problem = p["problem"]
    zero, d = jnp.zeros(problem.d), problem.d
    forms = {
        "zero": zero_risk(problem),
        "gd_beta": gd_beta_risk(problem, p["beta"], p["gamma"]),
        "gd": gd_risk(problem, p["beta"], jnp.asarray(0.4)),
        "best gd": gd_risk(problem, zero, optimal_step(problem, zero)),
        "best preconditioned": one_step_risk(problem, zero),
        "best gd_beta": gd_beta_minimum(problem),
        "lsa": lsa_risk(problem, p["v"][0], p["u"][0, :, :d]),
        "multi": multi_head_lsa_risk(problem, p["v"], p["u"][:, :, :d]),
        "ltb": ltb_risk(problem, p["v"][0], p["u"][0, :, :d], p["guess"]),
        "yq": yq_lsa_risk(problem, p["v"][0], p["u"][0], p["guess"]),
        "gram": gram_risk(problem, p["guess"], p["tensor"]),
        "best 0": best_heads(problem, 1).risk,
        "best 1": best_heads(problem, 2).risk,
        "best 2": saturated_risk(problem),
    }
    forms["multi attending"] = multi_head_lsa_risk(problem, p["v"], p["u"][:, :, :d], query_masked=False)
    for index, (offset, tensor) in enumerate(p["attending"]):
        forms[f"attending {index}"] = attending_risk(problem, offset, tensor)
    return forms


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_closed_forms_are_what_simulation_finds(seed):
    """Three anisotropic problems: one fixed, one uniform, one categorical noise law."""
    task = random_task(seed)
    parameters = _parameters(Problem.of(task), seed)
    forms = _closed_forms(parameters)
    means, errors = mean_over_keys(_errors, (task, parameters), jax.random.key(100 + seed), SAMPLES, chunk=20_000)
    for name, mean, error, form in zip(forms, means, errors, forms.values(), strict=True):
        assert abs(mean - form) < 4 * error, f"{name}: {mean} +- {error}, closed form {form}"
        assert error < 1e-3 * mean, f"{name}: {error / mean:.2%} is too coarse to check 0.1%"


def _ols_errors(task, key):
    prompt = task.sample(key=key)
    moments = prompt.moments()
    return task.error_norm(jnp.linalg.solve(moments.xx, moments.xy) - moments.w)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_ols_risk(seed):
    task = random_task(seed, d=2, n=30)
    mean, error = mean_over_keys(_ols_errors, task, jax.random.key(seed), 3_200_000, chunk=20_000)
    assert abs(mean - ols_risk(Problem.of(task))) < 4 * error
    assert error < 1e-3 * mean


def _min_norm_errors(task, key):
    prompt = task.sample(key=key)
    w = prompt.x.T @ jnp.linalg.solve(prompt.x @ prompt.x.T, prompt.y)
    return jnp.sum((w - prompt.w) ** 2)


def test_least_norm_risk():
    task = LinearRegression(8, 2, noise=FixedNoise(0.7))
    mean, error = mean_over_keys(_min_norm_errors, task, jax.random.key(0), 500_000, chunk=20_000)
    assert abs(mean - ols_risk(Problem.of(task))) < 4 * error
    assert error < 1e-3 * mean
    assert ols_risk(Problem.of(random_task(0, d=8, n=2))) is None
    assert ols_risk(Problem.of(LinearRegression(3, 4, noise=FixedNoise(1.0)))) == np.inf
    assert ols_risk(Problem.of(LinearRegression(3, 3))) == 0.0


def _bayes_errors(task, key):
    moments = task.sample_moments(key=key)
    bayes, oracle = task.posterior(moments), task.posterior(moments, moments.sigma)
    return jnp.stack([task.error_norm(bayes.mean - moments.w), task.error_norm(oracle.mean - moments.w)])


@pytest.mark.slow
@pytest.mark.parametrize("seed", FIRST_OF_THREE)
def test_bayes_risk_is_the_squared_error_of_the_posterior_mean(seed):
    task = random_task(seed, noise=UniformNoise(2.0) if seed == 1 else None)
    found = posterior_risk(task, key=jax.random.key(0), samples=60_000)
    means, errors = mean_over_keys(_bayes_errors, task, jax.random.key(1), 60_000)
    assert abs(found.bayes - means[0]) < 4 * np.hypot(found.bayes_error, errors[0])
    assert abs(found.oracle - means[1]) < 4 * np.hypot(found.oracle_error, errors[1])
    assert found.bayes_error < errors[0]


def test_bayes_risk_of_the_notes():
    """d = 10, n = 20, sigma = 1: 1.905 with the query's own noise (ltb.md, section 3)."""
    task = LinearRegression(10, 20, noise=FixedNoise(1.0))
    found = posterior_risk(task, key=jax.random.key(0), samples=20_000)
    assert abs(found.bayes + 1 - 1.905) < 0.0005 + 4 * found.bayes_error


@pytest.mark.slow
def test_low_rank_problems_by_simulation():
    task = low_rank_task(2)
    parameters = _parameters(Problem.of(task), 7)
    forms = _closed_forms(parameters)
    means, errors = mean_over_keys(_errors, (task, parameters), jax.random.key(9), 400_000, chunk=20_000)
    for name, mean, error, form in zip(forms, means, errors, forms.values(), strict=True):
        assert abs(mean - form) < 4 * error, f"{name}: {mean} +- {error}, closed form {form}"
