"""Each claim of the ELSA paper stands as it is, and falls when its experiment is broken."""

from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from descant.claims.elsa import _training
from descant.claims.elsa._descent import draw
from descant.claims.elsa._formula import drawn, output
from descant.claims.elsa._problems import ETA, LAM, SIGMA, best_step, gradient_step, regression
from descant.claims.elsa._training import Settings
from descant.claims.elsa.blocks_per_step import floor, natural
from descant.claims.elsa.degree import skip_floor
from descant.claims.elsa.properties_2_3 import printed_form_misses
from descant.claims.elsa.scale import scaled, stable_below
from descant.programs.paper import times
from tests.support.claims_lab import Planted, cases, see

HOME = "descant.claims.elsa"
SHORT = Settings(steps=200, batch=64, rate=0.03, seeds=16, every=50)


def _without_training(train):
    """Networks that were never trained: a step size of next to nothing."""
    return lambda problem, kind, settings, key, scales=(): train(
        problem, kind, replace(settings, rate=1e-9), key, scales
    )


def _one_column_left(broken):
    """Nothing broken but the last argument of a primitive: the block lands one column to the left."""
    return lambda *args: broken(*args[:-1], args[-1] - 1)


def _few_problems(steps):
    return {f"{HOME}.ridge.SIZES": ((3, 2), (5, 3)), f"{HOME}.ridge.DRAWS": 1, f"{HOME}.ridge.STEPS": steps}


def _short(*names, steps=200):
    return {
        **{f"{HOME}.{name}": replace(SHORT, steps=steps) for name in names},
        f"{HOME}._training.TESTED": 4096,
        f"{HOME}._found.PLAIN_SEEDS": 2,
    }


