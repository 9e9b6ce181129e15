"""Linear regression in text: the prompts letter for letter, the theory's learners, and verdicts on known models."""

import numpy as np
import pytest

from descant.llm import (
    LEARNERS,
    Reply,
    TextResults,
    TextSetting,
    draw_tasks,
    estimate,
    find_number_templates,
    learnt,
    number_templates,
    run_regression,
    share_rows,
    share_verdict,
    write_share_report,
    yq_share,
)
from descant.llm._statistics import copied
from tests.support.commands import run

SMALL = TextSetting(tasks=60, shots=4)
THREE = find_number_templates("plain,named,object")


@pytest.fixture(scope="module")
def tasks():
    return draw_tasks(TextSetting(tasks=1500, shots=4))


def test_numbers_on_the_page(tasks):
    for array in (tasks.x, tasks.label, tasks.guess):
        assert array.min() >= 0.0 and array.max() <= 9.9
        np.testing.assert_allclose(array, np.round(array, 1))
    # Labels of variance 1, guesses at half of it, but for rounding and for what is drawn again.
    unit = tasks.label.var() / 0.8**2
    assert unit == pytest.approx(1, abs=0.08)
    assert ((tasks.guess - tasks.label) ** 2).mean() / tasks.label.var() == pytest.approx(0.5, abs=0.04)


def test_prompts_letter_for_letter(tasks):
    x, label, guess = tasks.x[0, 0], tasks.label[0, 0], tasks.guess[0, 0]
    prompt = tasks.prompt(0, number_templates()["plain"], guessed=True)
    assert prompt.text.startswith(f"input: {x[0]:.1f} {x[1]:.1f} guess: {guess:.1f} output: {label:.1f}\ninput: ")
    assert prompt.text.endswith(f" guess: {tasks.guess[0, -1]:.1f} output: ")
    bare = tasks.prompt(0, number_templates()["object"], guessed=False)
    assert bare.text.startswith(f'{{"x": [{x[0]:.1f}, {x[1]:.1f}], "y": {label:.1f}}}\n') and "guess" not in bare.text


@pytest.mark.parametrize("n", [1, 2, 4])
def test_the_share_of_linear_attention_is_the_formulas(tasks, n):
    """From its answers to the very prompts, by the regression that the models are measured with."""
    assert yq_share(tasks, n) == pytest.approx(3 / (n + 3))
    found = estimate(copied, *(array[:, [n]] for array in (learnt(tasks, "y_q-LSA"), tasks.guess, tasks.label)))
    assert abs(found.value - yq_share(tasks, n)) < 4 * found.error < 0.2


def test_descent_and_bayes_trust_the_guess_less(tasks):
    shares = {name: float(copied(learnt(tasks, name)[:, 4], tasks.guess[:, 4], tasks.label[:, 4])) for name in LEARNERS}
    assert shares["y_q-LSA"] > shares["descent, 10 steps"] > shares["Bayes"] > -0.05
    noisy = draw_tasks(TextSetting(tasks=300, shots=4, noise=0.5))
    assert yq_share(noisy, 4) > 3 / 7


@pytest.mark.parametrize("setting", [TextSetting(tasks=4, shots=3), TextSetting(3, 4, 4, 1.0, 0.3)])
def test_bayes_is_the_mean_given_all_that_is_on_the_page(setting):
    """From the covariances of guesses and labels, which are rounded alike, in the place of those of the weights."""
    tasks = draw_tasks(setting)
    n, d, rounded = setting.shots, setting.d, 0.1**2 / 12 / 0.8**2
    for row, answer in enumerate(learnt(tasks, "Bayes")[:, n]):
        x, label, guess = ((array[row] - 5) / 0.8 for array in (tasks.x, tasks.label, tasks.guess))
        of_guesses = (1 - setting.distance) / d * x @ x.T
        of_labels = of_guesses + setting.distance / d * x @ x.T
        said = np.block([[of_guesses, of_guesses[:, :n]], [of_guesses[:n], of_labels[:n, :n]]])
        said += np.diag([rounded] * (n + 1) + [rounded + setting.noise**2] * n)
        with_query = np.concatenate([of_guesses[n], of_labels[n, :n]])
        mean = with_query @ np.linalg.solve(said, np.concatenate([guess, label[:n]]))
        assert answer == pytest.approx(5 + 0.8 * mean, abs=1e-6)


