"""Every (task, predictor, method): the number agrees with prompts drawn as tokens, or is refused with a sentence."""

import equinox as eqx
import jax
import numpy as np
import pytest

from descant import GaussianPrior, LinearRegression, Prompt, best, risk
from descant.attention import LSA, Diag, GDPlusPlusTransformer, LinearGuess
from descant.measure import ESTIMATORS
from descant.tasks import AbstractTask, StudentTPrior, Unknown
from tests.support.laws import COV, INPUTS, LABELS, MEAN, NOISES, PRIORS, D
from tests.support.quick import quick
from tests.support.tokens import token_errors

METHODS = ("exact", "moments", "tokens")
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
    **{f"prior-{name}": regression(prior=name) for name in PRIORS},
    **{f"inputs-{name}": regression(inputs=name) for name in INPUTS},
    **{f"noise-{name}": regression(noise=name) for name in NOISES},
    **{f"labels-{name}": regression(labels=name) for name in LABELS},
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
QUICK = ("prior-pool", "prior-student-t-3.5", "mixed", "relu")


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


@pytest.mark.parametrize("name", quick(TASKS, *QUICK))
def test_no_triple_is_silently_wrong(name):
    task = TASKS[name]
    found, refused = predictors(task)
    assert "zero" in found and "ols" in found and set(found) | set(refused) == {*ATTENTION, *ESTIMATORS.names()}
    for sentence in refused.values():
        assert len(sentence) > 20
    samples = 8192
    errors = dict(zip(found, token_errors(list(found.values()), task, 11, samples), strict=True))
    exact = 0
    for each, predictor in found.items():
        mean, spread = errors[each].mean(), errors[each].std() / np.sqrt(samples)
        for method in METHODS:
            try:
                result = risk(predictor, task, method, samples=2048, key=jax.random.key(12))
            except Unknown as sentence:
                assert method != "tokens" and "there is no" in str(sentence)
                continue
            exact += method == "exact"
            assert result.method == method and (result.standard_error == 0) == (method == "exact")
            if not np.isfinite(result.value):
                continue  # the mean doesn't exist: least squares at n = d + 1, say
            error = np.hypot(result.standard_error, spread)
            # Heavy tails: a mean of squares is not normal, and its error is underestimated when no outlier was drawn.
            assert abs(result.value - mean) < 6 * error + 1e-9, (name, each, method, result, mean, spread)
    assert exact > 0 or name in ("relu", "heavy")


def test_a_wrong_number_would_be_seen():
    """The same comparison for a task that is not what its prior says: the triple that the issue began with."""
    lying = LinearRegression(D, 7, GaussianPrior.matching(PRIORS["sparse"], D), noise=0.7)
    task = regression("sparse")
    predictor = best("lsa", lying)
    errors = token_errors([predictor], task, 13, 8192)[0]
    told = risk(predictor, lying, "exact").value
    assert abs(told - errors.mean()) > 6 * errors.std() / np.sqrt(8192)
