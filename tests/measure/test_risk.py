"""Risk: the three methods agree, the command's numbers are right, compilation happens once."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jaxtyping import Array, Float

from descant import (
    AbstractLinearPredictor,
    CategoricalNoise,
    FixedNoise,
    GaussianPrior,
    LinearRegression,
    UniformInputs,
    UniformNoise,
    best,
    risk,
)
from descant._sampling import mean_over_keys
from descant.estimators import GD, Bayes, GramAffine, OracleRidge, Zero
from descant.measure import ESTIMATORS, exact_risk, moment_risks, token_risks
from descant.tasks import AbstractTask, Prompt, Unknown
from descant.theory import Problem, best_heads, gd_beta_minimum
from tests.support.problems import TASKS, estimators, low_rank_task, random_task
from tests.support.quick import quick


@pytest.mark.parametrize("task", quick(["uniform", "fixed", "low rank"]))
def test_three_methods_agree_on_every_estimator(task):
    """Random members, not optima: a wrong formula has nowhere to hide."""
    task = TASKS[task]
    table = estimators(task)
    moments = moment_risks(list(table.values()), task, samples=30_000, key=jax.random.key(1))
    tokens = token_risks(list(table.values()), task, samples=30_000, key=jax.random.key(2))
    for (name, estimator), a, b in zip(table.items(), moments, tokens, strict=True):
        try:
            exact = exact_risk(estimator, task)
        except Unknown:
            exact = None
        if name in ("zero", "preconditioned-gd", "gd-beta", "gram") or (name == "ols" and task.n >= task.d):
            assert exact is not None, name
        if exact is not None:
            assert abs(a.value - exact) < 4 * a.standard_error, name
            assert abs(b.value - exact) < 4 * b.standard_error, name
        assert abs(a.value - b.value) < 4 * np.hypot(a.standard_error, b.standard_error), name
        assert abs(a.adjusted - b.adjusted) <= 4 * np.hypot(a.adjusted_error, b.adjusted_error), name
        assert a.adjusted_error <= b.adjusted_error + 1e-12


@pytest.mark.parametrize("name", quick((name for name in ESTIMATORS.names() if name != "tuned-ridge"), "lsa", "bayes"))
def test_every_name_has_a_risk_between_oracle_and_worst(name):
    task = random_task(2, d=2, n=9)
    found = risk(best(name, task), task, samples=8_192)
    assert found.value >= 0
    assert found.adjusted >= -4 * found.adjusted_error - 1e-12
    assert (found.standard_error == 0) == (found.method == "exact")


def test_the_order_of_the_classes():
    """Larger classes have smaller risks."""
    names = ("gd", "preconditioned-gd", "lsa", "multi-head-lsa", "gd-beta")
    for task in (random_task(0), low_rank_task(0), LinearRegression(4, 3, GaussianPrior.isotropic(4, 2.0))):
        order = [exact_risk(best(name, task), task) for name in names]
        assert np.all(np.diff(np.array(order, dtype=float)) <= 1e-9), order


@pytest.mark.slow
def test_query_and_heads_reach_the_theory():
    task = random_task(1)
    problem = Problem.of(task)
    for masked in (True, False):
        found = exact_risk(best("multi-head-lsa", task, heads=2, query_masked=masked), task)
        np.testing.assert_allclose(found, best_heads(problem, 2, query_masked=masked).risk, rtol=1e-9)
        np.testing.assert_allclose(
            exact_risk(best("yq-lsa", task, query_masked=masked), task), gd_beta_minimum(problem)
        )
    attending = best("ltb", task, query_masked=False)
    exact = exact_risk(attending, task)
    assert exact is not None and exact > float(gd_beta_minimum(problem))
    by_tokens = risk(attending, task, "tokens", samples=60_000)
    assert abs(by_tokens.value - exact) < 4 * by_tokens.standard_error


@pytest.mark.slow
def test_table_1_baselines():
    """Half-MSE adjusted, recomputed in the notes to three digits (linear_transformer.md, section 5)."""
    task = LinearRegression(10, 20, noise=UniformNoise(5.0))
    names = ("const-ridge", "ada-ridge", "bayes")
    found = moment_risks([best(name, task) for name in names], task, samples=20_000, key=jax.random.key(0))
    for name, risk_of_name, value, rounding in zip(
        names, found, (0.362, 0.069, 0.039), (0.003, 0.001, 0.001), strict=True
    ):
        assert abs(risk_of_name.adjusted / 2 - value) < rounding + 4 * risk_of_name.adjusted_error / 2, name
    task = LinearRegression(10, 20, noise=CategoricalNoise([1.0, 3.0]))
    bayes = risk(Bayes(task), task, samples=20_000)
    assert abs(bayes.adjusted / 2 - 0.0055) < 0.0003 + 4 * bayes.adjusted_error / 2


def test_one_layer_of_the_linear_transformer_is_gd():
    """d (1 - n / (n + d + 1 + E sigma^2)): half of it is 1.774 at sigma = 0 (linear_transformer.md, section 2)."""
    for noise in (FixedNoise(0.0), UniformNoise(5.0)):
        task = LinearRegression(10, 20, noise=noise)
        expected = 10 * (1 - 20 / (31 + float(noise.moment(2))))
        np.testing.assert_allclose(exact_risk(best("gd", task), task), expected, rtol=1e-12)


def test_const_ridge_is_tuned():
    """No other constant does better: c = E sigma^2 is the linear Bayes rule."""
    from descant.estimators import ConstRidge

    task = LinearRegression(4, 8, noise=UniformNoise(3.0))
    constants = [1.5, 2.4, 3.0, 3.6, 6.0]
    ridges = [ConstRidge(task.prior, c) for c in constants]
    found = moment_risks(ridges, task, samples=100_000, key=jax.random.key(0))
    assert constants[int(np.argmin([r.value for r in found]))] == float(task.noise.moment(2))


def test_uniform_inputs_have_exact_risks_of_one_layer_only():
    task = LinearRegression(3, 8, inputs=UniformInputs(-1.0, 1.0), noise=FixedNoise(0.3))
    found = risk(OracleRidge(task.prior), task, samples=4_096)
    assert found.method == "moments" and found.standard_error > 0
    assert risk(Zero(), task).value == pytest.approx(1.0, rel=1e-12)
    step = risk(best("gd", task), task)
    assert step.method == "exact"
    with pytest.raises(Unknown, match="sixth moments"):
        best("lsa", task, query_masked=False)


class _Squares(AbstractTask):
    """A task that knows nothing but how to draw a prompt."""

    d: int = eqx.field(static=True)
    n: int = eqx.field(static=True)

    def sample(self, *, key):
        x = jax.random.normal(key, (self.n + 1, self.d))
        y = x[:, 0] ** 2
        return Prompt(x[:-1], y[:-1], x[-1], y_query=y[-1])


def test_a_task_that_only_draws_is_measured_on_tokens_and_refuses_the_rest():
    task = _Squares(2, 5)
    found = risk(Zero(), task, samples=50_000)
    assert found.method == "tokens" and found.adjusted is None
    assert abs(found.value - 3.0) < 5 * found.standard_error  # E x^4
    for method in ("exact", "moments"):
        with pytest.raises(Unknown, match="_Squares"):
            risk(Zero(), task, method)
    for name in ("bayes", "gd", "ridge", "lsa"):
        with pytest.raises(Unknown, match="_Squares"):
            best(name, task)


def test_what_is_concrete_is_final():
    with pytest.raises(TypeError, match=r"is final.*Subclass AbstractTask"):
        type("Squared", (LinearRegression,), {"__module__": __name__})
    with pytest.raises(TypeError, match="the two could differ"):
        type("Half", (AbstractLinearPredictor,), {"__module__": __name__, "__call__": lambda self, prompt: 0.0})


def test_two_steps_of_gd_have_no_closed_form():
    task = LinearRegression(3, 8)
    two = GD(jnp.zeros(3), [0.3, 0.2])
    with pytest.raises(Unknown, match="2 steps of gradient descent are not affine"):
        exact_risk(two, task)
    assert risk(two, task, samples=2_048).method == "moments"


class _Counting(AbstractLinearPredictor):
    """A user's own predictor; counts how often it is traced."""

    scale: Float[Array, ""]
    traces: list = eqx.field(static=True)

    def weights(self, moments):
        if isinstance(moments.gram, jax.core.Tracer):
            self.traces.append(1)
        return self.scale * moments.xy / moments.n


