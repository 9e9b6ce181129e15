"""Models and trainers of a user's own, in a user's file: trained, saved, loaded, measured and shown like ours."""

import importlib
import json
import os
import subprocess
import sys
from pathlib import Path

import equinox as eqx
import jax
import jax.numpy as jnp
import pytest
import scipy.optimize

from descant import LinearRegression, attention as at, risk
from descant.cli import main
from descant.cli._config import ModelFlags, SolverFlags, TrainConfig
from descant.cli._task import TaskFlags
from descant.training import SOLVERS, Solver, choose, train

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"

# A linear model without a record, one with a part and one that wraps a layer of Equinox.
OWN = '''
import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from descant import AbstractLinearPredictor, AbstractPredictor
from descant.attention import Kind, LinearGuess


class Shrunk(AbstractLinearPredictor):
    """A multiple of X^T y."""

    scale: Float[Array, ""]

    @classmethod
    def random(cls, task, *, key):
        return cls(0.1 + 0.01 * jax.random.normal(key, ()))

    def weights(self, moments):
        return self.scale * moments.xy / moments.n


class Gate(eqx.Module):
    g: Float[Array, " d"]


class Parted(AbstractPredictor):
    gate: Gate
    guess: LinearGuess
    power: float = eqx.field(static=True, default=0.5)

    def __call__(self, prompt):
        return self.guess(prompt) + self.power * self.gate.g @ prompt.x_query


def parted(task, *, key):
    return Parted(Gate(jax.random.normal(key, (task.d,))), LinearGuess(jnp.ones(task.d)))


PARTED = Kind(name="parted", sentence="has parts", model=Parted, parts=(Gate,), make=parted)


class Forgotten(AbstractPredictor):
    gate: Gate

    @classmethod
    def random(cls, task, *, key):
        return cls(Gate(jnp.zeros(task.d)))

    def __call__(self, prompt):
        return self.gate.g @ prompt.x_query


class Wrapped(AbstractPredictor):
    layer: eqx.nn.Linear
    d: int = eqx.field(static=True)

    def __init__(self, d, *, key, dtype=float):
        self.d, self.layer = d, eqx.nn.Linear(d, "scalar", dtype=dtype, key=key)

    def __call__(self, prompt):
        return self.layer(prompt.x_query)


def wrapped(task, *, key):
    return Wrapped(task.d, key=key)


WRAPPED = Kind(name="wrapped", sentence="a layer of Equinox", model=Wrapped, make=wrapped, arguments=("d",))


class Twice(AbstractPredictor):
    """Its constructor does not keep what its field holds."""

    a: Float[Array, " d"]

    def __init__(self, a):
        self.a = 2 * a

    @classmethod
    def random(cls, task, *, key):
        return cls(jnp.ones(task.d))

    def __call__(self, prompt):
        return self.a @ prompt.x_query


class Same(AbstractPredictor):
    def __call__(self, prompt):
        return prompt.y[0]


LSA = type("LSA", (AbstractPredictor,), {"__call__": lambda self, prompt: prompt.y[0], "__module__": __name__})
'''
TASK = LinearRegression(3, 6)
KEY = jax.random.key(0)


@pytest.fixture
def own(tmp_path, monkeypatch):
    (tmp_path / "own_layers.py").write_text(OWN)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    yield importlib.import_module("own_layers")
    del sys.modules["own_layers"]


def said(arguments, capsys) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as stopped:
        main([str(argument) for argument in arguments])
    output = capsys.readouterr()
    return int(stopped.value.code or 0), output.out, output.err


@pytest.mark.parametrize("name", ["Shrunk", "Parted", "PARTED", "Wrapped", "WRAPPED"])
def test_a_model_of_ones_own_is_saved_and_loaded_by_who_names_it(name, own, tmp_path, monkeypatch):
    model = at.make_model(f"own_layers:{name}", TASK, key=KEY)
    path = tmp_path / "model.safetensors"
    at.check_saving(model)
    at.save(model, path)
    with pytest.raises(ValueError, match=f"unknown kind '{name.title()}'.*kinds=.*--kinds.*DESCANT_KINDS"):
        at.load(path)
    for kind in (f"own_layers:{name}", getattr(own, name), type(model)):
        assert eqx.tree_equal(at.load(path, [kind]), model)
        assert eqx.tree_equal(at.load(path, kind), model)
    monkeypatch.setenv("DESCANT_KINDS", f"own_layers:{name}")
    assert eqx.tree_equal(at.load(path), model)


