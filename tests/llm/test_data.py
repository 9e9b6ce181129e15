"""Tables of one's own, with headers, tabs and other scales; answers that never cross between data sets."""

import csv

import pytest

from descant.llm import Answers, Setting, TextSetting, draw_tasks, number_templates, read_benchmark, run, run_regression
from tests.support.commands import run as command
from tests.support.llm_data import Copies, benchmark, encoder, write_data

ROWS = [(f'The {word} man "plays" {word}.', f"A {word} plays.", score) for score, word in enumerate("abcdef")]


def table(path, separator=",", header=(), order=(0, 1, 2), scores=lambda score: score):
    lines = [list(header)] if header else []
    lines += [[str(cell) for cell in (row[0], row[1], scores(row[2]), "x", 7)] for row in ROWS]
    lines = [[line[place] for place in order] for line in lines]
    if separator == "\t":
        path.write_text("\n".join("\t".join(line) for line in lines) + "\n")
    else:
        with path.open("w", newline="") as file:
            csv.writer(file).writerows(lines)
    return path


ORDER = (3, 2, 0, 1)
HEADER = ("sentence_A", "sentence_B", "relatedness_score", "kind", "id")


@pytest.mark.parametrize(
    ("written", "options"),
    [
        ({}, {}),
        ({"separator": "\t"}, {}),
        ({"header": HEADER}, {}),
        ({"header": HEADER, "separator": "\t", "order": ORDER}, {}),
        ({"header": HEADER, "order": ORDER}, {"columns": ("sentence_a", "sentence_b", "relatedness_score")}),
        ({"order": ORDER}, {"columns": ("3", "4", "2")}),
        ({"header": HEADER, "separator": "\t", "order": ORDER}, {"columns": ("3", "4", "2")}),
        ({"header": ("one", "two", "three")}, {"columns": ("one", "two", "three")}),
    ],
)
def test_the_same_rows_in_many_forms(tmp_path, written, options):
    path = table(tmp_path / "own.csv", **written)
    found = read_benchmark(path, train=path, scale=(0.0, 5.0), **options)
    assert [(each.pair.first, each.pair.second, each.score) for each in found.asked] == ROWS
    alone = read_benchmark(path, scale=(0.0, 5.0), **options)
    assert [each.score for each in alone.asked] == [0, 3] and [each.score for each in alone.train] == [1, 2, 4, 5]


TWO = [("A b.", "C, d.", 3.5), ("E f.", "G h.", 1.0)]


@pytest.mark.parametrize(
    "written",
    [
        '\ufeffsentence1,sentence2,score\r\nA b.,"C, d.",3.5\r\nE f.,G h.,1\r\n',
        "sentence1;sentence2;score\nA b.;C, d.;3,5\nE f.;G h.;1,0\n",
        "A b.;C, d.;3.5\nE f.;G h.;1\n",
        'A b.,"C, d.","3,5"\nE f.,G h.,"1,0"\n',
        '\n\n,,\nA b.,"C, d.",3.5\n\n,,\nE f.,G h.,1\n\n',
        "A b.\tC, d.\t3,5\r\nE f.\tG h.\t1\r\n",
        ',sentence1,sentence2,score\n7,A b.,"C, d.",3.5\n7,E f.,G h.,1\n',
        "A b.;C, d.;3,5\nE f.;G h.;1,0\n",
    ],
)
def test_files_as_programs_write_them(tmp_path, written):
    """With a mark at the beginning, line ends of Windows, semicolons and commas in numbers, empty lines, an index."""
    (tmp_path / "own.csv").write_bytes(written.encode())
    found = read_benchmark(tmp_path / "own.csv", train=tmp_path / "own.csv", scale=(0.0, 5.0))
    assert [(each.pair.first, each.pair.second, each.score) for each in found.asked] == TWO


