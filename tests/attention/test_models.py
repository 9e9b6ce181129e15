"""Every property of attention models over the whole table of them."""

import subprocess
import sys

import equinox as eqx
import hypothesis
import hypothesis.strategies as st
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from descant import Prompt, attention as at, theory
from tests.support.models import MODELS, WRITTEN_OUT, draw_prompt, make, named, token_form

LINEAR = [name for name, entry in MODELS.items() if entry.linear]
PLAIN = [name for name in MODELS if isinstance(make(name), WRITTEN_OUT)]


def reference(model, prompt: Prompt) -> float:
    return token_form(model, prompt.x, prompt.y, prompt.x_query, prompt.guess)


@pytest.mark.parametrize("name", named(MODELS))
def test_linearity_is_declared(name):
    assert make(name).linear == MODELS[name].linear


@pytest.mark.parametrize("name", named(PLAIN))
def test_call_equals_token_by_token(name):
    prompt, model = draw_prompt(), make(name)
    np.testing.assert_allclose(model(prompt), reference(model, prompt), rtol=1e-11)


@pytest.mark.parametrize("name", named(LINEAR))
def test_moment_form_equals_token_by_token(name):
    prompt, model = draw_prompt(), make(name)
    weights = model.weights(prompt.moments())
    np.testing.assert_allclose(weights @ prompt.x_query, reference(model, prompt), rtol=1e-11)


@hypothesis.settings(max_examples=10, deadline=None)
@hypothesis.given(
    name=st.sampled_from(PLAIN),
    d=st.integers(1, 4),
    n=st.integers(1, 6),
    heads=st.sampled_from([1, 2, 5]),
    layers=st.integers(1, 3),
    seed=st.integers(0, 2**31),
)
@hypothesis.example(name="lsa", d=1, n=1, heads=1, layers=1, seed=0)
@hypothesis.example(name="full", d=4, n=2, heads=1, layers=3, seed=0)
@hypothesis.example(name="elsa", d=4, n=1, heads=1, layers=2, seed=0)
def test_every_shape(name, d, n, heads, layers, seed):
    """d = 1, n = 1, n < d, one head, many: all forms agree."""
    model, prompt = make(name, d, n, heads, layers, seed), draw_prompt(seed, d, n)
    expected = reference(model, prompt)
    scale = 1 + abs(expected)
    assert abs(eqx.filter_jit(model)(prompt) - expected) < 1e-10 * scale
    if model.linear:
        weights = eqx.filter_jit(lambda model, prompt: model.weights(prompt.moments()))(model, prompt)
        assert abs(weights @ prompt.x_query - expected) < 1e-10 * scale


@pytest.mark.parametrize("name", named([name for name, entry in MODELS.items() if entry.permutable]))
def test_order_of_the_context_does_not_matter(name):
    prompt, model = draw_prompt(), make(name)
    order = jnp.array([3, 0, 4, 2, 1])
    shuffled = Prompt(prompt.x[order], prompt.y[order], prompt.x_query, guess=prompt.guess)
    np.testing.assert_allclose(model(shuffled), model(prompt), rtol=1e-12)


@pytest.mark.parametrize("name", named([name for name, entry in MODELS.items() if not entry.permutable]))
def test_order_matters_where_it_is_said_to(name):
    prompt, model = draw_prompt(), make(name)
    shuffled = Prompt(prompt.x[::-1], prompt.y[::-1], prompt.x_query, guess=prompt.guess)
    assert abs(model(shuffled) - model(prompt)) > 1e-6


@pytest.mark.parametrize("name", named(MODELS))
def test_jit_and_vmap_agree_with_the_plain_call(name):
    model = make(name)
    prompts = [draw_prompt(seed) for seed in range(3)]
    plain = jnp.stack([model(prompt) for prompt in prompts])
    batch = jax.tree.map(lambda *leaves: jnp.stack(leaves), *prompts)
    compiled = eqx.filter_jit(lambda model, batch: jax.vmap(model)(batch))(model, batch)
    np.testing.assert_allclose(compiled, plain, rtol=1e-12)
    if MODELS[name].linear:
        weights = eqx.filter_jit(lambda model, batch: jax.vmap(lambda p: model.weights(p.moments()))(batch))(
            model, batch
        )
        np.testing.assert_allclose(jnp.sum(weights * batch.x_query, axis=1), plain, rtol=1e-11)


