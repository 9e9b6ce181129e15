"""`descant compile`, `descant run`, `descant programs`, as a user runs them."""

import json

import numpy as np
import pytest

from descant.programs import find
from tests.support.commands import fresh, run


@pytest.fixture(autouse=True)
def no_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


RIDGE = """
def mine(X: "n d", y: "n 1", w: "d 1" = 0, *, eta=0.01, T=10):
    for t in range(T):
        w = w - eta * X.T @ (X @ w - y)
    return w, X @ w
"""


def test_compile_and_run(tmp_path, capsys):
    (tmp_path / "mine.py").write_text(RIDGE)
    out = tmp_path / "compiled"
    arguments = (
        "compile",
        str(tmp_path / "mine.py"),
        "--set",
        "n=6",
        "d=2",
        "T=5",
        "--out",
        str(out),
        "--explain",
        "--json",
    )
    status, text, err = run(*arguments, capsys=capsys)
    assert status == 0, err
    found = json.loads(text)
    assert {"rows", "columns", "blocks", "heads", "parameters"} <= set(found)
    assert found["rows"] == 6 and found["settings"] == {"eta": 0.01, "T": 5, "n": 6, "d": 2}
    for name in ("network.safetensors", "program.json", "explain.html", "explain.svg", "explain.txt"):
        assert (out / name).stat().st_size > 100
    random = np.random.default_rng(0)
    x, y = random.standard_normal((6, 2)), random.standard_normal((6, 1))
    np.savez(tmp_path / "data.npz", X=x, y=y)
    arguments = ("run", str(out), "--inputs", str(tmp_path / "data.npz"), "--out", str(tmp_path / "result.npz"))
    status, text, err = run(*arguments, capsys=capsys)
    assert status == 0 and "w: 2 x 1" in text, err
    w = np.zeros((2, 1))
    for _ in range(5):
        w = w - 0.01 * x.T @ (x @ w - y)
    with np.load(tmp_path / "result.npz") as results:
        assert results.files == ["w", "out1"]
        np.testing.assert_allclose(results["w"], w, rtol=1e-12)
        np.testing.assert_allclose(results["out1"], x @ w, rtol=1e-12)


def test_the_library_by_name(capsys):
    status, text, _ = run("compile", "ridge", "--set", "n=20", "d=5", "T=10", "--json", capsys=capsys)
    found = json.loads(text)
    assert status == 0 and (found["rows"], found["columns"], found["blocks"], found["heads"]) == (20, 7, 11, 22)
    status, text, _ = run("compile", "ridge", "--set", "n=20", "d=5", "--explain", capsys=capsys)
    assert status == 0 and "10 times, with the same weights" in text
    status, text, _ = run("compile", "ridge", "--set", "n=20", "d=5", "--no-hoist", capsys=capsys)
    assert status == 0 and "20 blocks with 40 heads" in text
    status, text, _ = run("programs", "--json", capsys=capsys)
    assert status == 0 and {"ridge", "td", "kalman"} <= {row["name"] for row in json.loads(text)["programs"]}
    status, text, _ = run("programs", capsys=capsys)
    assert status == 0 and "newton_schulz" in text


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("compile", "nobody"), "no program of the library"),
        (("compile", "ridge"), "needs the sizes n, d"),
        (("compile", "ridge", "--set", "n=3", "d=x"), "set is 'd=x'; expected name=number"),
        (("compile", "ridge", "--set", "n=3", "n=4"), "gives n twice"),
        (("compile", "ridge", "--set", "n=3", "d=2", "q=4"), "no size and no scalar q"),
        (("compile", "ridge", "--set", "n=3", "d=2", "T=1.5"), "a bound of range is 1.5"),
        (("compile", "ridge", "--set", "n=3", "d=2", "eta=nan"), "not finite"),
        (("compile", "bad.py", "--set", "n=3"), "bad.py, line 2, column 12: division by a matrix"),
        (("compile", "binary.py"), "is no text"),
        (("run", "nowhere", "--inputs", "a.npz", "--out", "b.npz"), "holds no compiled program"),
        (("run", "saved", "--inputs", "missing.npz", "--out", "b.npz"), "missing.npz does not exist"),
        (("run", "saved", "--inputs", "bad.py", "--out", "b.npz"), "can't be read as arrays by name"),
        (("run", "saved", "--inputs", "vector.npz", "--out", "b.npz"), "A vector is a matrix with one column"),
        (("run", "saved", "--inputs", "pickle.npz", "--out", "b.npz"), "can't be read as arrays by name"),
    ],
)
def test_mistakes_are_one_sentence_and_status_2(arguments, sentence, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "bad.py").write_text('def bad(X: "n n"):\n    return X / X\n')
    (tmp_path / "binary.py").write_bytes(b"\xff\xfe\x00")
    if "saved" in arguments:
        run("compile", "power", "--set", "n=2", "k=1", "--out", "saved", capsys=capsys)
        np.savez(tmp_path / "vector.npz", A=np.eye(2), V=np.ones(2))
        np.savez(tmp_path / "pickle.npz", A=np.array([{}], dtype=object))
    status, out, err = run(*arguments, capsys=capsys)
    assert status == 2 and sentence in err, err
    assert out == "" and err.count("\n") == 1 and "Traceback" not in err


