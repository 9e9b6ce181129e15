"""Statistics beside other people's, and verdicts on models whose truth is known."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from descant.llm import by_distance, by_shots, guessed_risk, remaining_share, summary, verdicts
from descant.llm._report import as_csv
from descant.llm._statistics import bootstrap, copied, corrected, difference, mse, pearson, spearman, within_slope
from tests.support.llm_results import SHOTS, made_up

RESAMPLES = 16_000


@pytest.fixture
def arrays():
    random = np.random.default_rng(5)
    gold = np.round(random.uniform(0, 5, (120, 1)), 1)  # with ties
    shown = np.round(gold + random.standard_normal(gold.shape), 1)
    return 0.6 * shown + 0.2 * gold + 0.5 * random.standard_normal(gold.shape), shown, gold


def test_statistics_are_scipys(arrays):
    answer, shown, gold = (array[:, 0] for array in arrays)
    assert pearson(answer, gold) == pytest.approx(stats.pearsonr(answer, gold)[0])
    assert spearman(answer, gold) == pytest.approx(stats.spearmanr(answer, gold)[0])
    assert mse(answer, gold) == pytest.approx(np.mean((answer - gold) ** 2))
    design = np.column_stack([np.ones_like(gold), shown, gold])
    _, on_guess, on_gold = np.linalg.lstsq(design, answer, rcond=None)[0]
    assert copied(answer, shown, gold) == pytest.approx(on_guess)
    assert corrected(answer, shown, gold) == pytest.approx(on_gold)


@pytest.mark.parametrize("statistic", [mse, pearson, spearman])
def test_intervals_are_scipys(arrays, statistic):
    answer, _, gold = arrays
    ours = bootstrap(statistic, answer, gold, resamples=RESAMPLES)
    theirs = stats.bootstrap(
        (answer[:, 0], gold[:, 0]),
        lambda a, b, axis=-1: statistic(a, b),
        paired=True,
        vectorized=True,
        method="percentile",
        n_resamples=RESAMPLES,
        rng=np.random.default_rng(1),
    )
    # Quantiles at this level are off by 2.7 / sqrt(draws) of a standard error; so is their difference, times sqrt(2).
    tolerance = 5 * 2.7 * np.sqrt(2 / RESAMPLES) * theirs.standard_error
    assert ours.low == pytest.approx(theirs.confidence_interval.low, abs=tolerance)
    assert ours.high == pytest.approx(theirs.confidence_interval.high, abs=tolerance)
    assert ours.error == pytest.approx(theirs.standard_error, rel=0.08)


def test_draws_of_demonstrations_are_resampled_too():
    """If all that varies is the draw, and there are few of them, the interval must be as wide as they differ."""
    gold = np.zeros((50, 4))
    answer = np.tile(np.sqrt([1.0, 2.0, 3.0, 4.0]), (50, 1))
    found = bootstrap(mse, answer, gold)
    assert found.error == pytest.approx(np.std([1, 2, 3, 4]) / 2, rel=0.06)
    assert bootstrap(mse, answer[:, :1], gold[:, :1]).error == 0


def test_differences_are_paired(arrays):
    answer, shown, gold = arrays
    both = bootstrap(difference(mse), answer, shown, gold)
    assert both.value == pytest.approx(float(mse(answer[:, 0], gold[:, 0]) - mse(shown[:, 0], gold[:, 0])))
    apart = np.hypot(bootstrap(mse, answer, gold).error, bootstrap(mse, shown, gold, seed=1).error)
    assert both.error < apart


def test_missing_answers_and_what_has_no_meaning(arrays):
    answer, _, gold = arrays
    holed = answer.copy()
    holed[:10] = np.nan
    assert bootstrap(mse, holed, gold) == bootstrap(mse, answer[10:], gold[10:])
    constant = np.full_like(gold, 2.5)
    assert str(bootstrap(pearson, constant, gold)) == "-"
    assert str(bootstrap(copied, answer, constant, gold)) == "-"
    assert str(bootstrap(copied, answer, np.round(gold, 1), gold)) == "-"
    assert str(bootstrap(mse, np.full_like(gold, np.nan), gold)) == "-"


def test_a_hard_query_is_not_mistaken_for_a_bad_guess():
    random = np.random.default_rng(2)
    hard = random.exponential(1.0, (300, 1))
    distances = [hard + random.exponential(1.0, hard.shape) for _ in range(3)]
    errors = [5 * hard + 0.4 * distance + 0.1 * random.standard_normal(hard.shape) for distance in distances]
    found = bootstrap(within_slope, *errors, *distances)
    assert abs(found.value - 0.4) < 4 * found.error < 0.1
    naive = np.polyfit(np.concatenate(distances)[:, 0], np.concatenate(errors)[:, 0], 1)[0]
    assert naive > 1


@pytest.mark.parametrize(
    ("model", "expected"),
    [
        # A model that copies the guess, adds nothing, and is lost without.
        ({"copies": 0.9, "knows": 0.0}, ("holds", "does-not-hold", "holds")),
        # One step of descent: what is left of the guess and what is known of the label sum to one.
        (
            {"copies": 0.5, "knows": 0.5, "noise": 0.1, "without": 0.7, "noise_without": 0.6, "queries": 400},
            ("holds", "holds", "holds"),
        ),
        # It never looks at the guess, but knows more than it.
        (
            {"copies": 0.0, "knows": 1.0, "without": 1.0, "noise": 0.1, "noise_without": 0.1},
            ("does-not-hold", "holds", "does-not-hold"),
        ),
    ],
)
def test_verdicts_on_models_whose_truth_is_known(model, expected):
    found = verdicts(made_up(**model))
    assert tuple(each.verdict for each in found) == expected
    assert all(each.reason.endswith(".") and each.checks for each in found)


def test_few_queries_decide_nothing():
    found = verdicts(made_up(copies=0.55, knows=0.1, noise=1.0, without=0.3, queries=12))
    assert {each.verdict for each in found} == {"undecided"}


def test_what_was_not_asked_is_not_judged():
    whole = made_up(copies=0.5, knows=0.5)
    part = replace(whole, asked=replace(whole.asked, guesses=("none", "embedding")))
    improves, beyond, hurts = verdicts(part)
    assert (improves.verdict, improves.reason) == ("undecided", "Not asked: shuffled.")
    assert (hurts.verdict, hurts.reason) == ("undecided", "Not asked: random.")
    assert beyond.checks


def test_tables_tell_what_was_put_in():
    results = made_up(copies=0.5, knows=0.3)
    rows = {row.guess: row for row in summary(results)}
    for kind in ("random", "embedding"):
        assert abs(rows[kind].copied.value - 0.5) < 4 * rows[kind].copied.error
        assert abs(rows[kind].corrected.value - 0.3) < 4 * rows[kind].corrected.error
    assert str(rows["gold"].copied) == "-"
    assert rows["none"].alone_mse.value != rows["none"].alone_mse.value
    distances = by_distance(results)
    assert [row.distance for row in distances] == sorted(row.distance for row in distances)
    assert distances[-1].error.value > distances[0].error.value
    assert all(row.low**2 <= row.distance <= row.high**2 for row in distances)
    shots = [row for row in by_shots(results) if row.guess == "random"]
    assert [row.shots for row in shots] == [*range(SHOTS + 1)]
    assert all(abs(row.copied.value - 0.5) < 4 * row.copied.error for row in shots)
    text = as_csv(list(rows.values()))
    assert text.splitlines()[0].startswith("guess,mse,mse_low,mse_high,mse_error,pearson,")
    assert len(text.splitlines()) == len(rows) + 1


def test_the_linear_world_is_one_step_of_descent():
    """Exact risks and shares beside a simulation of y_q-LSA that knows nothing of the closed forms."""
    d, n, noise2, distance = 4, 6, 0.25, 0.8
    random = np.random.default_rng(3)
    share = remaining_share(n, distance=distance, d=d, noise2=noise2)
    errors, answers, guesses, labels = [], [], [], []
    for _ in range(20_000):
        w, w0 = (random.standard_normal(d) for _ in range(2))
        w0 = w + np.sqrt(distance / d) * w0
        x, query = random.standard_normal((n, d)), random.standard_normal(d)
        y = x @ w + np.sqrt(noise2) * random.standard_normal(n)
        stepped = w0 + (1 - share) * x.T @ (y - x @ w0) / n
        answers.append(stepped @ query)
        guesses.append(w0 @ query)
        labels.append(w @ query)
        errors.append((answers[-1] - labels[-1]) ** 2)
    standard_error = np.std(errors) / np.sqrt(len(errors))
    assert np.mean(errors) == pytest.approx(guessed_risk(distance, n, d=d, noise2=noise2), abs=4 * standard_error)
    found = bootstrap(copied, *(np.array(each)[:, None] for each in (answers, guesses, labels)), resamples=50)
    assert found.value == pytest.approx(share, abs=4 * found.error)
    assert guessed_risk(distance, 0) == distance
    assert remaining_share(0) == 1