@pytest.mark.parametrize("name", named(MODELS))
def test_gradients_agree_with_finite_differences(name):
    """The derivative along a random direction of all parameters and of the prompt."""
    prompt = draw_prompt()
    arrays, static = eqx.partition((make(name), prompt), eqx.is_array)
    rng = np.random.default_rng(3)
    direction = jax.tree.map(lambda leaf: jnp.asarray(rng.standard_normal(leaf.shape)), arrays)

    @jax.jit
    def value(step):
        model, moved = eqx.combine(jax.tree.map(lambda a, b: a + step * b, arrays, direction), static)
        return model(moved)

    gradient = jax.grad(value)(0.0)
    h = 1e-4
    difference = (8 * (value(h) - value(-h)) - (value(2 * h) - value(-2 * h))) / (12 * h)
    np.testing.assert_allclose(gradient, difference, rtol=1e-7)


@pytest.mark.parametrize("name", named(MODELS))
def test_float32_stays_float32(name):
    double, single = make(name), make(name, dtype=jnp.float32)
    leaves = jax.tree.leaves(eqx.filter(single, eqx.is_array))
    assert {leaf.dtype for leaf in leaves} <= {jnp.dtype("float32")}
    cast = jax.tree.map(lambda leaf: leaf.astype(jnp.float32), eqx.filter(double, eqx.is_array))
    rounded = eqx.combine(cast, double)
    answer = rounded(draw_prompt(dtype=jnp.float32))
    assert answer.dtype == jnp.float32
    np.testing.assert_allclose(answer, double(draw_prompt()), rtol=2e-4, atol=1e-6)


@pytest.mark.parametrize("name", named([name for name, entry in MODELS.items() if entry.rotates]))
def test_rotated_inputs_rotate_the_weights(name):
    prompt, model = draw_prompt(), make(name)
    turn = jnp.asarray(np.linalg.qr(np.random.default_rng(1).standard_normal((3, 3)))[0])
    turned = Prompt(prompt.x @ turn.T, prompt.y, prompt.x_query)
    np.testing.assert_allclose(
        model.weights(turned.moments()), turn @ model.weights(prompt.moments()), rtol=1e-11, atol=1e-13
    )


@pytest.mark.parametrize("name", ["full", "yq-lsa", "ltb"])
def test_rotation_changes_other_models(name):
    prompt, model = draw_prompt(), make(name)
    turn = jnp.asarray(np.linalg.qr(np.random.default_rng(1).standard_normal((3, 3)))[0])
    turned = Prompt(prompt.x @ turn.T, prompt.y, turn @ prompt.x_query)
    assert abs(model(turned) - model(prompt)) > 1e-6


@pytest.mark.parametrize("name", named(LINEAR))
def test_a_million_tokens_in_bounded_memory(name):
    """At d = 32 and n = 1,000,000 a compiled call may hold chunks and Gram matrices, nothing of the context's size."""
    model = make(name, d=32, n=20)
    shapes = ((1_000_000, 32), (1_000_000,), (32,))
    arrays = [jax.ShapeDtypeStruct(shape, jnp.float64) for shape in shapes]
    guess = jax.ShapeDtypeStruct((), jnp.float64)
    compiled = jax.jit(lambda x, y, q, g: model(Prompt(x, y, q, guess=g))).lower(*arrays, guess).compile()
    assert compiled.memory_analysis().temp_size_in_bytes < 16 * 2**20


def test_long_contexts_are_summed_right():
    """More tokens than one chunk, and not a whole number of chunks; as one array, and in pieces."""
    rng = np.random.default_rng(0)
    x, y = rng.standard_normal((10_001, 4)), rng.standard_normal(10_001)
    tokens = np.column_stack([x, y])
    prompt = Prompt(jnp.asarray(x), jnp.asarray(y), jnp.ones(4))
    np.testing.assert_allclose(prompt.moments().gram, tokens.T @ tokens, rtol=1e-11, atol=1e-9)
    pieces = [(jnp.asarray(x[a:b]), jnp.asarray(y[a:b])) for a, b in ((0, 3), (3, 6000), (6000, 10_001))]
    streamed = type(prompt.moments()).of_chunks(pieces)
    assert streamed.n == 10_001
    np.testing.assert_allclose(streamed.gram, prompt.moments().gram, rtol=1e-11, atol=1e-9)
    with pytest.raises(ValueError, match="chunks is empty"):
        type(prompt.moments()).of_chunks([])


