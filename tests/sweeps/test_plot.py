"""Pictures of sweeps: which axis goes where, what is marked as missing, and what is refused."""

import csv
import io
import math
import re

import pyarrow as pa
import pytest

from descant.cli import main
from descant.figures import Axis, Figure, Map, Panel, drawing
from descant.figures.static import pictures
from descant.report import figure_csv, figure_page
from descant.sweeps import Outcome, Store, View, as_evaluator, make_plan, picture, read_table, to_table, write_table
from descant.sweeps._grid import as_grid

WORDS = ["plain", "guess", "<b>&deep"]


def table(grid: dict, outcome=lambda point: Outcome(value=1.0, standard_error=0.0, method="exact"), name="try"):
    """The table of a grid whose points have this outcome; None is a point that is left."""
    plan = make_plan(as_grid(grid), as_evaluator("tests.sweeps.test_plot:table", table))
    outcomes = {address: made for address, point in plan.points.items() if (made := outcome(point)) is not None}
    made = to_table(plan, outcomes, name)
    return made, about(made)


def about(made: pa.Table) -> dict:
    store = Store("memory://plots")
    write_table(store, "try", made)
    return read_table("memory://plots/try")[1]


def product(point):
    return Outcome(value=point["x"] * point["z"], standard_error=0.1, method="moments", theory=point["x"] * point["z"])


def along(point):
    return product({"x": point["task.x"], "z": point["z"]})


def ramp(count: int, least: float = 1.0) -> list[float]:
    return [least + index for index in range(count)]


def test_one_axis_is_a_curve_with_its_errors_and_theory():
    made, known = table(
        {"grid": {"x": [3.0, 1.0, 2.0]}},
        lambda point: Outcome(value=point["x"] ** 2, standard_error=0.5, method="moments", theory=point["x"]),
    )
    figure = picture(made, known).figure
    (panel,) = figure.panels
    assert isinstance(panel, Panel)
    values, theory = panel.series
    assert values.x == (1.0, 2.0, 3.0) and values.y == (1.0, 4.0, 9.0) and values.error == (0.5,) * 3
    assert theory.style == "dashed" and theory.y == (1.0, 2.0, 3.0)
    assert "3 moments" in figure.see and "at most 0.5 of a value" in figure.see


def test_short_axes_are_curves_and_panels_and_long_ones_a_map():
    short, known = table({"grid": {"a": [1, 2], "task.x": ramp(5), "b": [1, 2, 3]}})
    figure = picture(short, known).figure
    panels = [panel for panel in figure.panels if isinstance(panel, Panel)]
    assert [panel.title for panel in panels] == ["b 1", "b 2", "b 3"] and panels[0].x.label == "x"
    assert [series.label for series in panels[0].series] == ["a 1", "a 2"]
    long, known = table({"grid": {"a": [1, 2], "x": ramp(9), "z": [2.0**k for k in range(10)]}}, product)
    first, second = picture(long, known).figure.panels
    assert isinstance(first, Map) and isinstance(second, Map) and first.title == "a 1"
    # Both are long, and the first of them goes to the right; a geometric axis is logarithmic, an even one is not.
    assert (first.x.label, first.y.label) == ("x", "z") and first.y.log and not first.x.log
    assert first.values[3][2] == 3.0 * 8.0 and first.theory == first.values and first.errors[0][0] == 0.1


def test_axes_are_chosen_by_name_and_others_held():
    made, known = table({"grid": {"task.x": ramp(9), "z": ramp(9), "a": [1, 2], "b": ["u", "v"], "c": [1, 2]}}, along)
    left = picture(made, known)
    assert any(re.search(r"Held: \w+ = \S+ .*--where", note) for note in left.notes)
    view = View(x="z", colour="a", where={"x": "3", "b": "v", "c": "2"}, log=True)
    (panel,) = picture(made, known, view).figure.panels
    assert isinstance(panel, Panel) and panel.x.label == "z" and panel.y.log and panel.series[0].y[1] == 6.0
    for view, words in (
        (View(x="nothing"), "expected one of: task.x, z, a, b, c"),
        (View(x="a", y="a"), "in use already"),
        (View(y="x", colour="z"), "leave out one"),
        (View(where={"x": "77"}), "no place on that axis"),
        (View(column="method"), "expected a column of numbers: value, standard_error, theory"),
        (View(panels="x", y="z", x="a", where={"b": "u", "c": "5"}), "no place"),
    ):
        with pytest.raises(ValueError, match=words):
            picture(made, known, view)


def test_points_that_failed_have_crosses_and_those_left_are_blank():
    def some(point):
        if point["x"] == 2.0:
            return Outcome.failed("because") if point["z"] == 3.0 else None
        return Outcome(value=math.inf if point["x"] == 4.0 else point["x"], method="exact", standard_error=0.0)

    made, known = table({"grid": {"x": ramp(9), "z": ramp(10)}}, some)
    found = picture(made, known, View(x="x"))
    (panel,) = found.figure.panels
    assert isinstance(panel, Map) and panel.failed == ((2, 1),) and math.isnan(panel.values[0][1])
    ready = drawing(found.figure)
    assert ready["dropped"] == 10 and {entry["style"] for entry in ready["legend"]} == {"failed"}
    assert [note for note in found.notes if "1 of 90 points failed" in note or "9 of 90 points are not" in note]
    rows = list(csv.DictReader(io.StringIO(figure_csv(found.figure))))
    assert [row["failed"] for row in rows].count("failed") == 1 and rows[3]["value"] == "inf"
    (curves,) = picture(made, known, View(x="x", where={"z": "3"})).figure.panels
    assert isinstance(curves, Panel) and curves.failed == (2.0,)
    assert pictures(ready)["png"].startswith(b"\x89PNG") and pictures(
        drawing(picture(made, known, View(where={"z": "3"})).figure)
    )


