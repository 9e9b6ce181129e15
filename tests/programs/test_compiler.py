"""The compiler: what programs cost, that its proof can fail, and what can be done with the result."""

import re

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from descant._sealed import unsealed, write_page
from descant.programs import CompilerError, Program, compile_program, find, load
from descant.programs._compile import choose
from descant.programs.schedule import Head, Reading, Write
from descant.programs.schedule._merge import merged
from descant.programs.weights import check, link

RIDGE = """
def ridge(X: "n d", y: "n 1", w: "d 1" = 0, *, eta=0.01, lam=0.5, T=10):
    for t in range(T):
        w = w - eta * ({})
    return w
"""
TEXTS = ["X.T @ (X @ w) - X.T @ y + lam * w", "X.T @ (X @ w - y) + lam * w", "X.T @ X @ w - X.T @ y + lam * w"]


def problem(n, d, seed=0):
    random = np.random.default_rng(seed)
    return {"X": random.standard_normal((n, d)), "y": random.standard_normal((n, 1))}


@pytest.mark.parametrize("text", TEXTS)
def test_ridge_costs_at_most_the_hand_construction(text):
    program = Program.from_text(RIDGE.format(text))
    for n, d in ((20, 5), (3, 8), (6, 6)):
        plain = compile_program(program, n=n, d=d, hoist=False).sizes
        assert (plain.blocks, plain.heads, plain.distinct_blocks) == (20, 40, 2)  # 2 blocks x 2 heads per iteration
        hoisted = compile_program(program, n=n, d=d).sizes
        assert hoisted.blocks <= 11 and hoisted.distinct_blocks <= 2 and hoisted.heads <= 24
    assert (hoisted.rows, hoisted.columns) == (6, 8)  # no more than the inputs need


def test_newton_schulz_is_one_block_per_iteration():
    sizes = compile_program("newton_schulz", n=6, T=30).sizes
    assert sizes.blocks == 31 and sizes.distinct_blocks == 2 and sizes.heads == 61
    sizes = compile_program("ridge_newton_schulz", n=20, d=5, T=30).sizes
    assert sizes.blocks == 32 and sizes.distinct_blocks == 3


def test_ridge_by_newton_schulz_is_exact_at_condition_10000():
    from descant.programs.studies._convergence import problem as conditioned

    lam = 1e-4
    x, y = conditioned(10**4, n=30, d=6, lam=lam, seed=0)
    gram = x.T @ x + lam * np.eye(6)
    high = float(np.linalg.eigvalsh(gram)[-1])
    assert high / np.linalg.eigvalsh(gram)[0] == pytest.approx(1e4)
    compiled = compile_program("ridge_newton_schulz", n=30, d=6, lam=lam, high=high, T=20)
    assert compiled.sizes.blocks <= 25
    exact = np.linalg.solve(gram, x.T @ y)
    found = compiled.run({"X": x, "y": y})["out0"]
    assert np.linalg.norm(found - exact) <= 1e-10 * np.linalg.norm(exact)


def test_repeats_share_weights_and_are_a_scan():
    short, long = (compile_program("ridge", n=50, d=10, T=T, eta=0.005) for T in (10, 100))
    assert short.sizes.parameters == long.sizes.parameters and long.sizes.blocks == 101
    inputs = {name: jnp.asarray(value) for name, value in problem(50, 10).items()}
    text = [str(jax.make_jaxpr(lambda given, each=each: each(given))(inputs)) for each in (short, long)]
    assert "scan" in text[1]
    # The program that JAX compiles does not grow with the count.
    assert len(text[0].splitlines()) == len(text[1].splitlines())
    w = np.zeros((10, 1))
    for _ in range(100):
        w = w - 0.005 * (inputs["X"].T @ (inputs["X"] @ w - inputs["y"]) + 0.5 * w)
    np.testing.assert_allclose(long.run(inputs)["w"], w, rtol=0, atol=1e-12)


def test_nested_loops_run():
    text = """
def p(X: "n d", w: "d 1", *, T=3):
    first = w
    for t in range(T):
        v = w
        for k in range(4):
            v = v - 0.1 * X.T @ (X @ v) + 0.1 * first
        w = 0.5 * w + v
    return w, first.T @ w
"""
    traced = Program.from_text(text).trace(n=5, d=3)
    inputs = {"X": problem(5, 3)["X"], "w": np.ones((3, 1))}
    compiled = compile_program(Program.from_text(text), n=5, d=3)
    found = compiled.run(inputs)
    for name, value in compiled.evaluate(inputs).items():
        np.testing.assert_allclose(found[name], value, rtol=1e-12)
    for a, b in zip(found.values(), traced.evaluate(inputs).results, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-12)