def test_a_file_may_begin_with_a_mark(tmp_path):
    (tmp_path / "marked.py").write_text('def p(X: "n d"):\n    return X.T @ X\n', encoding="utf-8-sig")
    assert find(tmp_path / "marked.py").name == "p"


def test_help_does_not_import_jax():
    code = (
        "import sys\nfrom descant.cli import main\n"
        "try: main(['compile', '--help'])\nexcept SystemExit as stop: assert not stop.code, stop.code\n"
        "heavy = [m for m in ('jax', 'equinox', 'numpy', 'scipy') if m in sys.modules]\nassert not heavy, heavy"
    )
    assert "--set" in fresh(code)


INVERSE = """
def inverse(A: "n n", *, T=60):
    Z = A.T
    for t in range(T):
        Z = Z @ (2 * eye(n) - A @ Z)
    return Z, A @ Z - eye(n)
"""


def test_a_run_says_that_its_answer_is_lost(tmp_path, monkeypatch, capsys):
    """An inverse has its digits, what is left of A Z - I has none: rounding is all there is."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "inverse.py").write_text(INVERSE)
    left, right = (np.linalg.qr(np.random.default_rng(seed).standard_normal((4, 4)))[0] for seed in (0, 1))
    np.savez("A.npz", A=left @ np.diag([1, 1e-1, 1e-2, 1e-4]) @ right)
    assert run("compile", "inverse.py", "--set", "n=4", "--out", "inverse", capsys=capsys)[0] == 0
    arguments = ("run", "inverse", "--inputs", "A.npz", "--out", "result.npz", "--force")
    status, out, err = run(*arguments, capsys=capsys)
    assert status == 0 and err == "" and "no digit of it may be right" in out
    status, out, _ = run(*arguments, "--json", capsys=capsys)
    assert status == 0 and json.loads(out)["doubtful"] == {"out1": 0}
    status, out, err = run(*arguments, "--strict", capsys=capsys)
    assert status == 1 and "out1 is" in out and "Z is" not in out
    np.savez("zero.npz", A=np.zeros((4, 4)))
    calm = ("run", "inverse", "--inputs", "zero.npz", "--out", "calm.npz", "--strict")
    assert run(*calm, capsys=capsys)[0] == 0  # zero is zero, and -I is -I


def test_a_run_that_diverges_fails_and_writes_nothing(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    random = np.random.default_rng(0)
    np.savez("data.npz", X=random.standard_normal((6, 2)), y=random.standard_normal((6, 1)))
    assert run("compile", "ridge", "--set", "n=6", "d=2", "eta=9", "T=400", "--out", "wild", capsys=capsys)[0] == 0
    for flags in ((), ("--strict",), ("--json",)):
        status, out, err = run("run", "wild", "--inputs", "data.npz", "--out", "r.npz", *flags, capsys=capsys)
        assert status == 1 and "ridge diverges, or overflows, on these inputs" in err and out == ""
        assert not (tmp_path / "r.npz").exists()


def test_what_to_prefer(capsys):
    def sizes(*flags):
        status, text, err = run("compile", "ridge", "--set", "n=9", "d=2", "T=1", "--json", *flags, capsys=capsys)
        assert status == 0, err
        return json.loads(text)

    for prefer, field in (("depth", "blocks"), ("width", "columns"), ("parameters", "parameters")):
        assert sizes("--prefer", prefer)[field] <= sizes()[field]
    status, _, err = run("compile", "ridge", "--set", "n=9", "d=2", "--prefer", "beauty", capsys=capsys)
    assert status == 2 and "beauty" in err


def test_sizes_of_the_library(capsys, monkeypatch):
    few = {"ridge": {"n": 4, "d": 2, "T": 13}, "gd_beta": {"n": 4, "d": 2}}
    monkeypatch.setattr("descant.programs.studies.SETTINGS", few)
    status, text, _ = run("programs", "--sizes", "--json", capsys=capsys)
    ridge, gd_beta = json.loads(text)["programs"]
    assert status == 0 and (ridge["blocks"], ridge["least_blocks"]) == (14, 3) and ridge["by_hand"]["blocks"] == 20
    assert gd_beta["blocks"] == gd_beta["least_blocks"] == gd_beta["by_hand"]["blocks"] == 2
    status, text, _ = run("programs", "--sizes", capsys=capsys)
    assert status == 0 and "at least" in text and "gd_beta" in text
