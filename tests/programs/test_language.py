"""The language: both front ends, what is rejected and how, loops that become repeats."""

from pathlib import Path

import numpy as np
import pytest

from descant.programs import Program, ProgramError, eye, program
from descant.programs.language import _trace
from tests.support import decorated_programs
from tests.support.program_bodies import HEAD, repeats, trace

REJECTED = {
    "inverse": ("return inv(X.T @ X)", "line 2, column 12", "inv can't be compiled", "Newton-Schulz"),
    "numpy inverse": ("return np.linalg.inv(X.T @ X)", "line 2, column 12", "inv", "Newton-Schulz"),
    "division": ("return y / (X @ w)", "line 2, column 12", "division by a matrix", "Newton-Schulz"),
    "one over a matrix": ("return 1 / X", "line 2", "division by a matrix", "Newton-Schulz"),
    "division by one number": ("return X / (y.T @ y)", "line 2, column 12", "division by a matrix", "reciprocal(s, "),
    "product of unlike shapes": ("return X * y", "line 2, column 12", "n = 4 x d = 3 and", "diag(v) @ A"),
    "product of unlike sizes": ("return X * X.T", "line 2, column 12", "* between", "is it @?"),
    "large element-wise product": (
        "A = ones(80, 4) @ X\nB = A @ A.T\nreturn B * B", "line 4", "6400 products of numbers", "lower the sizes"),
    "tall element-wise product": ("v = ones(600, 4) @ y\nreturn v * v", "line 3", "in 600 rows", "lower the sizes"),
    "long diagonal": ("return diag(ones(130, 4) @ X @ w)", "line 2", "130 numbers", "at most 128"),
    "diagonal of neither": ("return diag(X)", "line 2", "diag() of a matrix of n = 4 x d = 3", "square"),
    "trace of no square": ("return trace(X)", "line 2", "trace() of a matrix of n = 4 x d = 3", "square"),
    "third axis": ("return sum(X, 2)", "line 2", "an axis other than 0 and 1", "rows"),
    "reciprocal of a matrix": ("return reciprocal(X.T @ X, 3, 0.1)", "line 2", "d = 3 x d = 3", "Newton-Schulz"),
    "reciprocal of a number": ("return reciprocal(eta, 3, 0.1)", "line 2", "no matrix", "write 1 / s"),
    "reciprocal without a start": ("return reciprocal(y.T @ y, 3)", "line 2", "other arguments", "s, steps, start"),
    "sum of lists": ("s = sum([[T], [T]], [])\nreturn w", "line 2, column 9", "sum() of lists", "sum([A, B])"),
    "least of one": ("return min(T) * w", "line 2, column 12", "min of fewer than two", "min(a, b)"),
    "index beyond all": (
        "return X[0x" + "f" * 20000 + "]", "line 2", "the index a very large number", "between -4 and 3"),
    "slice beyond all": ("return X[0:0x" + "f" * 20000 + "]", "line 2", "to a very large number of 4", "inside"),
    "stride beyond all": ("return X[0:4:0x" + "f" * 20000 + "]", "line 2", "step a very large number", "neighbours"),
    "sum of a number": ("s = sum(3)\nreturn w", "line 2", "sum() of something", "sum(A)"),
    "start below zero": ("return rsqrt(y.T @ y, 2, -1)", "line 2", "rsqrt() from -1", "positive"),
    "helper before it is there": ("v = f(w)\ndef f(a):\n    return a\nreturn v", "line 2", "f can't", "above"),
    "half a step": ("return rsqrt(y.T @ y, 2.5, 1)", "line 2", "2.5", "whole number"),
    "non-linearity": ("return exp(X)", "line 2, column 12", "element-wise function exp", "series"),
    "relu": ("return relu(X)", "line 2, column 12", "relu", "hstack"),
    "branch": ("if w:\n    w = w\nreturn w", "line 2, column 8", "a decision on a matrix", "one formula"),
    "ternary": ("return w if X @ w else w", "line 2, column 17", "a decision on a matrix", "one formula"),
    "both": ("return w if T and w else w", "line 2", "a decision on a matrix", "one formula"),
    "is": ("return w if T is 3 else w", "line 2", "Is can't be compiled", ""),
    "not chosen": ("if T < 0:\n    v = w\nreturn v", "line 4, column 12", "v is not defined here", "known names"),
    "comparison": ("return X > 0", "line 2", "comparison", "one formula"),
    "while": ("while T:\n    w = w\nreturn w", "line 2, column 5", "while", "for t in range"),
    "product of wrong shapes": ("return X @ y", "line 2, column 12", "n = 4 x d = 3", "is a .T missing?"),
    "sum of wrong shapes": ("w = w + y\nreturn w", "line 2, column 9", "d = 3 x 1", "same shape"),
    "matrix plus number": ("return X + 1", "line 2", "+ between a matrix and 1", "eye(n)"),
    "number product with @": ("return X @ 2", "line 2", "@ between a matrix and 2", "write *"),
    "root": ("return X ** 0.5", "line 2, column 12", "exponent 0.5", "A ** k is element-wise, as in NumPy"),
    "root of a number": ("return (y.T @ y) ** -1", "line 2", "exponent -1", "reciprocal"),
    "power with a matrix": ("return 2 ** X", "line 2", "a matrix as exponent", "series"),
    "slice outside": ("return X[0:9, :]", "line 2", "from 0 to 9 of 4 rows", "inside"),
    "index outside": ("return X[4]", "line 2", "the index 4 for 4 rows", "between -4 and 3"),
    "fractional index": ("return X[0.5]", "line 2", "0.5 as an index for rows", "whole numbers"),
    "three indices": ("return X[0, 1, 2]", "line 2", "an index with 3 parts", "X[i, j]"),
    "stride": ("return X[0:4:2, :]", "line 2", "step 2", "neighbours"),
    "unknown name": ("return X @ v", "line 2, column 16", "v is not defined here", "known names"),
    "unknown attribute": ("return X.shape", "line 2", ".shape", "only .T"),
    "comprehension": ("return hstack([X for t in range(2)])", "line 2", "comprehension", "for t in range"),
    "loop over a matrix": ("for x in X:\n    w = w\nreturn w", "line 2, column 14", "no range", "range(T)"),
    "fractional range": ("for t in range(2.5):\n    w = w\nreturn w", "line 2", "2.5", "whole number"),
    "return inside a loop": ("for t in range(T):\n    return w\nreturn w", "line 3", "before the end", "once"),
    "no return": ("w = w", "line 2", "does not end with a return", "return w"),
    "returns a number": ("return eta", "", "returns something that is no matrix", "return matrices only"),
    "dropped value": ("X @ w\nreturn w", "line 2, column 5", "drops it", "name"),
    "import": ("import os\nreturn w", "line 2", "import", "descant.programs"),
    "hidden import": ("return __import__('os')", "line 2", "__import__", "there are"),
    "attribute of a builtin": ("return X.__class__", "line 2", "__class__", "only .T"),
    "lambda": ("f = lambda: 0\nreturn w", "line 2", "lambda", "def f(a, b):"),
    "helper without return": ("def f(a):\n    b = a\nreturn f(w)", "line 3", "f does not end with a return", "return"),
    "helper that calls itself": ("def f(a):\n    return f(a)\nreturn f(w)", "line 3", "f calls itself", "loop"),
    "helpers in a circle": (
        "def f(a):\n    return g(a)\ndef g(a):\n    return f(a)\nreturn f(w)", "line 5", "f calls itself", "loop"),
    "helper with too much": ("def f(a):\n    return a\nreturn f(w, w)", "line 4", "other arguments", "it has: a"),
    "helper with less": ("def f(a, b=2):\n    return a\nreturn f(b=2)", "line 4", "other arguments", "it has: a, b"),
    "name of a helper's own": ("def f():\n    w = w + w\n    return w\nreturn f()", "line 3", "w is not defined", ""),
    "name inside of a helper": ("def f():\n    v = w\n    return w\nu = f()\nreturn v", "line 6", "v is not", ""),
    "Euler's number": ("return e * X", "line 2, column 12", "e is not defined here", "Euler's number is exp(1)"),
    "rebound size": ("n = 3\nreturn zeros(n, d)", "line 2, column 5", "n is a size of the program", "rename"),
    "size as an index": ("for d in range(2):\n    w = w + w\nreturn w", "line 2, column 9", "d is a size", "rename"),
    "whole number beyond all": ("return 1" + 2000 * "0" + " * X", "line 2", "not finite", "scalars"),
    "dimension of a bomb": ("return X @ ones(3, 10**9)", "line 2", "3 x 1000000000 is too large", "lower the sizes"),
    "huge power": ("return 9 ** 9 ** 9 * X", "line 2", "too large", ""),
    "division of numbers by zero": ("return X * (1 / 0)", "line 2", "division by zero", ""),
    "stack of different heights": ("return hstack([X, w])", "line 2", "hstack", "same number of rows"),
    "size zero": ("return zeros(0, 1)", "line 2", "size 0", "at least 1"),
    "infinite number": ("return 1e999 * X", "line 2", "not finite", ""),
    "part of another shape": ("w[0] = w\nreturn w", "line 2", "d = 3 x 1 in the place of 1 x 1", "same shape"),
    "part of a part": ("w[0][0] = w\nreturn w", "line 2", "no name", "w = ..."),
    "endless": ("for t in range(1000000):\n    w = w + w\nreturn w", "line 2", "more than", "lower its count"),
    "too long": ("for t in range(200):\n    w = w + w + w\nreturn w", "line 3", "more than", "lower the counts"),
}  # fmt: skip


