"""Tests run in float64 with strict dtypes and ranks, warnings are errors, and shapes are checked at run time."""

import os
import random
from pathlib import Path

# Tests compile a lot and compute little: optimising every small program to the last would take most of the time.
# The newer emitters of fused loops are left out: the older ones take a third less time for programs this small.
os.environ["XLA_FLAGS"] = (
    "--xla_backend_optimization_level=1 --xla_cpu_use_fusion_emitters=false --xla_cpu_parallel_codegen_split_count=1 "
    + os.environ.get("XLA_FLAGS", "")
)
# For the processes that tests start: their numbers are compared with those of this process, to the same bits.
os.environ["JAX_DISABLE_MOST_OPTIMIZATIONS"] = "1"

import jax
import pytest

import descant
from tests.support import checked

# The rooms in which the compiler thinks: millions of calls on words and numbers, hardly an array. Checked at run time
# they would take twenty times as long; pyright looks at them.
UNCHECKED = {"language", "graph", "schedule", "weights", "as_written", "decompile", "fuzz"}


def _checked() -> list[str]:
    package = Path(descant.__path__[0])
    found = [f"descant.{each.stem}" for each in package.iterdir() if each.stem not in ("programs", "__pycache__")]
    rooms = [each.stem for each in package.glob("programs/*") if each.stem not in UNCHECKED]
    return found + [f"descant.programs.{room}" for room in rooms]


# Type-check the package while it is being tested. Must come before the first import of a room.
checked.install(_checked())

import descant.tasks  # noqa: E402
from tests.support.browser import browser  # noqa: E402, F401
from tests.support.costs import (  # noqa: E402, F401
    pytest_addoption,
    pytest_runtest_makereport,
    pytest_runtest_setup,
    pytest_sessionfinish,
    pytest_terminal_summary,
    pytest_testnodedown,
)

# Most of the time goes into compiling small programs, the same ones in both processes and in every run: keep them.
jax.config.update("jax_compilation_cache_dir", str(Path(__file__).parent.parent / ".pytest_cache" / "xla"))
jax.config.update("jax_persistent_cache_min_compile_time_secs", 0.0)
jax.config.update("jax_persistent_cache_min_entry_size_bytes", -1)
jax.config.update("jax_numpy_dtype_promotion", "strict")
jax.config.update("jax_numpy_rank_promotion", "raise")


class Keys:
    """Fresh keys from a seed that is shown when a test fails."""

    def __init__(self, seed: int):
        self.seed = seed
        self.drawn = 0

    def __call__(self):
        self.drawn += 1
        return jax.random.fold_in(jax.random.key(self.seed), self.drawn)

    def __repr__(self) -> str:
        return f"Keys(seed={self.seed}): replay with DESCANT_TEST_SEED={self.seed}"


@pytest.fixture
def keys() -> Keys:
    """Random keys; for tests that hold for every draw."""
    return Keys(int(os.environ.get("DESCANT_TEST_SEED") or random.randrange(2**31)))


@pytest.fixture(autouse=True)
def compiling(request):
    """Programs of most tests run once, as they are written; those of tests marked `optimised`, thousands of times."""
    jax.config.update("jax_disable_most_optimizations", request.node.get_closest_marker("optimised") is None)


@pytest.fixture(autouse=True)
def first_calls():
    """Types and shapes are checked anew in every test."""
    checked.forget_calls()


# Linux lets a process have 65,530 memory maps; every compiled program takes some, and beyond that LLVM crashes.
MOST_MAPS = 30_000


@pytest.fixture(autouse=True)
def few_maps():
    """Forget compiled programs before there are too many in one process; the cache on disk has them still."""
    yield
    maps = Path("/proc/self/maps")
    if maps.exists() and maps.read_bytes().count(b"\n") > MOST_MAPS:
        jax.clear_caches()


@pytest.fixture
def draw() -> random.Random:
    """Random numbers of plain Python, for moments to stop or to kill at."""
    seed = int(os.environ.get("DESCANT_TEST_SEED") or random.randrange(2**31))
    print(f"replay with DESCANT_TEST_SEED={seed}")
    return random.Random(seed)


@pytest.fixture
def relaxed():
    """Optax mixes dtypes inside; for the tests of Adam alone."""
    with jax.numpy_dtype_promotion("standard"):
        yield


@pytest.fixture
def few_draws(monkeypatch):
    """Keep every context that is drawn: shallow networks have no tails to look for."""
    from descant.training import _pool

    monkeypatch.setattr(_pool, "DRAWN_PER_KEPT", (1,))
