"""Every (task, predictor, method): the number agrees with prompts drawn as tokens, or is refused with a sentence."""

import equinox as eqx
import jax
import numpy as np
import pytest

from descant import GaussianPrior, LinearRegression, Prompt, best, risk
from descant.attention import LSA, Diag, GDPlusPlusTransformer, LinearGuess
from descant.forms import _heads
from descant.measure import ESTIMATORS, exact_risk, moment_risks, token_risks
from descant.tasks import AbstractTask, StudentTPrior, Unknown
from tests.support.laws import COV, INPUTS, LABELS, MEAN, NOISES, PRIORS, D
from tests.support.quick import quick
from tests.support.tokens import token_errors

KEY = jax.random.key(3)


class ReLU(AbstractTask):
    """Labels that are not linear in the inputs."""

    d: int = eqx.field(static=True)
    n: int = eqx.field(static=True)

    def sample(self, *, key):
        for_w, for_x = jax.random.split(key)
        w, x = jax.random.normal(for_w, (self.d,)), jax.random.normal(for_x, (self.n + 1, self.d))
        y = jax.nn.relu(x @ w)
        return Prompt(x[:-1], y[:-1], x[-1], y_query=y[-1])


def regression(prior="gaussian", inputs="gaussian", noise="fixed", labels="gaussian", n=7):
    return LinearRegression(D, n, PRIORS[prior], INPUTS[inputs], NOISES[noise], LABELS[labels])


TASKS = {
    "plain": regression(),
    **{f"prior-{name}": regression(prior=name) for name in PRIORS if name != "gaussian"},
    **{f"inputs-{name}": regression(inputs=name) for name in INPUTS if name != "gaussian"},
    **{f"noise-{name}": regression(noise=name) for name in NOISES if name != "fixed"},
    **{f"labels-{name}": regression(labels=name) for name in LABELS if name != "gaussian"},
    "mixed": regression("sparse", "uniform", "log-uniform", "laplace"),
    "heavy": LinearRegression(D, 7, StudentTPrior(MEAN, COV, 2.0), noise=0.7),
    "short": regression("pool", "sphere", "uniform", n=2),
    "short-gaussian": regression(n=2),
    "relu": ReLU(D, 7),
}
ATTENTION = {
    "random-lsa": LSA.random(D, 2, key=KEY),
    "attending-lsa": LSA.random(D, 1, key=KEY, query_masked=False),
    "guessing-lsa": LSA.random(D, 1, key=KEY, guess=LinearGuess(jax.numpy.ones(D))),
    "gd++": GDPlusPlusTransformer.random(1, key=KEY, scale=0.05),
    "two-layers": Diag.random(2, 1, key=KEY),
}
# Whether a risk is right doesn't hang on how low it is: few searches for the best heads do, where two dozen are usual.
FEW_STARTS = 3
QUICK = ("prior-pool", "prior-student-t-3.5", "relu")


def predictors(task) -> tuple[dict, dict]:
    """Those that the task has, and the sentences of the others."""
    found, refused = dict(ATTENTION), {}
    for name in ESTIMATORS.names():
        try:
            found[name] = best(name, task)
        except ValueError as sentence:
            assert isinstance(sentence, Unknown) or "expected n > d" in str(sentence)
            refused[name] = str(sentence)
    return found, refused


def measured(found: dict, task) -> dict:
    """Every number that there is, by predictor and method; those of one method in one program."""
    key, results = jax.random.key(12), {}
    for name, predictor in found.items():
        try:
            results[name, "exact"] = exact_risk(predictor, task), 0.0
        except Unknown as sentence:
            assert len(str(sentence)) > 20
    for method, risks in (("moments", moment_risks), ("tokens", token_risks)):
        chosen = {name: each for name, each in found.items() if method == "tokens" or each.linear}
        try:
            numbers = risks(list(chosen.values()), task, samples=4096, key=key)
        except Unknown as sentence:
            assert method == "moments" and len(str(sentence)) > 20
            continue
        for name, number in zip(chosen, numbers, strict=True):
            assert number.method == method and (number.standard_error > 0 or number.value == 0)
            results[name, method] = number.value, number.standard_error
    return results


@pytest.mark.parametrize("name", quick(TASKS, *QUICK))
def test_no_triple_is_silently_wrong(name, monkeypatch):
    monkeypatch.setattr(_heads, "FEWEST_STARTS", FEW_STARTS)
    task = TASKS[name]
    found, refused = predictors(task)
    assert "zero" in found and "ols" in found and set(found) | set(refused) == {*ATTENTION, *ESTIMATORS.names()}
    for sentence in refused.values():
        assert len(sentence) > 20
    samples = 8192
    errors = dict(zip(found, token_errors(list(found.values()), task, 11, samples), strict=True))
    results = measured(found, task)
    assert {each for each, method in results if method == "tokens"} == set(found)
    for (each, method), (value, error) in results.items():
        if np.isfinite(value):  # the risk of least squares at n = d + 1, say, is infinite
            slack = np.hypot(error, errors[each].std() / np.sqrt(samples))
            # Squares of heavy-tailed errors are not normal: a draw without outliers underestimates its own error.
            assert abs(value - errors[each].mean()) < 6 * slack + 1e-9, (
                each,
                method,
                value,
                errors[each].mean(),
                slack,
            )
    assert any(method == "exact" for _, method in results) or name in ("relu", "heavy")
    # What can't be had is refused in a sentence, when it is asked for by name too.
    for each in ("two-layers", "attending-lsa"):
        for method in ("exact", "moments"):
            if (each, method) not in results:
                with pytest.raises(Unknown, match="there is no"):
                    risk(found[each], task, method, samples=64)


def test_a_wrong_number_would_be_seen():
    """The same comparison for a task that is not what its prior says: the triple that the issue began with."""
    lying = LinearRegression(D, 7, GaussianPrior.matching(PRIORS["sparse"], D), noise=0.7)
    task = regression("sparse")
    predictor = best("lsa", lying)
    errors = token_errors([predictor], task, 13, 8192)[0]
    told = risk(predictor, lying, "exact").value
    assert abs(told - errors.mean()) > 6 * errors.std() / np.sqrt(8192)
