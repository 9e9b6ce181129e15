"""`descant table1` shows the networks that `descant reproduce` trains."""

import json

import pytest

from descant.claims.linear_transformer import FULL_LAWS, LAWS, Cell, _table1
from descant.claims.linear_transformer._measured import Measured
from descant.claims.linear_transformer._networks import Networks
from descant.cli import main


def found(kind: str, layers: int) -> Networks:
    """Networks with made-up numbers: 0.1 per layer, half of it on ordinary contexts; constant ridge beside DIAG."""
    kinds = ("diag", "gd++") if kind == "diag" else (kind,)
    names = [f"{each} {depth}" for each in kinds for depth in range(1, layers + 1)]
    all_names = [*names, "const"]
    depths = [int(name.split()[1]) for name in names] + [1]
    value = [[0.1 * depth] * depth for depth in depths]
    part = [[0.05 * depth] * depth for depth in depths]
    small = [[0.001] * depth for depth in depths]
    share = [[0.25] * depth for depth in depths]
    measured = Measured(all_names, value, small, part, small, share, share, [], [], [], [part])
    return Networks(dict.fromkeys(names), measured)


@pytest.fixture
def asked(monkeypatch):
    """What is asked of `networks`, the only trainer."""
    calls = []

    def networks(lab, law, kind="diag", *, layers=None):
        calls.append((lab.runs, lab.budget, lab.seed, law, kind, layers))
        return found(kind, 2)

    monkeypatch.setattr(_table1, "networks", networks)
    return calls


def shown(capsys, *words: str) -> list[dict]:
    with pytest.raises(SystemExit) as ended:
        main(["table1", "--json", *words])
    assert not ended.value.code
    return json.loads(capsys.readouterr().out)["cells"]


def test_the_networks_of_the_report_are_shown(asked, tmp_path, capsys):
    cells = shown(capsys, "--out", str(tmp_path), "--seed", "3", "--noise", "1,3", "--layers", "2")
    assert asked == [(tmp_path / "runs", "full", 3, "1,3", kind, 2) for kind in ("diag", "full")]
    assert [(cell["model"], cell["layers"]) for cell in cells] == [
        (kind, layers) for kind in ("diag", "gd++", "full") for layers in (1, 2)
    ]
    assert cells[1] == {
        "law": "1,3",
        "model": "diag",
        "layers": 2,
        "value": 0.2,
        "error": 0.001,
        "ordinary": 0.1,
        "ordinary_error": 0.001,
        "exploding": 0.25,
        "paper": 0.201,
        "const_ridge": 0.1,
        "verdict": "better",
    }


def test_quick_is_the_quick_budget_without_full(asked, tmp_path, capsys):
    shown(capsys, "--quick", "--out", str(tmp_path))
    assert [(call[1], *call[3:]) for call in asked] == [("quick", law, "diag", None) for law in LAWS]
    asked.clear()
    shown(capsys, "--out", str(tmp_path))
    assert {call[3] for call in asked if call[4] == "full"} == set(FULL_LAWS)
    assert {call[1] for call in asked} == {"full"}


@pytest.mark.parametrize(("ours", "verdict"), [(0.30, "better"), (0.352, "equal"), (0.366, "bound"), (0.40, "worse")])
def test_verdicts(ours, verdict):
    assert Cell("uniform:5", "gd++", 3, ours, 0.001, ours, 0.001, 0.0, 0.344, 0.365).verdict == verdict


@pytest.mark.parametrize(("words", "said"), [(["--noise", "2"], "noise is '2'"), (["--layers", "8"], "layers is 8")])
def test_what_the_table_does_not_have(words, said, capsys):
    with pytest.raises(SystemExit) as ended:
        main(["table1", *words])
    assert ended.value.code == 2 and said in capsys.readouterr().err