@pytest.mark.parametrize("name", REJECTED)
def test_rejected_with_place_reason_and_advice(name, monkeypatch):
    monkeypatch.setattr(_trace, "LONGEST", 500)
    body, place, reason, advice = REJECTED[name]
    with pytest.raises(ProgramError) as error:
        trace(body)
    sentence = str(error.value)
    assert place in sentence and reason in sentence and advice in sentence, sentence
    assert sentence.startswith("p.py") or not place
    assert sentence.endswith(".") and "\n" not in sentence


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("def p(X):\n    return X", "has no sizes"),
        ('def p(X: "n"):\n    return X', "write two sizes"),
        ('def p(X: "n d" = 1):\n    return X', "default other than 0"),
        ('def p(X: "n d", *, a):\n    return X', "has no default"),
        ('def p(X: "n d", *, a="x"):\n    return X', "is no number"),
        ('def p(X: "n d", *, a=1 | 2):\n    return X', "line 1, column 22: a scalar's default is no number"),
        ('def p(X: "n d", *, a=9**9**9):\n    return X', "line 1, column 22: the power 9 ** 387420489 is too large"),
        ('def p(X: "n d", *, a=' + repr("x" * 1000) + "):\n    return X", "is no number"),
        ('def p(*X: "n d"):\n    return X', "with * or **"),
        ("x = 1", "only functions"),
        ("", "0 functions"),
        ('def p(X: "n d", X: "n d"):\n    return X', "line 1, column 17: two parameters are called X"),
        ('def p(X: "n d", *, X=3):\n    return X', "two parameters are called X"),
        ('def p(X: "n d", n: "d 1"):\n    return X', "n is a matrix, and a size of another one"),
        ('def f(X, X):\n    return X\ndef p(X: "n d"):\n    return X', "f has two parameters of one name"),
        ('def p(X: "n 10**9+d"):\n    return X', "a matrix of 2 x 1000000002 is too large"),
        ('def p(X: "n ' + "n+" * 20000 + 'n"):\n    return X', "can't be read"),
        ('def p(X: "n d"):\n    return X\ndef q(X: "n d"):\n    return X', "2 functions"),
        ("def p(X):\n    return X\ndef q(X):\n    return X", "0 functions with sizes"),
        ("def p(:", "program, line 1, column 7: the text is no Python"),
        ('@cache\ndef p(X: "n d"):\n    return X', "a decorator other than @program"),
        ('def p(X: "n d"):\n    return ' + "(" * 300 + "X" + ")" * 300, "nested"),
        ('def p(X: "n d"):\n    return ' + "-" * 5000 + "X", ""),
    ],
)
def test_texts_that_are_no_program(text, reason):
    with pytest.raises(ProgramError) as error:
        Program.from_text(text).trace(n=2, d=2)
    assert reason in str(error.value)