PLANTED = [
    Planted("elsa-property-1", f"{HOME}.property_1.mask_and_move", lambda move: lambda s, p, a, b: move(s, p, 0, b)),
    Planted("elsa-property-2", f"{HOME}.properties_2_3.constant", lambda constant: lambda c: constant(-c)),
    # Twice the input.
    Planted(
        "elsa-property-3",
        f"{HOME}.properties_2_3.skip",
        lambda skip: lambda m, n: times(2 * jnp.eye(n), m),
    ),
    # Matrices of one rank more than the biases have rows.
    Planted(
        "elsa-property-3-shapes",
        f"{HOME}.properties_2_3.printed_form_misses",
        lambda misses: lambda m, n, random: misses(m + 1, n, random),
    ),
    Planted("elsa-skip-any-shape", f"{HOME}.properties_2_3.times", lambda times: lambda q, m: times(q.T, m)),
    Planted("elsa-property-4", f"{HOME}.products.product_ab", _one_column_left),
    Planted("elsa-three-matrices", f"{HOME}.products.product_abtc", _one_column_left),
    Planted(
        "elsa-ridge-lsa",
        f"{HOME}.ridge.ridge_as_lsa",
        lambda ridge: lambda *a, lam, **k: ridge(*a, lam=1.01 * lam, **k),
        smaller=_few_problems(12),
    ),
    Planted(
        "elsa-ridge-elsa",
        f"{HOME}.ridge.ridge_as_elsa",
        lambda ridge: lambda *a, eta, **k: ridge(*a, eta=1.01 * eta, **k),
        smaller=_few_problems(12),
    ),
    Planted(
        "elsa-single-step",
        f"{HOME}.single_step.ridge_as_elsa",
        # A penalty that is left out.
        lambda ridge: lambda *a, lam, **k: ridge(*a, lam=0.0, **k),
        smaller={f"{HOME}.single_step.DRAWS": 2},
    ),
    Planted(
        "elsa-convergence",
        f"{HOME}.convergence.ridge_as_elsa",
        # A step size that is one in a million too large.
        lambda ridge: lambda *a, eta, **k: ridge(*a, eta=(1 + 1e-6) * eta, **k),
        smaller={f"{HOME}.convergence.CONDITIONS": (1000, 1_000_000), f"{HOME}.convergence.ITERATIONS": (1, 20)},
    ),
    Planted(
        "elsa-input-format",
        f"{HOME}.input_format.input_format",
        # A network that takes no notice of where its variables are.
        lambda study: lambda: [replace(each, fixed=None if each.fixed is None else 0.0) for each in study()],
    ),
    Planted(
        "elsa-parameters",
        f"{HOME}.parameters.count",
        # Biases counted as square as the weights: what "twice as many" would need.
        lambda count: lambda block: count(block) if block.b1 is None else 2 * 3 * block.w1.size,
    ),
    Planted(
        "elsa-four-factors",
        f"{HOME}.degree.output",
        # A block of degree four.
        lambda output: lambda block, h: output(block, h) * (1 + h[:1, :1]),
        smaller={f"{HOME}.degree.FACTORS": (4,)},
    ),
    Planted("elsa-plain-cubic", f"{HOME}.degree.drawn", lambda drawn: lambda *a, bias, **k: drawn(*a, **k)),
    Planted(
        "elsa-blocks-per-step",
        f"{HOME}.blocks_per_step.carried",
        # The penalty is not taken off the residual that is carried.
        lambda carried: lambda n, d, eta, lam: carried(n, d, eta, 0.0),
        smaller={f"{HOME}.blocks_per_step.SIZES": ((4, 2),), f"{HOME}.blocks_per_step.DRAWS": 1},
    ),
    Planted(
        "elsa-scale",
        f"{HOME}.scale.stable_below",
        # The penalty left out of the threshold, and the step size doubled.
        lambda below: lambda problem: below(problem._replace(eta=2 * problem.eta)),
        smaller={f"{HOME}.scale.SCALES": (0.3, 1.0)},
    ),
    Planted("elsa-trained-ab", f"{HOME}._found.train", _without_training, smaller=_short("trained_products.SETTINGS")),
    Planted("elsa-trained-atb", f"{HOME}._found.train", _without_training, smaller=_short("trained_products.SETTINGS")),
    Planted(
        "elsa-trained-step",
        f"{HOME}._found.train",
        _without_training,
        smaller=_short("trained_descent.STEP", steps=500),
    ),
    Planted("elsa-trained-ridge", f"{HOME}._found.train", _without_training, smaller=_short("trained_descent.RIDGE")),
    Planted("elsa-equal-size", f"{HOME}._found.train", _without_training, smaller=_short("equal_size.SETTINGS")),
]
QUICK = ("elsa-property-1", "elsa-property-3", "elsa-property-4", "elsa-parameters", "elsa-blocks-per-step")


@pytest.mark.parametrize("planted", cases(PLANTED, *QUICK))
def test_the_claim_is_judged_and_a_planted_error_is_seen(planted, monkeypatch, tmp_path):
    see(monkeypatch, planted, tmp_path)


@pytest.mark.parametrize(("m", "n"), [(1, 5), (3, 4), (4, 4), (6, 2)])
def test_the_printed_skip_connection_misses_what_its_rank_leaves(m, n):
    assert printed_form_misses(m, n, np.random.default_rng(m)) == pytest.approx(max(0.0, 1 - m / n), abs=1e-13)


@pytest.mark.parametrize(("m", "n"), [(1, 1), (2, 3), (4, 2)])
def test_what_cubic_forms_miss_of_h_by_sampling(m, n):
    # The two forms that are equivariant under rotations from both sides: H H^T H and tr(H^T H) H.
    h = np.random.default_rng(0).standard_normal((200_000, m, n))
    gram = np.swapaxes(h, 1, 2) @ h
    forms = np.stack([(h @ gram).ravel(), (np.trace(gram, axis1=1, axis2=2)[:, None, None] * h).ravel()], axis=1)
    rest = (h.ravel() - forms @ np.linalg.lstsq(forms, h.ravel())[0]).reshape(len(h), -1) ** 2
    each = rest.mean(axis=1)
    assert each.mean() == pytest.approx(skip_floor(m, n), abs=4 * each.std() / np.sqrt(len(each)))