def test_theorem_4_1_and_its_recursion():
    """Tokens of a FULL network with 3 heads and 5 layers are what (M, u, a, w) say, layer by layer."""
    d, n = 4, 9
    model = at.Full.random(d, 5, 3, key=jax.random.key(1), scale=0.6)
    prompt = draw_prompt(2, d, n)
    states = at.layer_states(model, prompt.moments())
    history = model.tokens(prompt)
    assert float(jnp.abs(states.w[-1]).max()) > 0.1, "the network should do something"
    for layer in range(6):
        m, u, a, w = states.m[layer], states.u[layer], states.a[layer], states.w[layer]
        x = prompt.x @ m.T + jnp.outer(prompt.y, u)
        y = a * prompt.y - prompt.x @ w
        expected = jnp.vstack([jnp.column_stack([x, y]), jnp.append(m @ prompt.x_query, -w @ prompt.x_query)[None]])
        size = float(jnp.abs(expected).max())
        np.testing.assert_allclose(history[layer], expected, rtol=0, atol=1e-12 * size)
    np.testing.assert_allclose(states.w[-1], model.weights(prompt.moments()), rtol=1e-11)


def test_elsa_without_bias_is_lsa():
    """(H W3)(H W1)^T(H W2) is LSA with an attending query and no 1/n, U = W1 W3^T, v the answer's column of W2."""
    block = at.ELSABlock.random(6, 4, 3, key=jax.random.key(0), bias=False, residual=False)
    prompt = draw_prompt()
    h = jnp.concatenate([jnp.column_stack([prompt.x, prompt.y]), jnp.append(prompt.x_query, 0.0)[None]])
    lsa = at.LSA(block.w2[:, :, -1], block.w1 @ jnp.swapaxes(block.w3, 1, 2), query_masked=False, normalized=False)
    np.testing.assert_allclose(block(h)[-1, -1], lsa(prompt), rtol=1e-12)
    zero = jnp.zeros((3, 6, 4))
    with_zero_bias = at.ELSABlock(block.w1, block.w2, block.w3, zero, zero, zero)
    np.testing.assert_allclose(with_zero_bias(h), block(h), rtol=1e-13)


@pytest.mark.parametrize(("rows", "columns"), [(200, 4), (4, 200), (7, 7), (1, 3), (3, 1)])
def test_elsa_takes_the_cheaper_order_of_products(rows, columns):
    """No matrix of the larger size squared appears, and the result is that of the plain formula."""
    block = at.ELSABlock.random(rows, columns, 2, key=jax.random.key(0))
    assert block.b1 is not None
    assert block.b2 is not None
    assert block.b3 is not None
    h = jax.random.normal(jax.random.key(1), (rows, columns))
    products = [e for e in jax.make_jaxpr(block)(h).eqns if e.primitive.name == "dot_general"]
    squares = [e.outvars[0].aval.shape for e in products if e.outvars[0].aval.shape.count(max(rows, columns)) > 1]
    assert rows == columns or not squares
    expected = h + sum(
        (h @ block.w3[k] + block.b3[k]) @ (h @ block.w1[k] + block.b1[k]).T @ (h @ block.w2[k] + block.b2[k])
        for k in range(2)
    )
    np.testing.assert_allclose(block(h), expected, rtol=1e-10, atol=1e-10)


def test_one_head_couples_the_omegas_and_two_free_them():
    one = at.Diag.random(3, 1, key=jax.random.key(0)).omegas()
    np.testing.assert_allclose(one[:, 0, 0] * one[:, 1, 1], one[:, 0, 1] * one[:, 1, 0], rtol=1e-12)
    free = at.FreeDiag.random(3, key=jax.random.key(0), scale=0.1)
    p, q = free.dense(2)
    two = at.Diag(*(jnp.asarray(part) for part in (p[:, :, 0, 0], p[:, :, 2, 2], q[:, :, 0, 0], q[:, :, 2, 2])))
    np.testing.assert_allclose(two.omegas(), free.omegas(), rtol=1e-12)


