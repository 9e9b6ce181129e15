"""Ways to build a program: what each is good for, and that all of them compute the same."""

import json

import numpy as np
import pytest

from descant.cli._programs import digits_left
from descant.programs import Program, _compile, compile_program, find, trade_off, ways
from descant.programs._compile import candidates, choose
from descant.programs.graph import Rewriting, build, evaluate_graph
from descant.programs.schedule import Strategy, evaluate_schedule
from tests.support.commands import run

DECREASING = """
def ridge(X: "n d", y: "n 1", w: "d 1" = 0, *, eta=0.01, lam=0.5, T=10):
    for t in range(T):
        w = w - eta / (t + 1) * (X.T @ (X @ w) - X.T @ y + lam * w)
    return w
"""


def chain(length):
    """A straight program in which every value is read three times."""
    lines = ['def chain(A: "d d", B: "d d"):']
    for i in range(length):
        one, two = ("A" if i == 0 else f"v{i - 1}"), ("B" if i < 2 else f"v{i - 2}")
        lines.append(f"    v{i} = 0.5 * {one} @ {two}.T + 0.1 * A - 0.5 * {two}")
    return Program.from_text("\n".join([*lines, f"    return v{length - 1}", ""]))


def arrays(traced, seed=0):
    random = np.random.default_rng(seed)
    return {each.name: random.standard_normal(each.shape) / each.shape[0] for each in traced.inputs}


@pytest.mark.parametrize(
    ("name", "sizes"),
    [
        ("gd_beta", {"n": 8, "d": 3}),
        ("nesterov", {"n": 8, "d": 3, "T": 6}),
        ("kalman", {"n": 4, "d": 2, "K": 5}),
        ("conjugate_gradient", {"n": 6, "d": 3, "T": 3, "K": 5}),
        ("deltanet", {"n": 5, "d": 3, "e": 2}),
    ],
)
def test_all_ways_compute_the_same(name, sizes):
    traced = find(name).trace(**sizes)
    given = arrays(traced)
    truth = traced.evaluate(given)
    found = list(candidates(traced))
    assert len(found) > 2
    for each in found:
        for ours, true in zip(evaluate_schedule(each.schedule, given), truth.results, strict=True):
            np.testing.assert_allclose(ours, true, rtol=0, atol=1e-12 * max(1.0, truth.largest))


def test_preferences_are_kept():
    traced = Program.from_text(DECREASING).trace(n=20, d=5)
    all_ways = list(candidates(traced))
    for prefer, measure in (("depth", "blocks"), ("width", "columns"), ("parameters", "parameters"), ("work", "work")):
        least = min(getattr(each, measure) for each in all_ways)
        assert getattr(choose(traced, prefer=prefer), measure) == least
        sizes = compile_program(Program.from_text(DECREASING), n=20, d=5, prefer=prefer).sizes
        assert measure == "work" or getattr(sizes, measure) == least
    with pytest.raises(ValueError, match="prefer is 'speed'"):
        choose(traced, prefer="speed")


def test_steps_that_change_cost_no_more_than_constant_ones():
    constant = compile_program("ridge", n=20, d=5, T=10).sizes
    changing = compile_program(Program.from_text(DECREASING), n=20, d=5).sizes
    assert (changing.blocks, changing.heads, changing.columns) == (constant.blocks, constant.heads, constant.columns)
    assert compile_program("nesterov", n=20, d=5, T=10).sizes.blocks == 11


def test_a_prediction_is_computed_from_both_ends():
    sizes = compile_program("gd_beta", n=20, d=5).sizes
    assert (sizes.blocks, sizes.heads) == (2, 5)


def test_values_that_are_read_again_are_stored_once():
    program = chain(40)
    found = compile_program(program, d=3)
    assert found.sizes.columns <= 15 and found.sizes.blocks <= 40
    traced = program.trace(d=3)
    given = arrays(traced)
    truth = traced.evaluate(given)
    np.testing.assert_allclose(found.evaluate(given)["v39"], truth.results[0], rtol=0, atol=1e-12 * truth.largest)


def test_loops_on_constants_are_folded():
    text = """
def p(X: "n n"):
    A = 0.5 * eye(n)
    for t in range(20):
        A = A @ A + constant([[0.1, 0.02], [0.03, 0.1]])
    return X @ A
"""
    traced = Program.from_text(text).trace(n=2)
    graph = build(traced, Rewriting())
    assert not graph.loops
    given = {"X": np.eye(2)}
    np.testing.assert_allclose(evaluate_graph(graph, given)[0], traced.evaluate(given).results[0], rtol=1e-14)
    assert compile_program(Program.from_text(text), n=2).sizes.blocks == 1


def test_names_of_long_programs_stay_short():
    # Every value is a sum of products of the one before: written out, its name would double in every line.
    lines = ["def p(A: 'd d'):", "    W = A"]
    lines += ["    W = 0.1 * ((W + W.T) @ W.T - W.T @ W)"] * 60
    found = compile_program(Program.from_text("\n".join([*lines, "    return W", ""])), d=2)
    assert max(len(each.name) for block in found.description.blocks for each in block.after) < 200


def test_once_is_a_choice_of_the_planner():
    from descant.programs._compile import candidate

    traced = Program.from_text(DECREASING).trace(n=20, d=5)
    graph = build(traced, Rewriting(shared=True))
    plain, once = (candidate(traced, graph, Strategy(once=once)) for once in (False, True))
    assert once.columns < plain.columns and once.blocks == plain.blocks