@pytest.mark.parametrize(("n", "d"), [(4, 2), (3, 3), (5, 1)])
def test_what_one_block_misses_of_a_gradient_step_by_sampling(n, d):
    # Everything one block can have in the row of w_1, fitted by least squares.
    random, size = np.random.default_rng(0), 40_000
    x, w, task = (random.standard_normal(shape) for shape in ((size, n, d), (size, d), (size, d)))
    y = np.einsum("knd,kd->kn", x, task) + SIGMA * random.standard_normal((size, n))
    residual = np.einsum("knd,kd->kn", x, w) - y
    answer = (w - ETA * (np.einsum("knd,kn->kd", x, residual) + LAM * w))[:, 0]
    samples = np.concatenate([x, y[:, :, None]], axis=2)
    gram = np.einsum("kna,knb->kab", samples, samples)[:, *np.triu_indices(d + 1)]
    squares = np.concatenate([gram, np.sum(w**2, axis=1)[:, None]], axis=1)
    ones = np.ones((size, 1))
    right = np.concatenate([squares, samples.reshape(size, -1), w, ones], axis=1)
    features = np.concatenate([right, w[:, :1] * right], axis=1)
    rest = (answer - features @ np.linalg.lstsq(features, answer)[0]) ** 2
    error = rest.std() / np.sqrt(size)
    wanted = ETA**2 * (d - 1) * n
    # The fit to a finite sample lowers it by about the share of fitted numbers.
    assert rest.mean() == pytest.approx(wanted, abs=4 * error + wanted * features.shape[1] / size + 1e-20)
    square = np.mean(answer**2)
    assert floor(n, d, ETA, LAM, SIGMA) == pytest.approx(wanted / square, rel=0.05, abs=1e-12)


@pytest.mark.parametrize("residual", [False, True])
def test_the_two_forms_of_a_layer_agree(residual):
    random = np.random.default_rng(0)
    for m, n in ((3, 5), (5, 3)):
        block, h = drawn(m, n, random, residual=residual), random.standard_normal((m, n))
        assert output(block, h) == pytest.approx(np.asarray(block(jnp.asarray(h))), rel=1e-12, abs=1e-12)


def test_the_natural_input_is_the_constructions_own():
    problem = draw(5, 2, np.random.default_rng(0))
    constructed = gradient_step(5, 2)
    assert natural(problem, np.zeros(2)).shape == (constructed.rows, constructed.columns)


@pytest.mark.parametrize("bounded", [False, True])
def test_the_constructed_step_has_the_best_step_size(bounded):
    problem = regression(bounded=bounded)
    numbers = jax.random.normal(jax.random.key(0), (200_000, problem.numbers))
    h, answer = jax.vmap(problem.place)(numbers)
    first = np.einsum("kd,knd,kn->k", h[:, -1, :2], h[:, :-1, :2], h[:, :-1, 2])
    products, squares = first * np.asarray(answer)[:, 0, 0], first**2
    fitted = products.mean() / squares.mean()
    error = np.std(products - fitted * squares) / np.sqrt(len(first)) / squares.mean()
    wanted = best_step(3, 2, 1.8 if bounded else 3.0)
    assert fitted == pytest.approx(wanted, abs=4 * error)
    by_hand = problem.read(problem.constructed(h[0]))[0, 0]
    assert by_hand == pytest.approx(wanted * first[0], rel=1e-12)


def test_descent_grows_from_the_threshold_on():
    problem = draw(6, 3, np.random.default_rng(0))
    for factor, grows in ((0.999, False), (1.001, True)):
        changed = scaled(problem, factor * stable_below(problem))
        step = np.eye(3) - problem.eta * (changed.x.T @ changed.x + problem.lam * np.eye(3))
        assert bool(np.abs(np.linalg.eigvalsh(step)).max() > 1) is grows


def test_mirrored_inputs_are_mirrored(monkeypatch):
    monkeypatch.setattr(_training, "TESTED", 8)
    for problem in (gradient_step(), regression(), regression(bounded=False)):
        numbers = _training._tested(problem, jax.random.key(0))
        h = jax.vmap(lambda each, p=problem: p.place(each)[0])(numbers)
        assert h[:8] == pytest.approx(-h[8:])