def test_what_can_not_be_saved_is_refused_before_training(own, tmp_path, capsys):
    for name, sentence in (
        ("Forgotten", "gate is a Gate, which can't be saved because no record lists it; write a Kind"),
        ("Twice", "is not the same after it was saved and loaded"),
        ("Same", "no classmethod random"),
        ("LSA", "no classmethod random"),
        ("Gate", "expected a Kind, or a subclass of AbstractPredictor"),
        ("Missing", "has no 'Missing'"),
    ):
        run = tmp_path / "run"
        status, _, error = said(["train", f"own_layers:{name}", "--d", 3, "--n", 6, "--out", run], capsys)
        assert status == 2
        assert sentence in error, error
        assert len(error.strip().splitlines()) == 1
        assert not run.exists()
    with pytest.raises(ValueError, match="two classes are called LSA"):
        at.to_bytes(own.LSA())


def test_a_record_in_another_file_than_its_class_is_refused(own):
    stray = at.Kind(name="stray", sentence="", model=own.Shrunk, make=own.Shrunk.random)
    with pytest.raises(ValueError, match="does not stand in the module of its class, own_layers"):
        at.load("nothing", [stray])


def test_a_linear_model_of_ones_own_is_fitted_by_least_squares(own, few_draws):
    """It says that it is linear, and no more: no record, no levels."""
    found = train(at.make_model("own_layers:Shrunk", TASK, key=KEY), TASK, random_starts=1, pieces=1, most_pieces=1)
    assert found.choice.solver == "lm"
    assert found.stopped in ("all starts stand still", "no step lowers the loss")
    # One step of gradient descent from zero of the best size n / (n + d + 1).
    assert abs(float(found.model.scale) - 6 / 10) < 0.05


def test_options_are_those_of_the_record():
    diag = at.KINDS.get("diag")
    assert diag.options == {"layers": 1, "heads": 1, "tied": False}
    assert diag.chosen(layers=2, mlp=None, tied=None) == {"layers": 2, "heads": 1, "tied": False}
    with pytest.raises(
        ValueError, match="mlp is 'relu', but diag has no such option; its options: layers, heads, tied"
    ):
        diag.chosen(mlp="relu")
    assert at.KINDS.get("ltb").chosen(layers=1, heads=1, causal=False) == {}
    with pytest.raises(ValueError, match="layers is 0"):
        diag.chosen(layers=0)
    needs = at.Kind(name="sized", sentence="", model=at.LSA, make=lambda task, *, width, key: None)
    with pytest.raises(ValueError, match="width is left out"):
        needs.chosen()


def test_every_file_of_the_room_that_has_a_record_is_found():
    assert set(at.KINDS.names()) >= {"lsa", "yq-lsa", "ltb", "gd++", "diag", "free-diag", "axial", "full", "elsa"}
    for name, kind in at.KINDS:
        assert kind.name == name
        model = kind.made(TASK, key=KEY)
        assert isinstance(model, kind.model)
        again = at.random_start(model, TASK, KEY)
        assert jax.tree.map(jnp.shape, again) == jax.tree.map(jnp.shape, model)
        assert kind.layers(model) >= 1
        if kind.optimum is not None:
            assert set(kind.optimum(**kind.options) or ()) <= {"name", "heads", "query_masked"}


def test_a_config_is_read_back_field_by_field():
    config = TrainConfig(
        model="diag",
        options=ModelFlags(layers=2, tied=True),
        task=TaskFlags(d=3, n=6, noise="uniform:2"),
        solver="adam",
        objective="auto",
        settings=SolverFlags(lr=0.1),
        seed=1,
        samples=100,
    )
    raw = json.loads(json.dumps(config.to_json()))
    assert TrainConfig.from_json(raw) == config
    for change, sentence in (
        ({"seed": "1"}, "config.seed is '1'"),
        ({"colour": 1}, "colour"),
        ({"task": {"d": 3}}, "config.task lacks"),
        ({"options": {**raw["options"], "tied": 1}}, "config.options.tied is 1"),
        ({"settings": None}, "config.settings lacks"),
    ):
        with pytest.raises(ValueError, match=sentence):
            TrainConfig.from_json({**raw, **change})


class Lazy:
    """Does nothing."""

    def __init__(self, model, task, *, objective, key, steps: int = 3):
        from descant.training import State

        self.state, self.given, self.steps = State, model, steps

    def init(self):
        return self.state({}, {"step": 0})

    def advance(self, state):
        info = {"step": state.info["step"] + 1, "stopped": "lazy"}
        return self.state({}, info), [{"loss": 1.0, "progress": info["step"] / self.steps}]

    def finished(self, state):
        return state.info["step"] >= self.steps

    def model(self, state):
        return self.given


