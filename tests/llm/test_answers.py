"""Answers on disk: whole lines, one writer, nothing lost; results and claims are made from them alone."""

import json
import subprocess
import sys
from dataclasses import replace

import pytest

from descant.claims import Lab, _claim, all_claims
from descant.cli._llm_tables import print_study
from descant.llm import Answers, Results, Setting, Study, found, run, verdicts, write_report
from descant.llm._lines import Lines
from tests.support import ROOT
from tests.support.commands import run as command
from tests.support.llm_data import Copies, asker, benchmark, encoder


def test_a_line_that_was_cut_off_is_dropped_and_written_over(tmp_path):
    path = tmp_path / "rows.jsonl"
    lines = Lines(path)
    lines.append([{"a": 1}, {"a": 2}])
    whole = path.read_bytes()
    path.write_bytes(whole + b'{"a": 3, "b"')
    again = Lines(path)
    assert again.rows == [{"a": 1}, {"a": 2}]
    again.append([{"a": 4}])
    assert Lines(path).rows == [{"a": 1}, {"a": 2}, {"a": 4}]
    assert path.read_bytes().startswith(whole)
    for damage in (b"nonsense\n", b'{"a": 3}\n', whole.splitlines(keepends=True)[1].replace(b"2", b"3", 1)):
        path.write_bytes(whole.splitlines(keepends=True)[0] + damage + whole)
        with pytest.raises(ValueError, match=r"rows\.jsonl, line 2, can't be read: .*; mend or delete that line"):
            Lines(path)


def test_one_process_at_a_time(tmp_path):
    answers = Answers(tmp_path)
    with answers.working(), pytest.raises(BlockingIOError, match="another process"), Answers(tmp_path).working():
        pass


def test_more_queries_seeds_and_guesses_only_add(tmp_path):
    data, model = benchmark(tmp_path / "data"), Copies()
    steps = [
        Setting(guesses=("none", "gold"), queries=5, shots=3),
        Setting(guesses=("none", "gold"), queries=8, shots=3),
        Setting(guesses=("none", "gold", "self"), queries=8, shots=3),
        Setting(guesses=("none", "gold", "self"), queries=8, shots=3, seeds=2),
        Setting(guesses=("none", "gold"), queries=8, shots=3, where="query"),
    ]
    counts = []
    for setting in steps:
        run(model, data, setting, tmp_path / "out", encoder=encoder)
        counts.append(len(model.asked))
    # Shown at the query only, nothing changes without a guess.
    assert counts == [10, 16, 24, 48, 56]
    assert len(set(model.asked)) == 56
    assert len(Answers(tmp_path / "out").rows) == 56
    # Other demonstrations are other questions.
    run(model, data, Setting(guesses=("none",), queries=8, shots=3, together=4), tmp_path / "out", encoder=encoder)
    assert len(model.asked) == 64


def test_results_are_the_rows_of_their_setting(tmp_path):
    data, model = benchmark(tmp_path / "data"), Copies()
    setting = Setting(queries=12, shots=3, seeds=2, together=1)
    results = run(model, data, setting, tmp_path / "out", encoder=encoder)
    assert results.gold.shape == (12, 2)
    assert (results.gold == [[data.asked[row].score] * 2 for row in results.asked.queries]).all()
    for kind in ("constant", "random", "embedding", "gold"):
        assert (results.answer[kind] == results.shown[kind]).all()
        assert results.along[kind].answer.shape == (24, 3)
        assert (results.along[kind].answer == results.along[kind].shown).all()
    assert results.shown["gold"] == pytest.approx(results.gold, abs=0.051)
    other = asker(data, tmp_path, queries=12, shots=3)
    assert other.ask("none", other.draws[0]).key.model != model.identity
    fewer = Results.of(Lines(tmp_path / "out" / "answers.jsonl").rows[:-5], results.asked)
    assert sum(status.get("unanswered", 0) for status in fewer.statuses.values()) == 5


@pytest.fixture
def on_disk(tmp_path, monkeypatch):
    """Results of a model on disk, where the claims look for them."""
    monkeypatch.setenv("DESCANT_LLM", str(tmp_path / "llm"))
    data = benchmark(tmp_path / "data")
    setting = Setting(queries=40, shots=2, together=5)
    results = Study.of(run(Copies(), data, setting, tmp_path / "llm" / "copies", encoder=encoder))
    write_report(results, tmp_path / "llm" / "copies" / "terse-all-2", model="Copies 1B", data="made-up")
    return results