@pytest.mark.parametrize(
    ("body", "blocks"),
    [
        ("return X", 1),
        ("return X.T", 1),
        ("return zeros(2, 3)", 1),
        ("return X, X + 1 * ones(n, d), 3 * X[1:3, :]", 1),
        ("return X @ A @ X.T", 2),
        ("return X @ A.T @ X", 2),
        ("return X[0:d, :] @ A", 2),
        # Nine factors in two blocks: each of three products of three is stored as the next one needs it.
        ("return A @ B.T @ A @ A.T @ B @ A.T @ A @ B.T @ A", 2),
        ("return A @ B @ A @ B @ A @ B @ A @ B @ A", 3),
    ],
)
def test_depth_of_small_programs(body, blocks):
    text = f'def p(X: "n d", A: "d d", B: "d d"):\n    {body}\n'
    if body.startswith("return X @ A.T"):
        text = text.replace("@ X\n", "@ X.T\n")
    compiled = compile_program(Program.from_text(text), n=4, d=3)
    assert compiled.sizes.blocks <= blocks
    traced = Program.from_text(text).trace(n=4, d=3)
    random = np.random.default_rng(0)
    inputs = {each.name: random.standard_normal(each.shape) for each in traced.inputs}
    for found, expected in zip(compiled.evaluate(inputs).values(), traced.evaluate(inputs).results, strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-11, atol=1e-11)


def test_heads_that_agree_but_for_a_number_are_merged():
    random = np.random.default_rng(0)
    values = {place: random.standard_normal((3, 2)) for place in range(4)}
    a, b, c, d = (Reading((3, 2), ((place, np.eye(2)),)) for place in range(4))

    def total(heads):
        found = {}
        for head in heads:
            weights = read(head.query) @ read(head.key).T
            for write in head.values:
                found[write.place] = found.get(write.place, 0) + weights @ read(write.reading)
        return found

    def read(reading):
        return np.sum([values[place] @ right for place, right in reading.terms], axis=0)

    for second in (
        Head(a.times(2), b.times(-3), (Write(9, d),)),  # query and key agree: the values are added
        Head(a.times(2), b.times(-3), (Write(8, d), Write(9, c))),
        Head(a.times(2), d, (Write(9, c.times(5)),)),  # query and value
        Head(d, b.times(2), (Write(9, c.times(5)),)),  # key and value
    ):
        heads = [Head(a, b, (Write(9, c),)), second]
        one = merged(heads)
        assert len(one) == 1
        for place, expected in total(heads).items():
            np.testing.assert_allclose(total(one)[place], expected, rtol=1e-12)
    assert len(merged([Head(a, b, (Write(9, c),)), Head(d, c, (Write(9, c),))])) == 2


def broken(name: str):
    """A compiled ridge regression with one thing wrong."""
    # Without hoisting there is a column that is empty before the first block.
    best = choose(find("ridge").trace(n=6, d=3), hoist=name != "unowned")
    weights = [{key: array.copy() for key, array in block.items()} for block in link(best.schedule, best.layout)]
    columns = [dict(each) for each in best.layout.after]
    if name == "junk":
        weights[0]["b3"][0, 5, 0] = 1.0
    elif name == "unowned":
        weights[0]["w3"][0, 5, 0] = 1.0
    elif name == "shared column":
        columns[0][next(iter(columns[0]))] -= 1
    elif name == "outside":
        columns[0][next(iter(columns[0]))] = 100
    layout = type(best.layout)(best.layout.rows, best.layout.columns, best.layout.before, tuple(columns))
    return best.schedule, layout, weights


def test_the_proof_can_fail():
    """A check that was never seen to fail is no check."""
    assert check(*broken("nothing")) == 4
    for name, sentence in (
        ("junk", "outside of the places"),
        ("shared column", "share a column"),
        ("outside", "does not lie in H"),
        ("unowned", "columns that nobody owns are read"),
    ):
        with pytest.raises(CompilerError, match=sentence):
            check(*broken(name))