def test_a_program_is_compiled_once_for_all_numbers():
    traces = []
    values = [
        risk(_Counting(jnp.asarray(scale), traces), LinearRegression(3, 8, noise=FixedNoise(sigma)), samples=1000).value
        for scale, sigma in ((0.1, 0.5), (0.5, 0.7), (0.9, 1.0))
    ]
    # One look at what it calls, one compilation; its plain calls on a prompt are not traced.
    assert len(traces) == 2
    assert len(set(values)) == 3


def test_standard_errors_are_standard_errors():
    """Normal draws: mean and error are known. A large offset must not cost digits."""

    def normal(subject, key):
        return subject + jax.random.normal(key, (2,))

    mean, error = mean_over_keys(normal, jnp.asarray([0.0, 1e7]), jax.random.key(3), 50_000)
    np.testing.assert_allclose(error, 50_000**-0.5, rtol=0.05)
    assert np.all(np.abs(mean - [0.0, 1e7]) < 4 * error)


def test_long_contexts_stay_in_memory():
    """A chunk shrinks with the context: 100,000 tokens by 32 numbers, two prompts."""
    task = LinearRegression(32, 100_000, noise=FixedNoise(1.0))
    found = token_risks([Zero()], task, samples=2, key=jax.random.key(0))[0]
    assert np.isfinite(found.value)


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda t: best("nonsense", t), "predictor is 'nonsense'; expected one of"),
        (lambda t: best("multi-head-lsa", t, heads=0), "heads is 0; expected a whole number of at least 1"),
        (lambda t: best("gd", t, heads=2), "heads is 2, but gd has no heads"),
        (lambda t: best("gd", t, query_masked=False), "can't attend in gd"),
        (lambda t: best("ada-ridge", LinearRegression(3, 3)), "n is 3 and d is 3; expected n > d"),
        (lambda t: best("tuned-ridge", LinearRegression(3, 2)), "n is 2 and d is 3; expected n > d"),
        (lambda t: risk(Zero(), t, "exact" if t is None else "tokens", samples=0), "samples is 0"),
        (lambda t: risk(Zero(), t, samples=1), "samples is 1; expected a whole number of at least 2"),
        (lambda t: risk(Bayes(t), t, "exact"), "there is no exact risk here"),
        (lambda t: GramAffine(jnp.zeros(3), jnp.zeros((3, 3, 3))), "tensor has shape (3, 3, 3); expected (3, 4, 4)"),
    ],
)
def test_mistakes_get_a_sentence(call, sentence):
    with pytest.raises(ValueError) as error:
        call(random_task(0))
    assert sentence in str(error.value)
    assert str(error.value).endswith(".")