@pytest.mark.parametrize(
    ("written", "columns", "problem"),
    [
        ("A b.,C d.,nan\nE f.,G h.,1\n", (), r"row 1, is .*expected two sentences and a finite score"),
        ("E f.,G h.,1\nA b.,C d.,\n", (), "row 2, is .*expected sentence, sentence, score"),
        ("A b.,C d.,inf\nE f.,G h.,1\n", (), "a finite score"),
        ('E f.,G h.,1\nA b.,C d.,"1,000"\n', (), "expected sentence, sentence, score"),
        ("score,sentence1,sentence2,score\n9,A b.,C d.,3.5\n", (), "has 2 columns called 'score'; .*--columns 2,3,4"),
        ("A b.,C d.,3.5\n", (), "has one row; expected more"),
        ("sentence1,sentence2,score\n", (), "has a header and no rows"),
        (" \n\n", (), "is empty"),
    ],
)
def test_tables_that_lack_something(tmp_path, written, columns, problem):
    (tmp_path / "own.csv").write_text(written)
    with pytest.raises(ValueError, match=problem):
        read_benchmark(tmp_path / "own.csv", columns=columns, scale=(0.0, 5.0))


@pytest.mark.parametrize("encoding", ["utf-16", "latin-1"])
def test_other_encodings_are_told(tmp_path, encoding):
    (tmp_path / "own.csv").write_bytes("A bé.,C d.,3.5\nE f.,G h.,1\n".encode(encoding))
    with pytest.raises(ValueError, match="save it as CSV in UTF-8"):
        read_benchmark(tmp_path / "own.csv", scale=(0.0, 5.0))


@pytest.mark.parametrize(
    ("scale", "scores", "shown", "ends"),
    [
        ((0.0, 1.0), lambda score: score / 5, [0, 1, 2, 3, 4, 5], (0, 5)),
        ((1.0, 10.0), lambda score: 1 + 9 * score / 5, [0, 1, 2, 3, 4, 5], (0, 5)),
        ((-5.0, 0.0), lambda score: score - 5, [0, 1, 2, 3, 4, 5], (0, 5)),
        ((1.0, 6.0), lambda score: score + 1, [1, 2, 3, 4, 5, 6], (1, 6)),
    ],
)
def test_scales(tmp_path, scale, scores, shown, ends):
    path = table(tmp_path / "own.csv", scores=scores)
    found = read_benchmark(path, train=path, scale=scale)
    assert [each.score for each in found.asked] == pytest.approx(shown)
    assert (found.low, found.high) == ends


@pytest.mark.parametrize(
    ("written", "options", "problem"),
    [
        ({}, {}, r"scores from 0 to 5, and it is not known what they mean; .* --scale 0,5"),
        ({}, {"scale": (0.0, 1.0)}, r"has the score 2 .*expected 0 to 1 \(--scale\)"),
        ({}, {"scale": (5.0, 0.0)}, "the lower first"),
        ({}, {"scale": (0.0, float("inf"))}, "expected two finite numbers"),
        ({"order": (0, 1, 2, 3)}, {"scale": (0.0, 5.0)}, "has 4 columns; .*say which they are with --columns"),
        ({"header": ("q", "r", "s")}, {"scale": (0.0, 5.0)}, "has the columns q, r, s; .*--columns"),
        ({}, {"columns": ("1", "2", "9"), "scale": (0.0, 5.0)}, "columns is '1,2,9', and .* has 3 columns"),
        ({}, {"columns": ("1", "2"), "scale": (0.0, 5.0)}, "expected three different ones"),
        ({"header": HEADER}, {"columns": ("a", "b", "c"), "scale": (0.0, 5.0)}, "columns is 'a,b,c', and"),
        ({"order": (0, 2, 1)}, {"scale": (0.0, 5.0), "columns": ("1", "2", "3")}, "row 1, is .*; expected sentence"),
    ],
)
def test_what_is_wrong_is_said_with_what_to_do(tmp_path, written, options, problem):
    path = table(tmp_path / "own.csv", **written)
    with pytest.raises(ValueError, match=problem):
        read_benchmark(path, train=path, **options)


def test_the_files_of_sick(tmp_path):
    for name in ("SICK_train.txt", "SICK_test_annotated.txt"):
        header = ("sentence_A", "sentence_B", "relatedness_score", "entailment_judgment", "pair_ID")
        table(tmp_path / name, "\t", header, (4, 0, 1, 2, 3), lambda score: max(score, 1))
    found = read_benchmark(tmp_path)
    assert (found.name, found.low, found.high, len(found.asked)) == ("sick", 1.0, 5.0, 6)