def test_settings_are_checked():
    p = Program.from_text(HEAD + "    return X @ w\n")
    for settings, reason in (
        ({"n": 3}, "needs the size d"),
        ({"n": 3, "d": 0}, "the size d is 0"),
        ({"n": 3, "d": 2.5}, "the size d is 2.5"),
        ({"n": 3, "d": 2, "q": 1}, "has no size and no scalar q"),
        ({"n": 3, "d": 2, "eta": "x"}, "eta is 'x'"),
    ):
        with pytest.raises(ProgramError, match=reason):
            p.trace(settings)


def test_inputs_are_checked():
    traced = trace("return X @ w")
    with pytest.raises(ValueError, match="inputs lacks X"):
        traced.evaluate({"y": np.ones((4, 1))})
    with pytest.raises(ValueError, match="A vector is a matrix with one column"):
        traced.evaluate({"X": np.ones((4, 3)), "y": np.ones(4)})
    with pytest.raises(ValueError, match="inputs has 'Z'"):
        traced.evaluate({"Z": 1})


RIDGE = '''
def ridge(X: "n d", y: "n 1", w: "d 1" = 0, *, eta=0.1, lam=0.5, T=10):
    """Ridge."""
    previous = zeros(d, 1)
    for t in range(T):
        step = X.T @ (X @ w) - X.T @ y + lam * w
        older = previous
        previous = w
        w = w - eta * step + 0.1 * (w - older)
        for k in range(2):
            w -= 0.01 * hstack([w, step])[:, 0:1] / (k + 1)
    return w, previous.T, vstack([w, 2 * eye(d)[:, 0:1]])
'''