def test_where_products_are_long_fewer_ways_are_tried(monkeypatch):
    """What is searched counts, not only what is found: long products take long to order."""
    text = """
def p(A: "d d", B: "d d", C: "d d", w: "d 1"):
    G = A @ B @ C @ A.T @ C
    H = B @ G.T @ A + C
    return (A + B) @ H @ G @ (B + C) @ G.T @ w, H @ G @ H.T @ w
"""
    traced = Program.from_text(text).trace(d=3)
    found = list(candidates(traced))
    assert len(found) > 2
    monkeypatch.setattr(_compile, "SEARCHED", 1)
    monkeypatch.setattr(_compile, "MOST_HEADS", sum(each.searched for each in found[:2]) - 1)
    assert len(list(candidates(traced))) == 2


def test_what_stands_transposed_is_not_computed_from_the_beginning():
    """A long program in which each value is there transposed: asking for what it is made of would never end."""
    text = """
def p(Y: "k n", A: "n n", B: "n n", W: "n k" = 0, *, T=100):
    V = Y
    for t in range(T):
        for i in range(2):
            W = W + 0.9 * A @ (V.T - A.T @ W @ Y @ Y.T)
        V = 0.2 * V @ B - 0.2 * V @ V.T @ V
        W = W + 0.5 * B.T @ (Y.T - B @ W)
        if t * t % 7 == 1:
            V = 0.9 * V
    return W
"""
    traced = Program.from_text(text).trace(n=4, k=1)
    random = np.random.default_rng(0)
    given = {"Y": random.standard_normal((1, 4)), "W": np.zeros((4, 1))}
    given |= {name: random.standard_normal((4, 4)) for name in "AB"}
    given = {name: 0.9 * each / max(1.0, np.linalg.norm(each, 2)) for name, each in given.items()}
    found = evaluate_schedule(choose(traced).schedule, given)
    np.testing.assert_allclose(found[0], traced.evaluate(given).results[0], rtol=0, atol=1e-13)


def test_ways_are_those_that_nothing_beats():
    found = ways("nesterov", n=20, d=5, T=10)
    assert {name for way in found for name in way.preferred} == {"work", "depth", "width", "parameters"}
    keys = [(way.blocks, way.columns, way.parameters, way.work) for way in found]
    assert keys == sorted(keys) and len(found) > 1
    for one in keys:
        assert not any(other != one and all(a <= b for a, b in zip(other, one, strict=True)) for other in keys)
    figure = trade_off("nesterov", found)
    assert [len(panel.series[0].y) for panel in figure.panels] == [len(found)] * 3


def test_ways_on_the_command_line(tmp_path, capsys):
    out = tmp_path / "drawn"
    words = ("compile", "nesterov", "--set", "n=6", "d=2", "T=4", "--ways", "--out", str(out), "--json")
    status, text, _ = run(*words, capsys=capsys)
    assert status == 0 and json.loads(text)["ways"]
    assert (out / "ways.png").read_bytes().startswith(b"\x89PNG")


CENTRED = """
def variance(x: "n 1"):
    c = x - ones(n, 1) @ mean(x, 0)
    return mean(c ** 2)
"""
RESIDUAL = """
def residual(A: "n n", *, T=60):
    Z = A.T
    for t in range(T):
        Z = Z @ (2 * eye(n) - A @ Z)
    return A @ Z - eye(n)
"""


@pytest.mark.parametrize("seed", range(3))
def test_spread_is_about_the_error(seed):
    """What a page says of brackets that are multiplied out; errors against long double, or against zero."""
    random = np.random.default_rng(seed)
    x = 1e5 + random.standard_normal((20, 1))
    left, right = (np.linalg.qr(random.standard_normal((4, 4)))[0] for _ in range(2))
    inverted = left @ np.diag(np.geomspace(1, 1e-6, 4)) @ right
    variance = compile_program(Program.from_text(CENTRED), n=20)
    residual = compile_program(Program.from_text(RESIDUAL), n=4)
    true = np.var(x.astype(np.longdouble))
    for compiled, given, truth, largest in ((variance, {"x": x}, true, 1e-10), (residual, {"A": inverted}, 0, 1e-4)):
        (found,) = compiled.evaluate(given).values()
        (spread,) = compiled.spread(given).values()
        assert np.abs(found - truth).max() < 5 * spread < 5 * largest
        assert spread > 1e-13  # far beyond a unit in the last place


def test_spread_of_numbers_at_the_edge():
    """Where shaken numbers overflow, and then are NaN, nothing is known of the result."""
    text = 'def p(A: "1 1", B: "1 1"):\n    S = A @ A - B @ B\n    return S @ S'
    edge = compile_program(Program.from_text(text))
    with np.errstate(all="ignore"):
        found = edge.spread({"A": [[1.2e154]], "B": [[1.2e154]]})
    assert found == {"out0": np.inf}


def test_digits_that_are_left():
    assert [digits_left(1.0, spread) for spread in (0.0, 1e-3, 0.5, 1.0, 2.0, np.inf, np.nan)] == [16, 3, 0, 0, 0, 0, 0]
    assert digits_left(1e300, 1e-300) == 16 and digits_left(0.0, 0.0) == 16 and digits_left(0.0, 1e-300) == 0
