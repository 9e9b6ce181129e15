"""Statistics beside other people's, and verdicts on models whose truth is known."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from descant.llm import (
    Study,
    by_distance,
    by_shots,
    by_wording,
    compare,
    cross_fitted,
    estimate,
    guessed_risk,
    near_chance,
    remaining_share,
    summary,
    verdicts,
)
from descant.llm._report import as_csv
from descant.llm._statistics import copied, corrected, difference, mae, mse, pearson, spearman, within_slope
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


@pytest.mark.parametrize("statistic", [mse, mae, pearson, spearman])
def test_errors_are_those_of_scipys_resamples(arrays, statistic):
    """A jackknife knows nothing of resamples: the two agree as far as 120 queries let them."""
    answer, _, gold = arrays
    ours = estimate(statistic, answer, gold)
    theirs = stats.bootstrap(
        (answer[:, 0], gold[:, 0]),
        lambda a, b, axis=-1: statistic(a, b),
        paired=True,
        vectorized=True,
        n_resamples=RESAMPLES,
        rng=np.random.default_rng(1),
    )
    assert ours.error == pytest.approx(theirs.standard_error, rel=0.08)
    assert ours.freedom == pytest.approx(119)
    reach = stats.t.ppf(0.975, 119) * ours.error
    assert (ours.low, ours.high) == pytest.approx((ours.value - reach, ours.value + reach))


@pytest.mark.parametrize("statistic", [mse, mae, spearman, copied, corrected], ids=lambda each: each.__name__)
def test_without_each_group_at_once_is_without_one_after_the_other(arrays, statistic, monkeypatch):
    """With ties, several wordings and seeds, and groups of two sizes; in pieces, too."""
    answer, shown, gold = (np.stack([array, array[::-1] ** 2, array]).repeat(2, axis=2) for array in arrays)
    answer[1:, :, 1] += np.round(answer[1:, ::-1, 1], 1)
    parts = (answer, shown, gold) if statistic in (copied, corrected) else (answer, gold)
    monkeypatch.setattr("descant.llm._left_out.AT_A_TIME", 3 * 240)
    at_once = estimate(statistic, *parts, together=7)
    assert at_once.error == pytest.approx(estimate(lambda *each: statistic(*each), *parts, together=7).error, rel=1e-9)
    if statistic is spearman:
        paired = answer, shown, gold
        plain = estimate(lambda *each: difference(spearman)(*each), *paired, together=7)
        assert estimate(difference(spearman), *paired, together=7).error == pytest.approx(plain.error, rel=1e-9)


def test_the_error_of_a_mean_is_the_textbooks():
    random = np.random.default_rng(0)
    values = random.standard_normal((40, 1))
    found = estimate(mse, values, np.zeros_like(values))
    assert found.error == pytest.approx(stats.sem(values[:, 0] ** 2))


def test_queries_that_share_a_draw_count_as_one():
    """What a draw does to all of its queries is left out with it; counted as 60 queries the error would be a third."""
    random = np.random.default_rng(4)
    draws = np.repeat(random.standard_normal((6, 1)), 10, axis=0)
    gold = np.zeros_like(draws)
    together = estimate(lambda a, g: a.mean(axis=-1), draws, gold, together=10)
    apart = estimate(lambda a, g: a.mean(axis=-1), draws, gold)
    assert together.error == pytest.approx(stats.sem(draws[::10, 0]))
    assert together.freedom == pytest.approx(5)
    assert apart.error < 0.45 * together.error


def test_the_spread_over_wordings_is_part_of_the_interval():
    random = np.random.default_rng(6)
    offsets = np.array([0.0, 1.0, 2.5])
    answer = offsets[:, None, None] + 0.1 * random.standard_normal((3, 200, 1))
    found = estimate(lambda a, g: a.mean(axis=-1), answer, np.zeros_like(answer))
    assert found.value == pytest.approx(offsets.mean(), abs=0.05)
    assert found.error == pytest.approx(stats.sem(offsets), rel=0.05)
    # Three wordings that differ say little: two degrees of freedom.
    assert 2.0 <= found.freedom < 2.1
    reach = stats.t.ppf(0.975, 2) * stats.sem(offsets)
    assert found.high - found.value == pytest.approx(reach, rel=0.05)
    # The same wording three times adds nothing.
    same = estimate(lambda a, g: a.mean(axis=-1), np.tile(answer[:1], (3, 1, 1)), np.zeros_like(answer))
    one = estimate(lambda a, g: a.mean(axis=-1), answer[:1], np.zeros_like(answer[:1]))
    assert same.error == pytest.approx(one.error)


def test_intervals_hold_the_truth_as_often_as_they_say():
    """Wordings, draws and queries each with an effect of their own: 95% intervals of the mean over all of them."""
    random = np.random.default_rng(8)
    hits, trials = 0, 300
    for _ in range(trials):
        effect = random.standard_normal((4, 1, 1)), np.repeat(random.standard_normal((1, 8, 1)), 5, axis=1)
        values = effect[0] + effect[1] + random.standard_normal((1, 40, 1)) + random.standard_normal((4, 40, 1))
        found = estimate(lambda a, g: a.mean(axis=-1), values, np.zeros_like(values), together=5)
        hits += found.low <= 0 <= found.high
    assert hits / trials > 0.93


def test_differences_are_paired(arrays):
    answer, shown, gold = arrays
    both = estimate(difference(mse), answer, shown, gold)
    assert both.value == pytest.approx(float(mse(answer[:, 0], gold[:, 0]) - mse(shown[:, 0], gold[:, 0])))
    apart = np.hypot(estimate(mse, answer, gold).error, estimate(mse, shown, gold).error)
    assert both.error < apart


def test_missing_answers_and_what_has_no_meaning(arrays):
    answer, _, gold = arrays
    holed = answer.copy()
    holed[:10] = np.nan
    assert estimate(mse, holed, gold) == estimate(mse, answer[10:], gold[10:])
    constant = np.full_like(gold, 2.5)
    assert str(estimate(pearson, constant, gold)) == "-"
    assert str(estimate(copied, answer, constant, gold)) == "-"
    assert str(estimate(copied, answer, np.round(gold, 1), gold)) == "-"
    assert str(estimate(mse, np.full_like(gold, np.nan), gold)) == "-"


def test_a_hard_query_is_not_mistaken_for_a_bad_guess():
    random = np.random.default_rng(2)
    hard = random.exponential(1.0, (300, 1))
    distances = [hard + random.exponential(1.0, hard.shape) for _ in range(3)]
    errors = [5 * hard + 0.4 * distance + 0.1 * random.standard_normal(hard.shape) for distance in distances]
    found = estimate(within_slope, *errors, *distances)
    assert abs(found.value - 0.4) < 4 * found.error < 0.1
    naive = np.polyfit(np.concatenate(distances)[:, 0], np.concatenate(errors)[:, 0], 1)[0]
    assert naive > 1


@pytest.mark.parametrize(
    ("model", "expected"),
    [
        # A model that copies the guess, adds nothing, and is lost without.
        ({"copies": 0.9, "knows": 0.0}, ("holds", "does-not-hold", "holds", "undecided", "does-not-hold")),
        # One step of descent: what is left of the guess and what is known of the label sum to one.
        (
            {"copies": 0.5, "knows": 0.5, "noise": 0.1, "without": 0.7, "noise_without": 0.6, "queries": 400},
            ("holds", "holds", "holds", "holds", "holds"),
        ),
        # It never looks at the guess, but knows more than it.
        (
            {"copies": 0.0, "knows": 1.0, "without": 1.0, "noise": 0.1, "noise_without": 0.1},
            ("does-not-hold", "holds", "does-not-hold", "does-not-hold", "does-not-hold"),
        ),
    ],
)
def test_verdicts_on_models_whose_truth_is_known(model, expected):
    found = verdicts(made_up(**model))
    assert tuple(each.verdict for each in found) == expected
    assert all(each.reason.endswith(".") and each.checks for each in found)


def test_few_queries_decide_nothing():
    """However large the effect: a standard error from so few says nothing."""
    found = verdicts(made_up(copies=0.9, knows=0.0, queries=12))
    assert {each.verdict for each in found} == {"undecided"}
    assert all(
        each.reason == "Judged on 30 queries or more that were answered throughout; there are 12." for each in found
    )
    assert all(each.checks == () for each in found)


def test_queries_without_an_answer_are_not_counted():
    study = made_up(copies=0.9, knows=0.0)
    study.first.answer["embedding"][20:] = np.nan
    few = [each.claim for each in verdicts(study) if "there are 20" in each.reason]
    assert few == ["a", "b", "c", "ensemble"]  # what is displaced takes no embedding


def test_one_draw_for_all_queries_decides_nothing():
    study = made_up(copies=0.9, knows=0.0)
    study = Study.of(replace(study.first, asked=replace(study.first.asked, together=100)))
    assert {each.verdict for each in verdicts(study)} == {"undecided"}
    assert "6 draws of demonstrations or more; there are 2" in verdicts(study)[0].reason


def test_a_wording_that_hides_what_is_known():
    """In one wording the model knows nothing without a guess, in the other all: (a) is judged in the better one too."""
    lost, wise = (made_up(0.9, 0.0, without=each, noise_without=0.1).first for each in (0.0, 0.95))
    named = {"lost": lost, "wise": wise}
    alone = verdicts(Study({"lost": named["lost"]}, "lost"))[0]
    assert alone.verdict == "holds" and "passes a guess on" in alone.reason
    both = Study(named, "wise")
    assert near_chance(both.only("lost")) and not near_chance(both)
    judged = verdicts(both)[0]
    assert judged.verdict == "does-not-hold"
    assert any(check.name.endswith("wording wise") and check.outcome == "refutes" for check in judged.checks)
    assert [row.chosen for row in by_wording(both)] == [False, True]


def test_what_is_displaced_is_seen_beside_what_is_copied():
    """A model that knows, and forgets it beside any guess, without copying: nothing of the guess is in its answer."""
    study = made_up(copies=0.0, knows=0.0, without=0.9)
    rows = {row.guess: row for row in summary(study)}
    assert abs(rows["shuffled"].copied.value) < 0.1
    assert rows["shuffled"].displaced.value > 0.8
    assert {each.claim: each.verdict for each in verdicts(study)}["displaced"] == "holds"


def test_the_ensemble_is_predicted_without_its_own_label(arrays):
    answer, shown, gold = (array[None] for array in arrays)
    found = cross_fitted(gold, shown, answer)
    moved = gold.copy()
    moved[0, 7] += 100.0
    assert cross_fitted(moved, shown, answer)[0, 7] == pytest.approx(found[0, 7])
    assert not np.allclose(cross_fitted(moved, shown, answer)[0, 8], found[0, 8])
    rows = np.column_stack([np.ones(119), *(np.delete(array[0, :, 0], 7) for array in (shown, answer))])
    fit = np.linalg.lstsq(rows, np.delete(gold[0, :, 0], 7), rcond=None)[0]
    assert found[0, 7, 0] == pytest.approx(fit @ [1.0, shown[0, 7, 0], answer[0, 7, 0]])
    # Queries that share a draw are predicted together.
    assert cross_fitted(moved, shown, answer, together=10)[0, 3] == pytest.approx(
        cross_fitted(gold, shown, answer, together=10)[0, 3]
    )


def test_two_models_on_the_same_questions():
    base, tuned = made_up(0.3, 0.1, without=0.5), made_up(0.8, 0.1, without=0.5)
    rows = {row.guess: row for row in compare(tuned, base)}
    assert abs(rows["random"].copied.value - 0.5) < 4 * rows["random"].copied.error + 0.02
    assert rows["random"].displaced.value > 0 > rows["embedding"].mse.value
    same = compare(base, base)
    assert all(row.mse.value == 0 == row.mse.error for row in same)
    other = Study.of(replace(base.first, asked=replace(base.first.asked, data="other")))
    with pytest.raises(ValueError, match="differ in data; expected the same command"):
        compare(base, other)


def test_what_was_not_asked_is_not_judged():
    whole = made_up(copies=0.5, knows=0.5)
    part = Study.of(replace(whole.first, asked=replace(whole.first.asked, guesses=("none", "embedding"))))
    improves, beyond, hurts, *_ = verdicts(part)
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
    assert text.splitlines()[0].startswith("guess,mse,mse_low,mse_high,mse_error,mae,")
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
    found = estimate(copied, *(np.array(each)[:, None] for each in (answers, guesses, labels)))
    assert found.value == pytest.approx(share, abs=4 * found.error)
    assert guessed_risk(distance, 0) == distance
    assert remaining_share(0) == 1
