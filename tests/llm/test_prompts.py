"""Prompts are what they should be, letter for letter; no query's label is in one, but for the guess that is it."""

from dataclasses import replace

import pytest

from descant.llm import (
    DEFAULT,
    GUESSES,
    Benchmark,
    Labelled,
    Pair,
    Prompt,
    Scale,
    Scene,
    Setting,
    _guesses,
    build,
    draw,
    find_template,
    guesses,
    query_order,
    read_benchmark,
    templates,
)
from tests.support.llm_data import asker, benchmark, write_data

DEMONSTRATIONS = [
    Labelled(Pair("A plane is taking off.", "An air plane is taking off."), 5.0),
    Labelled(Pair("A man {plays}.", "A man eats."), 0.75),
]
QUERY = Pair("A girl is styling her hair.", "A girl is brushing her hair.")
OWN = tuple(0.5 * place for place in range(11))


GOLDEN = {
    ("terse", True): (
        "A plane is taking off.\nAn air plane is taking off.\nguess: 4.6 score: 5.0\n\n"
        "A man {plays}.\nA man eats.\nguess: 1.2 score: 0.8\n\n"
        "A girl is styling her hair.\nA girl is brushing her hair.\nguess: 2.5 score: "
    ),
    ("terse", None): (
        "A plane is taking off.\nAn air plane is taking off.\nscore: 5.0\n\n"
        "A man {plays}.\nA man eats.\nscore: 0.8\n\n"
        "A girl is styling her hair.\nA girl is brushing her hair.\nscore: "
    ),
    ("terse", False): (
        "A plane is taking off.\nAn air plane is taking off.\nscore: 5.0\n\n"
        "A man {plays}.\nA man eats.\nscore: 0.8\n\n"
        "A girl is styling her hair.\nA girl is brushing her hair.\nguess: 2.5 score: "
    ),
    ("lines", True): (
        "How similar are the two sentences, from 0 (unrelated) to 5 (the same meaning)?\n\n"
        "Sentence 1: A plane is taking off.\nSentence 2: An air plane is taking off.\nInitial guess: 4.6\n"
        "Score: 5.0\n\n"
        "Sentence 1: A man {plays}.\nSentence 2: A man eats.\nInitial guess: 1.2\nScore: 0.8\n\n"
        "Sentence 1: A girl is styling her hair.\nSentence 2: A girl is brushing her hair.\nInitial guess: 2.5\nScore: "
    ),
    ("whole", True): (
        "A plane is taking off.\nAn air plane is taking off.\nguess: 5 score: 5\n\n"
        "A man {plays}.\nA man eats.\nguess: 1 score: 1\n\n"
        "A girl is styling her hair.\nA girl is brushing her hair.\nguess: 2 score: "
    ),
}


@pytest.mark.parametrize(("name", "where"), GOLDEN)
def test_prompts_letter_for_letter(name, where):
    shown = None if where is None else (4.6, 1.2, 2.5)
    prompt = build(find_template(name).on(0, 5), DEMONSTRATIONS, QUERY, shown, everywhere=where is not False)
    assert prompt.text == GOLDEN[name, where]


def test_places_are_where_scores_stand():
    prompt = build(find_template("lines"), DEMONSTRATIONS, QUERY)
    starts = [prompt.text[place : place + 3] for place in prompt.places]
    assert starts == ["5.0", "0.8", ""]
    assert prompt.text[prompt.places[0] - 7 : prompt.places[0]] == "Score: "
    assert prompt.cut(1).text == prompt.text[: prompt.places[1]]
    assert prompt.cut(0).scores == ()
    with pytest.raises(ValueError, match="one stem more"):
        Prompt(("a",), ("b",))


@pytest.mark.parametrize("where", ["all", "query"])
def test_no_label_of_a_query_is_in_its_prompt_but_for_gold(tmp_path, where):
    """Change the labels of all queries, and see which prompts change."""
    data = benchmark(tmp_path)
    moved = Benchmark(data.train, tuple(replace(each, score=(each.score + 2.5) % 5) for each in data.asked))
    here, there = (asker(each, tmp_path, queries=20, where=where, shots=4) for each in (data, moved))
    for kind in GUESSES:
        texts = [[made.ask(kind, each, OWN[:5]).prompt.text for each in made.draws] for made in (here, there)]
        assert (texts[0] == texts[1]) is (kind != "gold"), kind
        # The text without its own sentences and demonstrations: the label is nowhere in it by another way either.
        assert all(text.endswith("score: ") for text in texts[0])


def test_only_gold_is_handed_the_label():
    scene = Scene(0, 3, labels=(1.0, 2.0), overlap=(1.0, 1.0, 1.0), embedding=(2.0, 3.0, 4.0), own=(3.0,) * 3, gold=4.5)
    for kind in GUESSES:
        found = guesses(kind, scene)
        assert (found is None) is (kind == "none")
        assert found == guesses(kind, scene)
        assert (4.5 in (found or ())) is (kind == "gold")
    assert guesses("mean", scene) == (1.5, 1.5, 1.5)
    assert guesses("constant", scene) == (2.5, 2.5, 2.5)
    # Two demonstrations: each has the other's guess, and the query a stranger's.
    assert guesses("shuffled", replace(scene, stranger=0.1)) == (3.0, 2.0, 0.1)
    with pytest.raises(ValueError, match="needs the query's label"):
        guesses("gold", replace(scene, gold=None))
    with pytest.raises(ValueError, match="lacks what it is made from"):
        guesses("self", replace(scene, own=()))