def test_the_best_is_named_only_where_it_is_known():
    def rival(point):
        base = {"plain": 1.0, "guess": 2.0, "<b>&deep": 2.0}[point["m"]]
        if point["m"] == "guess" and point["x"] == 1.0:
            return Outcome(value=1.0 + 1e-13, standard_error=0.0, method="exact")
        if point["m"] == "guess" and point["x"] == 2.0:
            return Outcome(value=0.5, standard_error=0.3, method="moments")
        if point["m"] == "guess" and point["x"] == 3.0:
            return Outcome(value=0.5, standard_error=0.01, method="moments")
        return Outcome(value=base, standard_error=0.0, method="exact")

    made, known = table({"grid": {"m": WORDS, "x": ramp(4), "z": ramp(3)}}, rival)
    (panel,) = picture(made, known, View(best="m", x="x")).figure.panels
    assert isinstance(panel, Map) and panel.names == (*WORDS, "no single one")
    assert panel.values[0] == (3.0, 3.0, 1.0, 0.0)


def test_words_and_lists_and_fields_that_change_together_are_axes():
    grid = {"grid": {"task.mean": [[1.0, 0.0], [0.0, 1.0]], "noise": [0.5, "uniform:5"]}}
    made, known = table({**grid, "zip": [{"model.name": ["a", "b"], "model.layers": [1, 2]}]})
    panels = picture(made, known, View(x="name", panels="noise")).figure.panels
    assert isinstance(panels[0], Panel)
    assert panels[0].x.ticks == ((0.0, "a, 1"), (1.0, "b, 2")) and panels[1].title == "noise uniform:5"
    assert [series.label for series in panels[0].series] == ["mean (1, 0)", "mean (0, 1)"]


def test_single_points_beside_no_grid_are_an_axis_too_and_one_point_is_none():
    made, known = table({"points": [{"x": 2.0}, {"x": 1.0}, {"x": 9.0}]}, lambda point: Outcome(value=point["x"]))
    (panel,) = picture(made, known).figure.panels
    assert isinstance(panel, Panel) and panel.series[0].x == (1.0, 2.0, 9.0)
    with pytest.raises(ValueError, match="no axis"):
        picture(*table({"points": [{"x": 2.0}]}))
    with pytest.raises(ValueError, match="has no points"):
        picture(made.slice(0, 0), known)


def test_contours_lie_where_theory_has_their_value():
    places = tuple(ramp(9))
    values = tuple(tuple(x * x * y for x in places) for y in places)
    panel = Map(
        "", Axis("x", log=True), Axis("y", log=True), places, places, values, Axis("v", log=True), theory=values
    )
    (ready,) = drawing(Figure("f", "f", "", (panel,)))["panels"]
    assert len(ready["contours"]) >= 3
    for contour in ready["contours"]:
        for line in contour["lines"]:
            # On logarithmic scales the product is linear, so that interpolation is exact.
            assert all(math.isclose(x * x * y, contour["level"], rel_tol=1e-9) for x, y in line)
    assert ready["across"][0] < 1.0 < ready["across"][1] < 2.0 and ready["colour"]["limits"] == [1.0, 729.0]


def test_places_of_a_map_rise_whatever_their_order_in_the_file():
    made, known = table({"grid": {"x": ramp(9)[::-1], "z": [*ramp(5), *ramp(5, 6.0)[::-1]]}}, product)
    (panel,) = picture(made, known).figure.panels
    assert isinstance(panel, Map) and panel.columns == tuple(ramp(9)) and panel.rows == tuple(ramp(10))
    assert panel.values[9][8] == 90.0 and panel.values[9][0] == 10.0


def test_the_page_is_one_file_and_its_words_stay_words():
    made, known = table({"grid": {"m": WORDS, "x": ramp(9), "z": ramp(9)}}, product)
    figure = picture(made, known).figure
    ready = drawing(figure)
    page = figure_page(figure, ready, pictures(ready), {"note": "</script><script>alert(1)</script>"}, "descant plot x")
    written = re.sub(r"<(script|style)\b.*?</\1>", "", page, flags=re.DOTALL)
    assert not re.search(r'(src|href)="(?!data:|#)', written)
    assert "<b>&deep" not in page and "alert(1)</script>" not in page
    # As many ends as beginnings: no script or style holds the words that end it.
    assert len(re.findall("<script", page)) == len(re.findall("</script", page)) == 7
    assert len(re.findall(r"<style", page)) == len(re.findall("</style", page)) == 3


def test_the_command(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    write_table(Store("sweeps"), "try", table({"grid": {"x": ramp(4)}}, lambda point: Outcome(value=point["x"]))[0])

    def status(*words: str) -> int:
        with pytest.raises(SystemExit) as ended:
            main(["plot", *words])
        return int(ended.value.code or 0)

    assert status("try") == 0 and status("sweeps/try", "--name", "again") == 0
    assert sorted(path.name for path in (tmp_path / "plots").glob("*.*") if path.stem == "try") == [
        "try.csv", "try.html", "try.png", "try.svg",
    ]  # fmt: skip
    capsys.readouterr()
    (tmp_path / "plots" / "mine.png").write_text("mine")
    (tmp_path / "damaged.parquet").write_bytes((tmp_path / "sweeps/try/results.parquet").read_bytes()[:-20])
    for words in (
        ("nothing",),
        ("try", "--name", "mine"),
        ("try", "--where", "x"),
        ("try", "--x", "y"),
        ("damaged.parquet",),
        ("try", "--name", "../up"),
    ):
        assert status(*words) == 2, words
        said = capsys.readouterr().err
        assert "Traceback" not in said and len(said.strip().splitlines()) <= 3, said
