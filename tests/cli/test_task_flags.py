"""A mean vector and a spectrum on the command line: what is computed, kept, and refused."""

import json

import numpy as np
import pytest

from descant import GaussianInputs, GaussianPrior, LinearRegression, best
from descant.cli._config import ModelFlags, SolverFlags, TrainConfig
from descant.cli._flags import read_numbers
from descant.cli._task import ShiftFlags, TaskFlags
from descant.measure import exact_risk
from descant.runs import Store, query
from descant.tasks import LaplacePrior, MappedInputs, SparsePrior, SphereInputs, parse_inputs, parse_prior
from tests.support.commands import run

MEAN = np.array([1.0, 0.0, -1.0])


def files(folder) -> dict[str, str]:
    """The same three numbers, in one file of each sort."""
    (folder / "mean.txt").write_text("1, 0\n-1\n")
    (folder / "mean.json").write_text("[1, 0.0, -1]")
    np.save(folder / "mean.npy", MEAN)
    return {suffix: str(folder / f"mean.{suffix}") for suffix in ("txt", "json", "npy")}


def risk_of(*flags: str, capsys) -> dict:
    status, out, err = run("risk", "gd-beta", "--d", "3", "--n", "6", *flags, "--json", capsys=capsys)
    assert status == 0, err
    return json.loads(out)


@pytest.mark.parametrize(
    ("flags", "prior", "inputs"),
    [
        (("--prior-mean", "-1,0,1"), GaussianPrior(-MEAN, np.eye(3)), None),
        (("--input-spectrum", "4,1,0.25"), None, GaussianInputs(np.diag([4, 1, 0.25]))),
        (
            ("--input-spectrum", "power:1.5"),
            None,
            GaussianInputs(np.diag(np.arange(1, 4) ** -1.5) * 3 / np.sum(np.arange(1, 4) ** -1.5)),
        ),
        (("--prior", "laplace", "--prior-mean", "1,0,-1"), LaplacePrior(MEAN), None),
        (("--prior", "sparse:0.3", "--prior-mean", "1,0,-1"), SparsePrior(0.3, MEAN), None),
        (
            ("--inputs", "sphere", "--input-spectrum", "4,1,0.25"),
            None,
            MappedInputs(SphereInputs(), np.diag([2, 1, 0.5])),
        ),
    ],
)
def test_the_exact_risk_is_that_of_the_same_task_in_python(flags, prior, inputs, capsys):
    task = LinearRegression(3, 6, prior or GaussianPrior.isotropic(3), inputs or GaussianInputs.isotropic(3))
    found = risk_of(*flags, capsys=capsys)
    assert found["method"] == "exact"
    assert found["risk"] == pytest.approx(exact_risk(best("gd-beta", task), task), rel=1e-12)


def test_numbers_from_files_are_the_numbers(tmp_path, capsys):
    tasks = [risk_of("--prior-mean", path, capsys=capsys)["task"] for path in files(tmp_path).values()]
    assert all(task["prior_mean"] == [1.0, 0.0, -1.0] for task in tasks)


@pytest.mark.parametrize("spec", ["gaussian", "student-t:9", "laplace", "sparse:0.4", "pool:5", "mixture:2"])
def test_every_law_moves_with_its_location(spec):
    moved, centred = parse_prior(spec, 3, MEAN), parse_prior(spec, 3)
    share = 0.4 if spec.startswith("sparse") else 1.0
    np.testing.assert_allclose(moved.moments(3).mean, centred.moments(3).mean + share * MEAN, atol=1e-12)
    with pytest.raises(ValueError, match="prior mean is 3 numbers; expected one number for all coordinates, or d = 4"):
        parse_prior(spec, 4, MEAN)


def test_a_spectrum_instead_of_a_condition():
    with pytest.raises(ValueError, match="expected one of the two"):
        parse_inputs("gaussian", 3, 4.0, "power:1")
    trained = TaskFlags(d=3, n=5, input_condition=4.0)
    other = ShiftFlags(input_spectrum="power:1").applied(trained)
    assert (other.input_condition, other.input_spectrum) == (1.0, "power:1")
    assert ShiftFlags(input_condition=4.0).applied(other) == trained