def test_a_diagonal_layer_is_the_step_of_the_notes():
    """docs/theory/stack.md: a preconditioned gradient step, a momentum, a shrinkage; and what GD++ does to inputs."""
    prompt = draw_prompt(d=3, n=7)
    x, y = np.asarray(prompt.x), np.asarray(prompt.y)
    model = at.Diag.random(3, 2, key=jax.random.key(3), scale=0.2)
    held = at.layer_states(model, prompt.moments())
    states = (held.m, held.u, held.a, held.w)
    for layer, ((xx, xy), (yx, yy)) in enumerate(np.asarray(model.omegas())):
        m, u, a, w = (np.asarray(part[layer]) for part in states)
        r, size = a * x.T @ y - x.T @ x @ w, a * y @ y - w @ x.T @ y
        alpha, inputs, labels = m @ r + size * u, x @ m.T + np.outer(y, u), a * y - x @ w
        push = np.eye(3) + xx * inputs.T @ inputs
        expected = (
            push @ m - xy * np.outer(alpha, w),
            push @ u + a * xy * alpha,
            (1 + yy * labels @ labels) * a + yx * alpha @ u,
            w - yx * m.T @ m @ r - yx * size * m.T @ u + yy * labels @ labels * w,
        )
        for after, part in zip(states, expected, strict=True):
            np.testing.assert_allclose(after[layer + 1], part, rtol=1e-10, atol=1e-12)
    falls = np.array([0.02, 0.05])
    after = at.layer_states(at.GDPlusPlusTransformer(-jnp.asarray(falls), jnp.ones(2)), prompt.moments()).m
    spectra = [np.linalg.eigvalsh(m @ x.T @ x @ m.T) for m in np.asarray(after)]
    for found, told in zip(spectra, theory.gd_plus_plus_spectrum(spectra[0], falls), strict=True):
        np.testing.assert_allclose(found, np.sort(told), rtol=1e-9)


def test_axial_networks_rotate_about_their_axes_and_no_others():
    prompt, axes = draw_prompt(d=4), 2
    model = at.Axial.random(2, 2, axes, key=jax.random.key(0), scale=0.1)

    def turned(first, second):
        turn = jnp.eye(4).at[jnp.array([first, second]), jnp.array([second, first])].set(jnp.array([1.0, -1.0]))
        turn = turn.at[first, first].set(0.0).at[second, second].set(0.0)
        return model(Prompt(prompt.x @ turn, prompt.y, prompt.x_query @ turn))

    expected = model(prompt)
    np.testing.assert_allclose(turned(0, 1), expected, rtol=1e-12)
    assert abs(turned(0, 3) / expected - 1) > 1e-3


def test_axial_networks_contain_diag():
    prompt = draw_prompt(d=4)
    diag = at.Diag.random(3, 2, key=jax.random.key(0))
    for axes in (1, 4):
        np.testing.assert_allclose(at.Axial.from_diag(diag, axes)(prompt), diag(prompt), rtol=1e-12)


def test_deep_stacks_are_loops():
    """A tied network of a thousand layers compiles to a program no longer than one of ten."""

    def length(depth):
        model = at.GDPlusPlusTransformer(jnp.zeros(1), -jnp.full(1, 0.01), depth=depth)
        return len(str(jax.make_jaxpr(lambda p: model(p))(draw_prompt())))

    assert length(1000) < 1.2 * length(10)


