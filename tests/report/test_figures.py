"""Figures made ready for both drawers: limits, colours, legends, pictures and files of numbers."""

import csv
import io
import itertools
import json
import re

import numpy as np
import pytest

from descant.claims import Axis, Baseline, Figure, Panel, Series
from descant.figures import DARK, LIGHT, PAGE_DARK, PAGE_LIGHT, SCALE_DARK, SCALE_LIGHT, drawing
from descant.figures.static import pictures
from descant.report._tables import figure_csv, table_csv
from tests.support.report_claims import bars, curves, flat, maps, tables


def test_pictures_are_the_same_bits_every_time():
    ready = drawing(curves())
    first, second = pictures(ready), pictures(ready)
    assert first == second
    assert first["png"].startswith(b"\x89PNG") and b"<svg" in first["svg"]


def test_figures_as_csv():
    rows = list(csv.DictReader(io.StringIO(figure_csv(curves()))))
    assert list(rows[0]) == ["panel", "series", "x", "y", "standard_error"]
    assert {
        "panel": "training, with a band",
        "series": "diverged",
        "x": "2.0",
        "y": "nan",
        "standard_error": "0.0",
    } in rows
    assert {"panel": "training, with a band", "series": "Bayes", "x": "", "y": "1.0", "standard_error": ""} in rows
    cells = list(csv.DictReader(io.StringIO(figure_csv(maps()))))
    assert list(cells[0]) == ["panel", "row", "column", "value"] and len(cells) == 16 + 63 + 231 + 6
    assert (cells[0]["row"], cells[0]["column"]) == ("x", "a")
    both = Figure("b", "b", "", (*maps().panels[:1], *flat().panels))
    assert next(csv.reader(io.StringIO(figure_csv(both))))[-1] == "value"


def test_tables_as_csv():
    text = table_csv(tables()[0])
    assert next(csv.reader(io.StringIO(text)))[3:5] == ["ours", "ours standard_error"]
    assert "inf" in table_csv(tables()[1])


def test_a_family_has_one_colour_in_all_panels():
    both = Figure(
        "f",
        "f",
        "",
        tuple(
            Panel(title, Axis("x"), Axis("y"), series)
            for title, series in (
                ("one", (Series("a", (0,), (0,)), Series("b, theory", (0,), (0,), style="dashed", family="b"))),
                ("two", (Series("b, trained", (0,), (0,), family="b"), Series("a", (0,), (0,)))),
            )
        ),
    )
    one, two = drawing(both)["panels"]
    assert one["series"][0]["colour"] == two["series"][1]["colour"] != one["series"][1]["colour"]
    assert one["series"][1]["colour"] == two["series"][0]["colour"]
    assert one["series"][1]["symbol"] != two["series"][0]["symbol"]


def test_what_cannot_be_drawn_is_counted():
    assert drawing(curves())["dropped"] == 2
    assert drawing(bars())["dropped"] == 2
    json.dumps(drawing(maps()), allow_nan=False)


def test_limits_hold_everything_and_rounding_is_flat():
    panel = drawing(flat())["panels"][0]
    low, high = panel["y"]["limits"]
    assert high - low > 1
    for figure in (curves(), bars()):
        for panel in drawing(figure)["panels"]:
            for series in panel["series"]:
                for x, y, below, above, *_ in series["rows"]:
                    assert panel["x"]["limits"][0] <= x <= panel["x"]["limits"][1]
                    assert panel["y"]["limits"][0] <= below <= y <= above <= panel["y"]["limits"][1]


# From linear sRGB to the tristimulus values of CIE 1931.
XYZ = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])
# How linear sRGB looks without one kind of cones: Machado, Oliveira, Fernandes 2009.
VISIONS = {
    "normal": np.eye(3),
    "protan": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    "deutan": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]],
    "tritan": [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]],
}


def linear(colour: str) -> np.ndarray:
    parts = np.array([int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)])
    return np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)


def luminance(colour: str) -> float:
    return float(XYZ[1] @ linear(colour))


def lab(colour: str, vision: str) -> np.ndarray:
    """CIE L*a*b*, in which a distance of 2 or 3 is just seen."""
    x, y, z = np.cbrt(XYZ @ np.clip(np.array(VISIONS[vision]) @ linear(colour), 1e-3, 1) / XYZ.sum(axis=1))
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