def test_save_and_load(tmp_path):
    compiled = compile_program("ridge", n=6, d=3, T=4)
    compiled.save(tmp_path / "a")
    again = load(tmp_path / "a")
    assert eqx.tree_equal(again, compiled) and again.description == compiled.description
    assert again.sizes == compiled.sizes and again.explain() == compiled.explain()
    text = (tmp_path / "a" / "program.json").read_text()

    def spoil(change):
        value = unsealed(text.encode())
        change(value)
        write_page(tmp_path / "a" / "program.json", value)

    for change, sentence in (
        (lambda v: v.update(format="other"), "the format is not"),
        (lambda v: v.update(weights="0" * 64), "is not the file that program.json was written for"),
        (lambda v: v.update(rows="6"), "program.rows is '6'"),
        (lambda v: v.update(rows=7), "the weights are not for an H of 7"),
        (lambda v: v["inputs"][0].update(column=40), "does not lie in H"),
        (lambda v: v["blocks"].pop(), "the description is of 1 blocks"),
        (lambda v: v.pop("outputs"), "program is no Description"),
        (lambda v: v["inputs"].__setitem__(0, 3), r"program.inputs\[0\] is no Rectangle"),
    ):
        spoil(change)
        with pytest.raises(ValueError, match=sentence):
            load(tmp_path / "a")
    (tmp_path / "a" / "program.json").write_text("{")
    with pytest.raises(ValueError, match="Expecting property name"):
        load(tmp_path / "a")
    with pytest.raises(ValueError, match="holds no compiled program"):
        load(tmp_path / "nowhere")


def test_inputs_are_checked():
    compiled = compile_program("ridge", n=6, d=3, T=1)
    good = problem(6, 3)
    for inputs, sentence in (
        ({"X": good["X"]}, "inputs lacks y"),
        ({**good, "z": 1}, "inputs has 'z'; ridge takes X, y, w"),
        ({**good, "y": good["y"][:, 0]}, "A vector is a matrix with one column"),
        ({**good, "y": np.full((6, 1), np.nan)}, "y holds NaN"),
        ({**good, "y": np.full((6, 1), "a")}, "expected real numbers"),
    ):
        with pytest.raises(ValueError, match=sentence):
            compiled.run(inputs)


def test_compiled_weights_can_be_trained_further():
    """One gradient step on the compiled weights lowers the loss of a task that they were not compiled for."""
    compiled = compile_program("ridge", n=6, d=2, T=3)
    inputs = {name: jnp.asarray(value) for name, value in problem(6, 2).items()}
    target = jnp.array([[1.0], [-1.0]])

    @eqx.filter_value_and_grad
    def loss(model):
        return jnp.sum((model(inputs)["w"] - target) ** 2)

    before, gradient = loss(compiled)
    stepped = eqx.apply_updates(compiled, jax.tree.map(lambda g: -1e-5 * g, gradient))
    assert loss(stepped)[0] < before
    leaves = jax.tree.leaves(eqx.filter(gradient, eqx.is_array))
    assert all(np.all(np.isfinite(leaf)) for leaf in leaves) and any(np.any(leaf != 0) for leaf in leaves)


def test_magnitudes_show_divergence():
    inputs = problem(8, 3)
    calm = compile_program("ridge", n=8, d=3, T=30, eta=0.01).magnitudes(inputs)
    wild = compile_program("ridge", n=8, d=3, T=30, eta=1.0).magnitudes(inputs)
    assert len(calm) == 32 and max(calm) < 100 and wild[-1] > 1e20


def test_explanations_name_everything():
    compiled = compile_program("ridge", n=8, d=3, T=30)
    words = compiled.explain()
    for part in ("H has 8 rows and 5 columns", "30 times, with the same weights", "Xᵀ X ← Xᵀ · X", "in:  X (8 x 3)"):
        assert part in words
    assert "; w ← 0.995 w + 0.01 Xᵀ y\n" in words and ": w += (Xᵀ X) · (−0.01 w)\n" in words
    svg, page = compiled.svg(), compiled.html()
    assert svg.startswith("<svg") and "30 times" in svg and svg in page
    # Nothing is fetched: the only address is the name of the SVG format.
    assert set(re.findall(r'https?://[^"\' ]+', page)) == {"http://www.w3.org/2000/svg"}
    assert "<script" not in page
    import xml.etree.ElementTree as tree

    tree.fromstring(svg)


def test_names_are_escaped():
    text = 'def p(X: "n d"):\n    return X @ X.T\n'
    compiled = compile_program(Program.from_text(text), n=2, d=2)
    description = compiled.description
    renamed = eqx.tree_at(lambda c: c.network, compiled, compiled.network)
    object.__setattr__(renamed, "description", type(description)(**{**vars(description), "program": "<b>&"}))
    assert "<b>" not in renamed.html()


def test_jax_compiles_nothing_while_a_program_is_compiled(caplog):
    """Every new shape of weights would otherwise take a hundredth of a second, and a megabyte for good."""
    with jax.log_compiles(), caplog.at_level("DEBUG"):
        compile_program("ridge", n=7, d=3, T=2)
    assert not [each for each in caplog.messages if "Compiling" in each]