BAD = [
    (lambda: at.LSA(jnp.zeros((0, 3)), jnp.zeros((0, 3, 3))), r"v has shape \(0, 3\)"),
    (
        lambda: at.LSA(jnp.zeros((1, 3)), jnp.zeros((1, 3, 3)), at.LinearGuess(jnp.zeros(5))),
        r"guess.g has shape \(5,\)",
    ),
    (lambda: at.LSA.random(3, 0, key=jax.random.key(0)), "heads is 0"),
    (lambda: at.Full.random(3, 0, key=jax.random.key(0)), "layers is 0"),
    (lambda: at.FreeDiag(*[jnp.zeros(2)] * 4, depth=3), "tied layers share a single one"),
    (lambda: at.Diag(*[jnp.zeros((2, 0))] * 4), r"p_x has shape"),
    (lambda: at.Axial.random(1, 1, 3, key=jax.random.key(0))(draw_prompt(d=2)), "d is 2; expected at least 3"),
    (lambda: at.Axial.random(1, 1, 0, key=jax.random.key(0)), "axes is 0"),
    (lambda: at.ELSA([]), "blocks is empty"),
    (lambda: at.SoftmaxTransformer(3, width=10, heads=4, key=jax.random.key(0)), "share evenly"),
    (lambda: at.SoftmaxTransformer(3, mlp="tanh", key=jax.random.key(0)), "mlp is 'tanh'"),
    (lambda: make("lsa given guess")(Prompt(jnp.zeros((5, 3)), jnp.zeros(5), jnp.zeros(3))), "has no guess"),
    (lambda: make("lsa attending").weights(draw_prompt().moments()), "query attends is not linear"),
    (lambda: make("lsa constant guess").weights(draw_prompt().moments()), "ConstantGuess is not linear"),
    (lambda: make("elsa")(draw_prompt(n=7)), r"b1 has shape .* 8 rows"),
    (lambda: make("elsa")(draw_prompt(d=9)), "holds at most d = 3"),
    (lambda: make("softmax positions")(draw_prompt(n=7)), "positions for 5"),
    (lambda: make("full").gram_affine(3, 5), "2 layers is not affine"),
]


@pytest.mark.parametrize(("call", "sentence"), BAD, ids=[sentence for _, sentence in BAD])
def test_bad_input_is_refused_in_a_sentence(call, sentence):
    with pytest.raises(ValueError, match=sentence):
        call()


@pytest.mark.parametrize(
    "name", [name for name, entry in MODELS.items() if not entry.rotates and not name.startswith(("axial", "elsa"))]
)
def test_inputs_of_another_dimension_are_refused(name):
    """Whether the model was loaded from the wrong file or the prompt is another one's."""
    with pytest.raises(ValueError, match="made for inputs of dimension 3; these have dimension 4"):
        make(name, d=3)(draw_prompt(d=4))


def test_wrong_shapes_are_refused_without_run_time_type_checks():
    """A user has no jaxtyping hook: the classes' own checks must speak."""
    program = """
import jax.numpy as jnp
from descant import attention as at
z = jnp.zeros
for make in (
    lambda: at.LSA(z((1, 3)), z((2, 3, 3))),
    lambda: at.MergedLTB(z(3), z((3, 3)), z(2)),
    lambda: at.LTB(z((2, 3)), z((1, 3)), z((2, 3)), z((2, 3)), z((2, 3)), z((2, 3))),
    lambda: at.LTB(z((2, 3)), z((2, 3)), z((2, 4)), z((2, 4)), z((2, 3)), z((2, 3))),
    lambda: at.Full(z((1, 1, 3, 3)), z((2, 1, 3, 3))),
    lambda: at.Full(z((3, 3)), z((3, 3))),
    lambda: at.FreeDiag(z(2), z(2), z(2), z(3)),
    lambda: at.Axial(z((2, 1)), z((2, 1, 3, 3)), z((2, 1)), z((2, 1, 2, 2))),
    lambda: at.Axial(z((2, 1)), z((2, 1, 1, 1)), z((2, 1)), z((2, 1, 1, 1))),
    lambda: at.GDPlusPlusTransformer(z((2, 2)), z((2, 2))),
    lambda: at.ELSABlock(z((1, 3, 3)), z((1, 3, 3)), z((2, 3, 3))),
    lambda: at.ELSABlock(z((1, 3, 3)), z((1, 3, 3)), z((1, 3, 3)), z((1, 4, 3)), z((1, 5, 3))),
    lambda: at.ELSA([at.ELSABlock(*[z((1, c, c))] * 3) for c in (3, 4)]),
    lambda: at.LinearGuess(z((2, 2))),
):
    try:
        make()
    except ValueError as error:
        assert "expected" in str(error), error
    else:
        raise SystemExit("accepted")
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