def test_a_guess_that_looks_for_the_label_does_not_find_it(monkeypatch):
    monkeypatch.setitem(_guesses._MAKERS, "mean", lambda scene: (scene.gold or -1.0,))
    assert guesses("mean", Scene(0, 3, labels=(), gold=4.5)) == (-1.0,)


def test_the_same_seed_gives_the_same_prompts_and_more_queries_change_none(tmp_path):
    data = benchmark(tmp_path)
    few, again, many = (asker(data, tmp_path, queries=count, shots=4) for count in (8, 8, 15))
    other = asker(data, tmp_path, queries=8, shots=4, seeds=2)
    for kind in GUESSES:
        texts = [
            [made.ask(kind, each, OWN[:5]).prompt.text for each in made.draws] for made in (few, again, many, other)
        ]
        assert texts[0] == texts[1] == texts[2][:8] == texts[3][:8]
        assert texts[3][:8] != texts[3][8:]  # another seed, other demonstrations


def test_draws():
    pairs = tuple(Labelled(Pair(f"A {i}.", f"B {i}."), 1.0) for i in range(30))
    twin = Labelled(Pair("b 3.", "a 3."), 4.0)
    data = Benchmark(pairs, (twin, *pairs[10:20]))
    assert sorted(query_order(data)) == list(range(11))
    for seed in range(20):
        chosen = draw(data, 0, shots=29, seed=seed).demonstrations
        assert len(set(chosen)) == 29
        assert 3 not in chosen  # it would show the query's label
    fixed = {draw(data, query, shots=3, seed=1, group="all").demonstrations for query in range(11)}
    fresh = {draw(data, query, shots=3, seed=1).demonstrations for query in range(11)}
    assert len(fixed) <= 2 < len(fresh)
    with pytest.raises(ValueError, match="shots is 30"):
        draw(data, 0, shots=30, seed=0)


def test_a_score_is_the_mean_of_what_its_digit_begins():
    train = [Labelled(QUERY, score) for score in (0.0, 0.5, 3.0, 3.4, 3.96, 5.0)]
    train = [each.score for each in train]
    scale = Scale.of(train, find_template("terse"))
    assert scale.values == pytest.approx((0.25, 1.0, 2.0, 3.2, 3.96, 5.0))  # 3.96 is written 4.0
    assert Scale.of(train, find_template("whole")).values == pytest.approx((0.25, 1.0, 2.0, 3.2, 3.96, 5.0))
    assert scale.expected((0.1, 0, 0, 0.3, 0, 0)) == pytest.approx((0.1 * 0.25 + 0.3 * 3.2) / 0.4)
    assert scale.expected((0.0,) * 6) is None


def test_files_that_are_wrong_are_named(tmp_path):
    with pytest.raises(ValueError, match="which is no folder and no file"):
        read_benchmark(tmp_path / "nowhere")
    with pytest.raises(ValueError, match=r"a folder without stsb-en-train\.csv or SICK_train\.txt"):
        read_benchmark(tmp_path)
    write_data(tmp_path)
    with pytest.raises(ValueError, match="split is 'train'"):
        read_benchmark(tmp_path, "train")
    for row, problem in (("one,two", "expected sentence, sentence, score"), ("a,b,9", "expected 0 to 5")):
        (tmp_path / "stsb-en-test.csv").write_text(f"a,b,1\n{row}\n")
        with pytest.raises(ValueError, match=problem):
            read_benchmark(tmp_path)


def test_templates_of_ones_own(tmp_path):
    assert set(templates()) >= {*DEFAULT, "table", "whole"}
    path = tmp_path / "mine.toml"
    parts = 'head=""\npair="{first} | {second} | "\nguess="{guess} | "\nscore="-> "\nend="\\n"\ndigits=1\nchat=""\n'
    path.write_text(f"[mine]\n{parts}")
    assert build(find_template(str(path)), DEMONSTRATIONS[:1], QUERY).text.startswith("A plane is taking off. | An air")
    assert find_template(f"{path}:mine").name == "mine"
    for wrong, problem in (
        (parts.replace("{first}", ""), "expected {first} in it"),
        (parts.replace("digits=1", "digits=2"), "expected 0 or 1"),
        (parts.replace("digits=1", 'digits="1"'), "digits is '1'"),
        (parts.replace('chat=""', ""), "not exactly the fields"),
        (parts.replace('end="\\n"', 'end=""'), "must not be empty"),
    ):
        path = tmp_path / f"{abs(hash(wrong))}.toml"
        path.write_text(f"[mine]\n{wrong}")
        with pytest.raises(ValueError, match=problem):
            find_template(str(path))
    with pytest.raises(ValueError, match="expected one of: terse, lines, question, table, json, whole"):
        find_template("nice")


@pytest.mark.parametrize(
    ("wrong", "problem"),
    [
        ({"guesses": ("none", "best")}, "guess is 'best'"),
        ({"guesses": ("none", "none")}, "at most once"),
        ({"where": "nowhere"}, "where is 'nowhere'"),
        ({"queries": 0}, "queries is 0"),
        ({"shots": -1}, "shots is -1"),
    ],
)
def test_settings_are_checked(wrong, problem):
    with pytest.raises(ValueError, match=problem):
        Setting(**wrong)