def answers(model, data, folder):
    results = run(model, data, Setting(("none", "jaccard"), queries=6, shots=2), folder, encoder=encoder)
    return results.gold.tolist(), results.shown["jaccard"].tolist(), results.answer["jaccard"].tolist()


def test_data_sets_never_cross_in_one_folder(tmp_path):
    """A, then B, then A again: what is shown of A is A's, and nothing of it is asked twice."""
    first = benchmark(tmp_path / "a")
    write_data(tmp_path / "b", train=50, asked=45)
    second = read_benchmark(tmp_path / "b")
    model, folder = Copies(), tmp_path / "out"
    apart = answers(Copies(), first, tmp_path / "apart")
    assert answers(model, first, folder) == apart
    assert answers(model, second, folder) != apart
    asked = len(model.asked)
    assert answers(model, first, folder) == apart
    assert len(model.asked) == asked


def test_a_relabelled_file_has_its_own_labels_and_asks_no_prompt_again(tmp_path):
    """Only the test file's labels change: the prompts are the same, and so are the answers, but not what is right."""
    data = benchmark(tmp_path / "data")
    model, folder = Copies(), tmp_path / "out"
    gold, shown, said = answers(model, data, folder)
    asked = len(model.asked)
    path = tmp_path / "data" / "stsb-en-test.csv"
    rows = list(csv.reader(path.read_text().splitlines()))
    with path.open("w", newline="") as file:
        csv.writer(file).writerows([first, second, 5 - float(score)] for first, second, score in rows)
    moved = answers(model, read_benchmark(tmp_path / "data"), folder)
    assert moved[0] == [[pytest.approx(5 - each)] for [each] in gold]
    assert moved[1:] == (shown, said)
    assert len(model.asked) == asked
    assert answers(model, data, folder)[0] == [[pytest.approx(5 - each)] for [each] in moved[0]]


def test_one_prompt_may_belong_to_several_designs(tmp_path):
    """Without demonstrations it makes no difference how many queries share them."""
    data, model = benchmark(tmp_path / "data"), Copies()
    for together in (2, 1):
        setting = Setting(("none", "jaccard"), queries=6, shots=0, together=together)
        results = run(model, data, setting, tmp_path / "out")
        assert results.statuses == {"none": {"ok": 6}, "jaccard": {"ok": 6}}
        assert len(model.asked) == 12


def test_another_encoder_is_another_question_and_the_old_answers_stay(tmp_path):
    data, model, folder = benchmark(tmp_path / "data"), Copies(), tmp_path / "out"
    setting = Setting(("embedding",), queries=6, shots=2)

    def other():
        _, encode = encoder()
        return "other", lambda texts: encode([text[::-1] for text in texts])

    first = run(model, data, setting, folder, encoder=encoder)
    second = run(model, data, setting, folder, encoder=other)
    again = run(model, data, setting, folder, encoder=encoder)
    assert (first.answer["embedding"] != second.answer["embedding"]).any()
    assert (first.answer["embedding"] == again.answer["embedding"]).all()


def test_the_command_takes_a_table_of_ones_own(tmp_path, capsys):
    path = table(tmp_path / "own.tsv", "\t", HEADER, ORDER, lambda score: score / 5)
    where = ("--data", str(path), "--model", "missing.gguf", "--queries", "2", "--shots", "2")
    status, _, err = command("llm", "sts", *where, capsys=capsys)
    assert status == 2 and "--scale" in err
    status, _, err = command("llm", "sts", *where, "--scale", "0,1", capsys=capsys)
    assert status == 2 and "model is 'missing.gguf'" in err
    for wrong in ("0", "0,1,2", "a,b", "1,0"):
        status, _, err = command("llm", "sts", *where, "--scale", wrong, capsys=capsys)
        assert status == 2 and "scale is" in err and err.count("\n") == 1


def test_more_tasks_of_a_regression_only_add(tmp_path):
    model = Copies()
    model.reads_along = True
    few, many = TextSetting(tasks=3, shots=2), TextSetting(tasks=5, shots=2)
    assert (draw_tasks(few).x == draw_tasks(many).x[:3]).all()
    templates = (number_templates()["plain"],)
    run_regression(model, few, templates, tmp_path)
    assert len(model.asked) == 6
    run_regression(model, many, templates, tmp_path)
    assert len(model.asked) == 10 == len(Answers(tmp_path).rows)