class Formula:
    """A model that answers with a part of the guess, and for the rest with the label that it has no right to know."""

    name, identity = "formula", "formula-1"

    def __init__(self, share, along=True):
        self.share, self.reads_along, self.asked = share, along, []
        self.labels = {}

    def know(self, setting):
        tasks = draw_tasks(setting)
        for template in THREE:
            for task in range(setting.tasks):
                for kind in (True, False):
                    whole = tasks.prompt(task, template, guessed=kind)
                    for place in range(setting.shots + 1):
                        key = whole.cut(place).text if place < setting.shots else whole.text
                        share = self.share(place) if kind else 0.0
                        self.labels[key] = share * tasks.guess[task, place] + (1 - share) * tasks.label[task, place]
        return self

    def replies(self, prompts, wording, scale):
        for index, prompt in enumerate(prompts):
            self.asked.append(prompt.text)
            last = len(prompt.scores)
            said = [self.labels[prompt.cut(place).text] for place in range(last)] if self.reads_along else []
            yield index, Reply(self.labels[prompt.text], "ok", along=tuple(said))


@pytest.mark.parametrize("along", [True, False])
def test_a_model_that_leaves_what_linear_attention_leaves(tmp_path, along):
    """Read on its way or asked at every place, the same comes out."""
    model = Formula(lambda n: 3 / (n + 3), along).know(SMALL)
    results = run_regression(model, SMALL, THREE, tmp_path)
    rows = share_rows(results)
    assert [row.n for row in rows] == [0, 1, 2, 4]
    assert [row.share.value for row in rows] == pytest.approx([1.0, 0.75, 0.6, 3 / 7], abs=0.02)
    assert share_verdict(results).verdict == "holds"
    assert len(model.asked) == 60 * 3 * 2 * (1 if along else 4)
    run_regression(model, SMALL, THREE, tmp_path)
    assert len(model.asked) == 60 * 3 * 2 * (1 if along else 4)
    report = write_share_report(results, tmp_path / "report", model="formula")
    assert report.as_json()["verdict"]["verdict"] == "holds"
    assert (tmp_path / "report" / "shares.csv").read_text().startswith("n,share,share_low,")
    assert (tmp_path / "report" / "figure.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize("share", [lambda n: 0.9, lambda n: 0.1 + 0.1 * n])
def test_a_model_that_copies_whatever_it_has_seen(tmp_path, share):
    results = run_regression(Formula(share).know(SMALL), SMALL, THREE, tmp_path)
    judged = share_verdict(results)
    assert judged.verdict == "does-not-hold"
    assert {check.against for check in judged.checks if check.outcome == "refutes"} == {"curve", "falls"}


def test_few_tasks_decide_nothing():
    tasks = draw_tasks(TextSetting(tasks=5, shots=4))
    answers = {kind: np.tile(tasks.guess, (3, 1, 1)) for kind in ("none", "guess")}
    judged = share_verdict(TextResults(tasks, ("a", "b", "c"), answers, {"ok": 30}))
    assert judged.verdict == "undecided" and "There are 5 tasks" in judged.reason


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["--d", "0"], "d is 0"),
        (["--d", "11"], "d is 11; expected at most 10"),
        (["--shots", "0"], "shots is 0"),
        (["--tasks", "100001"], "expected at most 100,000"),
        (["--distance", "0"], "distance is 0.0"),
        (["--distance", "1.5"], "distance is 1.5"),
        (["--noise", "-1"], "noise is -1.0"),
        (["--noise", "nan"], "noise is nan"),
        (["--template", "plain,plain"], "template is 'plain,plain'"),
        (["--template", "verse"], "template is 'verse'; expected some of: plain, named, object"),
        (["--device", "tpu"], "device is 'tpu'"),
    ],
)
def test_mistakes_are_one_sentence(options, sentence, capsys, tmp_path):
    status, out, err = run("llm", "regression", *options, "--out", str(tmp_path / "out"), capsys=capsys)
    assert (status, out, err.count("\n")) == (2, "", 1) and sentence in err
    assert not (tmp_path / "out").exists()