@pytest.mark.parametrize("vision", VISIONS)
@pytest.mark.parametrize("colours", [LIGHT, DARK], ids=["light", "dark"])
def test_any_two_colours_differ_for_every_eye(colours, vision):
    for one, other in itertools.combinations(colours, 2):
        assert np.linalg.norm(lab(one, vision) - lab(other, vision)) > 20, (one, other)


def test_every_colour_stands_out():
    """A contrast of 3 to the background, as WCAG asks of graphics."""
    for page, colours in ((PAGE_LIGHT, LIGHT), (PAGE_DARK, DARK)):
        for colour in colours:
            dark, light = sorted((luminance(page), luminance(colour)))
            assert (light + 0.05) / (dark + 0.05) >= 3, colour


@pytest.mark.parametrize("vision", VISIONS)
def test_a_scale_changes_its_lightness_one_way_for_every_eye(vision):
    for scale, sign in ((SCALE_LIGHT, -1), (SCALE_DARK, 1)):
        steps = np.diff([lab(colour, vision)[0] for colour in scale])
        assert np.all(sign * steps > 8), steps


def test_what_lies_beyond_given_limits_is_counted_and_not_drawn():
    exploding = Series("network", (1, 2, 3), (0.1, 1.0, 1e20))
    panel = Panel("", Axis("noise"), Axis("loss", log=True, limits=(0.01, 10.0)), (exploding,))
    ready = drawing(Figure("x", "", "", (panel,)))
    [found] = ready["panels"]
    assert [row[1] for row in found["series"][0]["rows"]] == [0.1, 1.0] and ready["dropped"] == 1
    assert found["y"]["limits"] == [0.01, 10.0]
    assert "1e+20" in figure_csv(Figure("x", "", "", (panel,)))


def test_legends_list_what_is_listed_and_dots_under_dots_are_larger():
    series = (Series("one", (1, 2), (1, 2)), Series("formula", (1, 2), (1, 2), style="line", listed=False))
    panel = Panel(
        "", Axis("x"), Axis("y"), (*series, Series("two", (1, 2), (1, 2))), (Baseline("b", 1.0, listed=False),)
    )
    ready = drawing(Figure("x", "", "", (panel,)))
    assert [entry["label"] for entry in ready["legend"]] == ["one", "two"]
    first, _, last = ready["panels"][0]["series"]
    assert first["size"] > last["size"] > 0


def test_lines_through_few_points_are_curves_unless_only_whole_places_count():
    def curved(x, style="line"):
        panel = Panel("", Axis("x"), Axis("y"), (Series("s", x, tuple(range(len(x))), style=style),))
        return drawing(Figure("x", "", "", (panel,)))["panels"][0]["series"][0]["curved"]

    assert curved((0.5, 1.0, 2.5)) and curved((0.5, 1.0, 2.5), "dashed")
    assert not curved((1, 2, 3)) and not curved((0.5, 1.0)) and not curved((0.5, 1.0, 0.7))
    assert not curved((0.5, 1.0, 2.5), "both")


def test_logarithmic_axes_of_few_decades_have_plain_numbers():
    """Not "6 times ten to the 0"; between powers of ten as many as there is room for, and powers on a long axis."""

    def numbers(*y):
        panel = Panel("", Axis("a", limits=(-0.5, 0.5)), Axis("b", log=True), (Series("s", (0.0,) * len(y), y),))
        svg = pictures(drawing(Figure("x", "", "", (panel,), columns=1)))["svg"].decode()
        return {found for found in re.findall(r"<!-- (\S+) -->", svg) if found[0] not in "ab−"}

    assert numbers(0.25, 6) >= {"0.3", "0.5", "1", "2", "3", "5"} and "0.7" not in numbers(0.25, 6)
    assert numbers(1.8, 4.2) >= {"2", "3", "4"} and numbers(1.84, 1.9) >= {"1.85", "1.86"}
    assert numbers(0.002, 5) >= {"0.01", "0.1", "1"} and "0.03" not in numbers(0.002, 5)
    assert any("10^" in found for found in numbers(1e-9, 1))