@pytest.mark.parametrize(
    ("flags", "sentence"),
    [
        (("--prior-mean", "1,0"), "prior mean is 2 numbers; expected one number for all coordinates, or d = 3 of them"),
        (("--prior-mean", "1,,0"), "'1,,0' is no number, no numbers such as 1,0,-1, and no file of them"),
        (("--prior-mean", "1,inf,0"), "prior mean holds NaN or infinity"),
        (("--prior-mean", "absent.npy"), "'absent.npy' can't be read as a file of numbers"),
        (("--prior-mean", "words.txt"), "could not convert string to float"),
        (("--prior-mean", "empty.txt"), "holds no numbers"),
        (("--prior-mean", "object.json"), "expected a list of numbers"),
        (("--prior-mean", "deep.json"), "can't be read as a file of numbers"),
        (("--prior-mean", "square.npy"), "expected one array of real numbers in a row"),
        (("--prior-mean", "claims.npy"), "can't be read as a file of numbers"),
        (("--prior-mean", "torn.npy"), "can't be read as a file of numbers"),
        (("--prior-mean", "pickled.npy"), "can't be read as a file of numbers"),
        (("--prior-mean", "folder.txt"), "can't be read as a file of numbers"),
        (("--input-spectrum", "1,2"), "input spectrum is 2 numbers; expected d = 3 eigenvalues, or power:1.5."),
        (("--input-spectrum", "1,2,-1"), "input spectrum is [1.0, 2.0, -1.0]; expected no negative number"),
        (("--input-spectrum", "power:steep"), "input spectrum is 'power:steep'; expected power:1.5"),
        (("--input-spectrum", "power:-1e300"), "the input spectrum j^--1e+300 holds NaN or infinity"),
        (("--input-spectrum", "flat"), "'flat' is no number, no power:1.5, no numbers"),
        (("--input-condition", "1", "--input-spectrum", "power:1"), "{--input-condition, --input-spectrum}"),
        (("--task", "a:b", "--input-spectrum", "power:1"), "leave out --input-spectrum"),
    ],
)
def test_what_is_refused(flags, sentence, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "words.txt").write_text("one two")
    (tmp_path / "empty.txt").write_text("\n")
    (tmp_path / "object.json").write_text('{"mean": [1, 2, 3]}')
    (tmp_path / "deep.json").write_text("[" * 100_000)
    (tmp_path / "folder.txt").mkdir()
    np.save(tmp_path / "square.npy", np.eye(3))
    np.save(tmp_path / "pickled.npy", np.array([{}]), allow_pickle=True)
    with (tmp_path / "claims.npy").open("wb") as file:
        np.lib.format.write_array_header_1_0(file, {"descr": "<f8", "fortran_order": False, "shape": (10**12,)})
    (tmp_path / "torn.npy").write_bytes(b"\x93NUMPY\x01\x00\x08\x00{'descr'")
    status, out, err = run("risk", "zero", "--d", "3", "--n", "5", *flags, capsys=capsys)
    assert status == 2 and out == "" and err.count("\n") == 1
    assert sentence in err


def config_of(task: TaskFlags) -> TrainConfig:
    return TrainConfig(
        model="lsa",
        options=ModelFlags(),
        task=task,
        solver="auto",
        objective="auto",
        settings=SolverFlags(),
        seed=0,
        samples=64,
    )


def test_configs_come_back_from_json():
    config = config_of(TaskFlags(d=3, n=5, prior_mean=(1.0, 0.0, -1.0), input_spectrum=(4.0, 1.0, 0.25)))
    raw = json.loads(json.dumps(config.to_json()))
    assert TrainConfig.from_json(raw) == config
    assert TrainConfig.from_json(config_of(TaskFlags(d=3, n=5, input_spectrum="power:2")).to_json()).task.build()
    raw["task"]["prior_mean"] = [1.0, "zero"]
    with pytest.raises(ValueError, match=r"config\.task\.prior_mean\[1\] is 'zero'"):
        TrainConfig.from_json(raw)


def test_a_run_is_another_when_the_numbers_in_the_file_are(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    keys, store = [], Store(tmp_path / "runs")
    for text in ("1 0 -1", "1 0 -1", "1 0 -2"):
        (tmp_path / "mean.txt").write_text(text)
        task = TaskFlags(d=3, n=5, prior_mean=read_numbers("mean.txt"))
        keys.append(store.open(config_of(task).to_json()).key)
    assert keys[0] == keys[1] != keys[2]
    store.open(config_of(TaskFlags(d=3, n=5)).to_json())
    means = query("SELECT task_prior_mean FROM runs", tmp_path / "runs").to_pylist()
    assert sorted(str(each["task_prior_mean"]) for each in means) == ["0.0", "[1.0,0.0,-1.0]", "[1.0,0.0,-2.0]"]