def test_both_front_ends_give_the_same_program():
    parsed, recorded = Program.from_text(RIDGE).trace(n=4, d=3), decorated_programs.ridge.trace(n=4, d=3)
    assert parsed.body == recorded.body and parsed.outputs == recorded.outputs == ("w", "out1", "out2")
    assert parsed.inputs == recorded.inputs and parsed.settings == recorded.settings
    names = [[each.name for each in traced.body.instructions] for traced in (parsed, recorded)]
    assert names[0] == names[1] and "w" in names[0]


def test_both_front_ends_know_the_same_functions():
    """A program of the decorated functions' file with its helper, as text."""
    text = Path(decorated_programs.__file__).read_text()
    parsed = Program.from_text(text[text.index("def normalised") :]).trace(n=4, d=3)
    recorded = decorated_programs.modern.trace(n=4, d=3)
    assert parsed.body == recorded.body and parsed.outputs == recorded.outputs
    names = [[each.name for each in traced.body.instructions] for traced in (parsed, recorded)]
    assert names[0] == names[1]


def test_a_decorated_function_may_use_all_of_python():
    matrices = decorated_programs.MATRICES
    x = np.ones((3, 2))
    second = x + 0.5 * matrices.T
    third = second + 0.5 * matrices.T
    found = decorated_programs.pythonic.trace().evaluate({"X": x}).results[0]
    np.testing.assert_allclose(found, x @ x.T + third @ third.T)