def test_a_trainer_of_ones_own_is_a_solver():
    model = at.make_model("lsa", TASK, key=KEY)
    found = train(model, TASK, solver=Lazy, steps=2)
    assert (len(found.rows), found.stopped, found.choice.objective) == (2, "lazy", "posterior")
    assert found.risk.value == risk(model, TASK).value
    record = choose(model, TASK, Lazy).record
    assert record.settings(steps=5, lr=None) == {"steps": 5}
    with pytest.raises(ValueError, match=r"--lr means nothing to the solver .*Lazy.*It takes: --steps"):
        record.settings(lr=0.1)
    with pytest.raises(ValueError, match="takes no objective and no key"):
        choose(model, TASK, at.LSA)
    with pytest.raises(ValueError, match="takes no key"):
        choose(model, TASK, Solver)
    assert SOLVERS.names() == ["population", "lm", "adam"]


def test_solvers_say_why_they_stopped(relaxed, few_draws):
    """Also those that did not converge."""
    model = at.make_model("lsa", TASK, key=KEY)
    assert train(model, TASK, random_starts=0).stopped.startswith("gradient below 1e-09")
    assert train(model, TASK, solver="adam", steps=2, batch=4).stopped == "step limit of 2"
    small = {"random_starts": 0, "pieces": 1, "most_pieces": 1}
    assert train(model, TASK, solver="lm", refine_steps=2, **small).stopped == "step limit of 2"


def test_a_population_start_that_does_not_converge_says_so(monkeypatch):
    real = scipy.optimize.minimize
    monkeypatch.setattr(
        scipy.optimize, "minimize", lambda *args, **settings: real(*args, **{**settings, "options": {"maxiter": 1}})
    )
    found = train(at.make_model("lsa", TASK, key=KEY), TASK, random_starts=0)
    assert found.stopped.startswith("not converged: Maximum number of iterations")
    assert found.rows[-1]["stopped"] == found.stopped


def outside(folder: Path, *arguments: str) -> subprocess.CompletedProcess:
    """The command as a user runs it, in a folder of his own that holds the examples."""
    environment = {**os.environ, "DESCANT_RUNS": str(folder / "runs"), "XDG_CACHE_HOME": str(folder / "cache")}
    command = [sys.executable, "-m", "descant", *arguments]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=300)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("outside")
    for example in ("gated_attention.py", "sgd_trainer.py"):
        assert len((EXAMPLES / example).read_text().splitlines()) <= 40
        (place / example).write_bytes((EXAMPLES / example).read_bytes())
    return place


def test_the_gated_layer_of_the_examples_from_the_command_line(folder):
    task = ["--d", "2", "--n", "4", "--noise", "0.5", "--samples", "500", "--json"]
    name = ["gated_attention:Gated", "--heads", "2", "--steps", "60", "--batch", "32"]
    trained = outside(folder, "train", *name, *task, "--out", "gated")
    assert trained.returncode == 0, trained.stderr
    result = json.loads(trained.stdout)
    assert result["stopped"] == "step limit of 60"
    shown = json.loads(outside(folder, "runs", "--json", "--root", ".").stdout)["runs"]
    assert [run["config"]["model"] for run in shown if run["name"] == "gated"] == ["gated_attention:Gated"]
    refused = outside(folder, "eval", "gated", "--samples", "500")
    assert refused.returncode == 2
    assert "--kinds gated_attention:Gated" in refused.stderr
    measured = outside(
        folder, "eval", "gated", "--kinds", "gated_attention:Gated", "--samples", "500", "--levels", "2", "--json"
    )
    assert measured.returncode == 0, measured.stderr
    assert json.loads(measured.stdout)["risk"] > 0
    # The same command with other code in the user's file is another run.
    with (folder / "gated_attention.py").open("a") as file:
        file.write("\n# changed\n")
    again = outside(folder, "train", *name, *task, "--out", "gated")
    assert again.returncode == 2, again.stdout


def test_the_trainer_of_the_examples_from_the_command_line(folder):
    task = ["lsa", "--d", "2", "--n", "4", "--samples", "500", "--json"]
    trained = outside(
        folder, "train", *task, "--solver", "sgd_trainer:SGD", "--steps", "20", "--lr", "0.1", "--out", "sgd"
    )
    assert trained.returncode == 0, trained.stderr
    assert json.loads(trained.stdout)["solver"] == "sgd_trainer:SGD"
    measured = outside(folder, "eval", "sgd", "--samples", "500", "--levels", "2", "--json")
    assert json.loads(measured.stdout)["risk"] == json.loads(trained.stdout)["risk"]
