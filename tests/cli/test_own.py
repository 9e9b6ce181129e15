"""A user's own code on the command line: mistakes in it are one sentence, and what it doesn't have is not reported."""

import json
import textwrap

import equinox as eqx
import jax
import pytest

from descant.attention import LSA
from descant.tasks import AbstractTask, Prompt, Unknown
from descant.training import choose
from tests.support.commands import run

MINE = """
    from descant.estimators import OLS

    def broken_law(): return {}["no key"]
    def broken_task(d, n): return {}["no key"]
    def broken_estimator(task): return {}["no key"]
    def of_two(task, other): return OLS()
    def number(task): return 3.0
"""


@pytest.fixture(autouse=True)
def mine(tmp_path, monkeypatch):
    """A folder of a user's own; names that no other test imports."""
    for name, text in {
        "own_mine": MINE,
        "own_raises": "raise RuntimeError('two\\nlines')",
        "own_syntax": "def (",
        "own_lacks": "import no_such_package",
    }.items():
        (tmp_path / f"{name}.py").write_text(textwrap.dedent(text))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))


@pytest.mark.parametrize(
    ("name", "flags", "sentence"),
    [
        (
            "zero",
            ("--task", "own_raises:T"),
            "task is 'own_raises:T', but importing 'own_raises' raises RuntimeError: two",
        ),
        ("zero", ("--prior", "own_syntax:T"), "prior is 'own_syntax:T', but importing 'own_syntax' raises SyntaxError"),
        ("own_lacks:T", (), "raises ModuleNotFoundError: No module named 'no_such_package'"),
        ("zero", ("--noise", "own_mine:broken_law"), "noise is 'own_mine:broken_law', which raises KeyError: 'no key'"),
        ("zero", ("--task", "own_mine:broken_task"), "'own_mine:broken_task', which raises KeyError: 'no key'"),
        ("own_mine:broken_estimator", (), "which raises KeyError: 'no key'"),
        ("own_mine:of_two", (), "or a function of a task."),
        ("own_mine:number", (), "predictor is 'own_mine:number', which makes a float; expected an AbstractPredictor."),
        ("os:getcwd", (), "predictor is <built-in function getcwd>; expected an Estimator"),
        ("descant.estimators:GD", (), "a class of them without arguments"),
        ("zero", ("--prior", "pool:inf"), "prior is 'pool:inf': a pool has a whole number of tasks, not inf."),
        ("zero", ("--prior", "nosuch:3"), "prior is 'nosuch:3'; expected one of: gaussian, mixture"),
        ("zero", ("--prior", "os:system"), "prior is 'os:system', which is no law, or has too few or too many numbers"),
        ("zero", ("--noise", "uniform:-3"), "its high is -3.0; expected a positive number"),
        ("zero", ("--noise", "uniform:nan"), "its high holds NaN or infinity"),
    ],
)
def test_mistakes_are_one_sentence(name, flags, sentence, capsys):
    status, out, err = run("risk", name, "--d", "2", "--n", "3", *flags, capsys=capsys)
    assert status == 2 and out == ""
    assert sentence in err
    assert err.count("\n") == 1


def test_no_noise_can_be_written_as_a_uniform_law(capsys):
    assert run("risk", "zero", "--d", "2", "--n", "3", "--noise", "uniform:0", "--json", capsys=capsys)[0] == 0


def test_laws_that_a_task_does_not_have_are_not_reported(capsys):
    flags = ("--d", "2", "--n", "3", "--task", "tests.cli.test_own:Squares", "--samples", "64", "--json")
    status, out, err = run("risk", "zero", *flags, capsys=capsys)
    assert status == 0, err
    assert json.loads(out)["task"] == {"d": 2, "n": 3, "task": "tests.cli.test_own:Squares"}


class Squares(AbstractTask):
    d: int = eqx.field(static=True)
    n: int = eqx.field(static=True)

    def sample(self, *, key) -> Prompt:
        x = jax.random.normal(key, (self.n + 1, self.d))
        y = (x**2).sum(axis=1)
        return Prompt(x[:-1], y[:-1], x[-1], y_query=y[-1])


@pytest.mark.parametrize("objective", ["weights", "posterior", "adjusted"])
def test_an_objective_that_a_task_lacks_is_refused_when_it_is_chosen(objective):
    model = LSA.random(2, key=jax.random.key(0))
    with pytest.raises(Unknown, match=f"objective is '{objective}', but .*; use the query objective\\.$"):
        choose(model, Squares(2, 3), "adam", objective)


def test_adam_is_chosen_for_the_task_and_not_for_the_size():
    choice = choose(LSA.random(2, key=jax.random.key(0)), Squares(2, 3))
    assert choice.solver == "adam" and choice.objective == "query"
    assert choice.reason == "the task's labels are not linear in the inputs: Adam on fresh prompts"