def test_decorated_mistakes_have_a_place_too():
    with pytest.raises(ProgramError) as error:
        decorated_programs.wrong.trace(n=2, d=3)
    assert f"wrong, line {decorated_programs.WRONG_LINE}, column 12: @ between" in str(error.value)
    with pytest.raises(ProgramError, match="handed to NumPy"):
        decorated_programs.inverse.trace(n=2, d=2)
    with pytest.raises(ProgramError, match="comparison of matrices"):
        decorated_programs.branch.trace(n=2, d=2)
    with pytest.raises(ProgramError, match="outside of a program"):
        eye(2)
    with pytest.raises(ProgramError, match="more than 300000 steps"):
        decorated_programs.endless.trace(n=2, d=2)
    with pytest.raises(ProgramError, match="n is a size of the program, and is given another value"):
        program(decorated_programs.rebinding)


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("for t in range(T):\n    w = w + X.T @ y\nreturn w", [5]),
        (
            "for t in range(T):\n    w = w + t * w\nreturn w",
            [],
        ),  # the index enters: every iteration has its own weights
        ("for t in range(T):\n    w = w + 0 * t * w\nreturn w", [5]),  # it does not, after all
        ("for t in range(1):\n    w = w + w\nreturn w", []),
        ("for t in range(0):\n    w = w + w\nreturn w", []),
        (
            "a = w\nfor t in range(T):\n    b = a\n    a = w\n    w = w + b\nreturn w, a",
            [5],
        ),  # handed from name to name
        ("a = w\nfor t in range(T):\n    w = w + a\nreturn w", [5]),  # two names for one value, one of them changes
        ("for t in range(T):\n    s = X @ w\n    w = w + X.T @ s\nreturn s", [5]),  # made inside, read after
        ("for t in range(T):\n    X = X[:, 0:d]\n    w = w + X.T @ y\nreturn w", [5]),
        ("for t in range(2):\n    for k in range(T):\n        w = w + w\nreturn w", [2]),
        ("for t in range(1):\n    for k in range(T):\n        w = w + w\nreturn w", [5]),
        # Names that swap values of different shapes: the same operation on something else each time.
        (
            "a = y[0:2, :]\nb = y[0:3, :]\nfor t in range(T):\n    c = a\n    a = b\n    b = c\n"
            "    w = w + w @ a[0:1, :]\nreturn w",
            [],
        ),
        ("for t in range(2):\n    y = vstack([y, y])\nreturn y", []),  # grows: its shape is not the same each time
    ],
)
def test_which_loops_become_repeats(body, expected, keys):
    import jax

    traced = trace(body, T=5)
    assert repeats(traced) == expected
    inputs = {each.name: np.asarray(jax.random.normal(keys(), each.shape)) for each in traced.inputs}
    text = "def f(X, y, w, T, d, vstack):\n" + "".join(f"    {line}\n" for line in body.split("\n"))
    names: dict = {}
    exec(text, names)
    found = names["f"](**inputs, T=5, d=3, vstack=np.vstack)
    found = found if isinstance(found, tuple) else (found,)
    for a, b in zip(found, traced.evaluate(inputs).results, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-12)


def test_a_decorated_function_places_by_name():
    x = np.arange(6.0).reshape(3, 2)
    np.testing.assert_array_equal(decorated_programs.placing.trace().evaluate({"X": x}).results[0], x[::-1])
    with pytest.raises(ProgramError, match=r"matrices are values: write O = place\(O, part, top, left\)"):
        decorated_programs.writing.trace()


def test_no_output_is_lost():
    """Names that are given stand; the others get free ones."""
    assert trace("out1 = X @ X.T\nreturn out1, X + X").outputs == ("out1", "out2")
    assert trace("out0 = X\nreturn X @ w, out0, y, y, w").outputs == ("out1", "out0", "out2", "out3", "w")
    assert trace("return X @ w, X").outputs == ("out0", "X")