def test_results_on_disk_are_found_again(on_disk, tmp_path):
    [item] = found()
    assert item.name == "Copies 1B"
    assert verdicts(item.study()) == verdicts(on_disk)
    folder = tmp_path / "llm" / "copies" / "terse-all-2"
    assert (folder / "figure.png").read_bytes().startswith(b"\x89PNG")
    table = (folder / "table.md").read_text()
    assert table.count("\n| `") == 9 + 1
    assert "- (b) **does-not-hold**: It improves them beyond the guess itself." in table
    written = json.loads((folder / "verdicts.json").read_text())
    assert [each["verdict"] for each in written] == [each.verdict for each in verdicts(on_disk)]
    answers = tmp_path / "llm" / "copies" / "answers.jsonl"
    lines = answers.read_bytes().splitlines(keepends=True)
    answers.write_bytes(b"".join(lines[:-2]))
    with pytest.raises(ValueError, match=r"answers.jsonl lacks 2 answers that it had; run the same"):
        item.study()
    (folder / "setting.json").write_text("{}")
    with pytest.raises(ValueError, match=r"setting.json can't be read: its checksum is not .* delete it"):
        found()


def test_two_folders_are_compared_by_command(on_disk, tmp_path, capsys):
    """A model with itself: no difference, in a table and as JSON; and a folder that holds no study."""
    folder = str(tmp_path / "llm" / "copies" / "terse-all-2")
    status, out, _ = command("llm", "compare", folder, folder, capsys=capsys)
    assert status == 0 and "Copies 1B less Copies 1B" in out and "0.00 ± 0.00" in out
    rows = json.loads(command("llm", "compare", folder, folder, "--json", capsys=capsys)[1])["rows"]
    assert [row["guess"] for row in rows] == list(on_disk.guesses)
    assert all(row["mse"]["value"] == 0 == row["mse"]["error"] for row in rows)
    status, _, err = command("llm", "compare", folder, str(tmp_path), capsys=capsys)
    assert status == 2 and "holds no setting.json; expected a folder that `descant llm sts` has written" in err


def test_tables_fit_into_a_terminal(on_disk, tmp_path, capsys, monkeypatch):
    """With wordings of long names, numbers below zero, and answers in doubt: no cell is cut off."""
    monkeypatch.setenv("COLUMNS", "80")
    one = on_disk.first
    statuses = {kind: {"ok": 20, "ambiguous": 12, "refused": 8} for kind in one.statuses}
    wary = replace(one, statuses=statuses, answer={kind: 2.75 - each / 10 for kind, each in one.answer.items()})
    study = Study({"annotators": wary, "dialogue": wary}, "annotators")
    print_study(study, write_report(study, tmp_path / "report", model="Copies 1B"), "Copies 1B")
    out = capsys.readouterr().out
    assert "…" not in out and "-0." in out and "annotators *" in out
    assert all(len(line) <= 80 for line in out.splitlines())


def test_models_with_answers_join_the_claims_and_others_are_left_out(on_disk, tmp_path, monkeypatch):
    import importlib

    # Registered aside: other tests see the claims of this machine.
    monkeypatch.setattr(_claim, "_FOUND", {})
    from descant.claims.initial_guess import language_models

    _claim._FOUND.clear()
    importlib.reload(language_models)
    ids = [id for id in _claim._FOUND if "copies" in id]
    digest = next(iter(on_disk.wordings.values())).asked.data[:6]
    assert ids == [f"{name}-copies-made-up-{digest}-terse-all-2-by-5-360" for name in language_models.NAMES.values()]
    found = [_claim._FOUND[id].experiment(Lab(tmp_path / id, tmp_path / "runs")) for id in ids]
    assert [evidence.verdict for evidence in found] == [each.verdict for each in verdicts(on_disk)]
    assert len(found[0].tables[0].rows) == 9
    assert len(found[2].figures[0].panels) == 2
    monkeypatch.setenv("DESCANT_LLM", str(tmp_path / "nowhere"))
    monkeypatch.setattr(_claim, "_FOUND", {})
    importlib.reload(language_models)
    assert _claim._FOUND == {}


def test_without_answers_on_disk_the_only_claims_are_those_that_ship(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("DESCANT_LLM", raising=False)
    assert [id for id in all_claims() if id.startswith("beyond-the-guess")] == ["beyond-the-guess"]


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["--data", "nowhere"], "data is 'nowhere'"),
        (["--data", "DATA", "--guess", "none,best"], "guess is 'best'"),
        (["--data", "DATA", "--model", "openai:m"], "base-url is missing"),
        (["--data", "DATA", "--base-url", "http://x"], "expected --model openai:NAME"),
        (["--data", "DATA", "--dtype", "int4"], "dtype is 'int4'"),
    ],
)
def test_mistakes_are_one_sentence(tmp_path, capsys, options, sentence):
    from descant.cli import main

    benchmark(tmp_path / "data")
    with pytest.raises(SystemExit) as stopped:
        main(
            ["llm", "sts", "--queries", "2", *[str(tmp_path / "data") if each == "DATA" else each for each in options]]
        )
    assert stopped.value.code == 2
    said = capsys.readouterr().err
    assert sentence in said
    assert said.count("\n") == 1


def test_help_and_models_import_nothing_heavy():
    """The list of models neither downloads nor needs the extra."""
    code = (
        "import sys; from descant.cli import main\n"
        "try: main(['llm', '--help'])\nexcept SystemExit: pass\n"
        "print(sorted({'torch', 'jax', 'transformers', 'numpy'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT)
    assert done.stdout.splitlines()[-1] == "[]", done.stdout + done.stderr
