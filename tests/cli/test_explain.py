"""`descant explain`: runs, files, folders and names, in words, as JSON and as figures."""

import json

import jax.numpy as jnp
import pytest

from descant import attention as at, estimators as es
from descant.cli import main
from descant.programs import compile_program
from tests.support.commands import run

TASK = ("--d", "2", "--n", "8", "--noise", "0.5")


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A gd++ network of two layers, trained by a few steps of Adam."""
    folder = tmp_path_factory.mktemp("trained") / "made"
    words = ("train", "gd++", "--layers", "2", "--solver", "adam", "--steps", "200", "--batch", "32", "--json")
    with pytest.raises(SystemExit) as stop:
        main([*words, *TASK, "--samples", "64", "--out", str(folder)])
    assert not stop.value.code
    return folder


def explained(*arguments, capsys):
    status, out, err = run("explain", *arguments, "--contexts", "64", capsys=capsys)
    assert status == 0, err
    return out


def test_a_run_in_json_and_figures(made, tmp_path, capsys):
    found = json.loads(explained(str(made), "--json", "--out", str(tmp_path / "figures"), capsys=capsys))
    assert (found["command"], found["verdict"]) == ("explain", "is")
    assert found["match"]["algorithm"] == "GD++"
    model = at.load(made / "model.safetensors")
    assert found["match"]["parameters"]["step"] == pytest.approx([-8 * float(each) for each in model.w_yx])
    assert found["sentence"].startswith("The trained gd++ is GD++")
    names = {path.name for path in (tmp_path / "figures").iterdir()}
    assert {"explanation.json", "nearest.png", "layers.svg", "states.png"} <= names


def test_along_the_training(made, capsys):
    found = json.loads(explained(str(made), "--over-time", "--json", capsys=capsys))
    # Two hundred steps in chunks of fifty: four rows, and a model after each.
    assert [each["at"] for each in found["moments"]] == [50.0, 100.0, 150.0, 200.0]
    assert found["moments"][-1]["off"] == [0.0, 0.0]
    assert found["unit"] == "steps"
    assert len(found["sentences"]) == 3
    assert "what it ends as" in found["sentences"][0]


def test_files_folders_and_names(tmp_path, capsys):
    at.save(at.gd_as_transformer(es.GD(jnp.zeros(2), [0.2, 0.2]), n=8), tmp_path / "two.safetensors")
    words = explained(str(tmp_path / "two.safetensors"), *TASK, capsys=capsys)
    assert "Two is gradient descent: 2 steps of size 0.2 (read off its weights)." in words
    compile_program("momentum", n=8, d=2, T=4, eta=0.02, mu=0.4).save(tmp_path / "ball")
    words = explained(str(tmp_path / "ball"), *TASK, capsys=capsys)
    assert "Ball is heavy ball on the ridge loss: 4 steps of size 0.16, momentum 0.4, penalty 0.5" in words
    words = explained("gd-beta", *TASK, "--prior-mean", "1", "--input-condition", "3", capsys=capsys)
    assert "Gd-beta is GD-beta" in words
    assert "the same start and the same Gamma" in words


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["nobody", "--d", "2", "--n", "8"], "predictor is 'nobody'"),
        (["zero"], "--d is left out, and zero is no run"),
        (["zero", "--d", "2", "--n", "8", "--over-time"], "--over-time is for a run"),
        (["missing.safetensors", "--d", "2", "--n", "8"], "missing.safetensors does not exist"),
    ],
)
def test_mistakes(arguments, sentence, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    status, _, err = run("explain", *arguments, capsys=capsys)
    assert status == 2
    assert sentence in err
