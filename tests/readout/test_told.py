"""Words for odd numbers: steps and penalties below zero, momenta of nothing, matrices that turn, negative shares."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from descant import LinearRegression, attention as at, estimators as es
from descant.programs import compile_program
from descant.readout import Explanation, Layer, Linearity, Match, Share, explain
from descant.readout._contexts import Contexts
from descant.readout._exact import exact_match
from descant.readout._explanation import Estimate, OneStep
from descant.readout._layers import layers_of
from descant.readout._match import chosen
from descant.readout._regression import Fit
from descant.readout._spelled import called, give, parameters
from descant.readout._trace import traced
from descant.readout._words import layer_sentence, more_sentences, whole_sentence

D, N = 2, 10


@pytest.fixture(scope="module")
def contexts():
    return Contexts.draw(LinearRegression(D, N, noise=0.5), 64, jax.random.key(0), tokens=True)


def told(model, contexts) -> str:
    """What the weights say."""
    match = exact_match(traced(model, contexts), contexts)
    assert match is not None
    return f"{called(match)}: {parameters(match)}"


def test_steps_up_the_gradient_keep_their_sign_where_the_name_does_not_say_it(contexts):
    up = at.GDPlusPlusTransformer(jnp.array([-0.02, 0.0]), jnp.array([0.03, 0.03]))
    assert told(up, contexts) == "GD++: 2 steps of sizes -0.3, -0.3, up the gradient, contractions 0.2, 0"
    ball = compile_program("momentum", n=N, d=D, T=3, eta=-0.03, mu=0.3, lam=0.0)
    assert told(ball, contexts) == "heavy ball: 3 steps of size -0.3, up the gradient, momentum 0.3"


def test_a_step_that_may_be_positive_is_not_said_to_go_up():
    fitted = {"step": [-0.1, 0.7], "contraction": [0.1, 0.0], "steps": 2}
    match = Match("GD++", "", fitted, 3, Share(0.995, 0.0), errors={"step": [0.2, 0.01], "contraction": [0.0, 0.0]})
    assert parameters(match) == "2 steps of sizes -0.1 ± 0.2, 0.70 ± 0.01, contractions 0.1, 0"
    clear = {"step": [0.02, 0.01], "contraction": [0.0, 0.0]}
    words = parameters(Match("GD++", "", fitted, 3, Share(0.995, 0.0), errors=clear))
    assert "where a negative one goes up the gradient" in words


def test_a_negative_penalty_grows(contexts):
    model = compile_program("ridge", n=N, d=D, T=3, eta=0.02, lam=-0.5)
    assert told(model, contexts) == "gradient descent on the ridge loss: 3 steps of size 0.2, penalty -0.5"
    _, second, third = (layer_sentence(each) for each in layers_of(traced(model, contexts), contexts))
    for words in (second, third):
        assert "grown by 1% " in words and "momentum" not in words, words


def test_at_the_second_step_momentum_and_shrinkage_are_one(contexts):
    model = compile_program("momentum", n=N, d=D, T=3, eta=0.03, mu=0.3, lam=0.5)
    _, second, third = (layer_sentence(each) for each in layers_of(traced(model, contexts), contexts))
    assert "with momentum less shrinkage 0.285, which are one at a second step from zero" in second
    assert "with momentum 0.3, shrunk by 1.5% " in third


def test_steps_that_are_nearly_alike_are_not_heavy_ball(contexts):
    model = at.gd_as_transformer(es.GD(jnp.zeros(D), [0.3, 0.31, 0.29]), n=N)
    assert told(model, contexts) == "gradient descent: 3 steps of sizes 0.3, 0.31, 0.29"


def test_a_matrix_that_turns_is_not_told_by_eigenvalues(contexts):
    turn = at.gd_as_lsa(es.PreconditionedGD(jnp.array([[0.0, 0.5], [-0.4, 0.0]])))
    assert told(turn, contexts).endswith("a matrix that is not symmetric, with singular values from 0.4 to 0.5")
    sound = at.gd_as_lsa(es.PreconditionedGD(jnp.array([[-0.5, 0.1], [0.1, -0.5]])))
    assert told(sound, contexts).endswith("a matrix with eigenvalues from -0.6 to -0.4")


@pytest.mark.parametrize("share", [-0.4, 0.08])
def test_what_is_no_better_than_a_constant_is_near_nothing(share):
    match = Match("gradient descent", "", {"step": 0.1, "steps": 1}, 1, Share(share, 0.05))
    estimators = (Estimate("gd", match.share),)
    found = Explanation("the network", "", 64, 0.0, "none of these", "", match=match, estimators=estimators)
    assert whole_sentence(found) == "the network is none of the algorithms that we know (nor near any)."
    assert "None of the estimators that we know is near it." in more_sentences(found)


def test_a_number_has_the_digits_that_its_error_leaves():
    given = (give(-0.001, 0.0961), give(16.62, 0.96, "%"), give(0.0499, 0.0096), give(-3.0, 1.0), give(0.0, 2e-12))
    assert given == ("0.0 ± 0.1", "17% ± 1%", "0.05 ± 0.01", "-3 ± 1", "0 ± 2e-12")
    assert not np.signbit(float(give(-1e-9, 0.1).partition(" ")[0]))


def test_the_best_is_the_best():
    def match(name, numbers, share, error=0.01):
        return Match(name, "", {"step": 0.1, "steps": 1}, numbers, Share(share, error))

    many, few = match("GD++", 3, 0.41), match("gradient descent", 1, 0.02)
    assert chosen((many, few)) is many
    # As good to the standard error, or near, too: then the one of fewer numbers.
    assert chosen((many, few := match("gradient descent", 1, 0.405))) is few
    assert chosen((match("GD++", 3, 0.996), few := match("gradient descent", 1, 0.993))) is few
    assert chosen((many := match("GD++", 3, 0.994), match("gradient descent", 1, 0.989))) is many


def layer(**told):
    return Layer("layer 2", 0.3, 0.0, **{"share": Share(1.0, 0.0), "size": 1.0, **told})


def test_every_level_has_its_own_way():
    turned = layer(shrinkage=((1.0, -0.05, 0.001), (3.0, 0.12, 0.002)), damping=((1.0, 0.04, 0.0), (3.0, -0.08, 0.0)))
    words = layer_sentence(turned)
    assert "shrunk by 12.0% ± 0.2% at σ = 3 and grown by 5.0% ± 0.1% at σ = 1" in words
    assert "; it amplifies the labels by 8% at σ = 3 and damps the labels by 4% at σ = 1" in words
    # What may as well be zero has no way of its own.
    still = layer_sentence(layer(shrinkage=((1.0, -0.001, 0.001), (3.0, 0.12, 0.002))))
    assert "shrunk by 12.0% ± 0.2% at σ = 3 and -0.1% ± 0.1% at σ = 1" in still


def test_a_share_below_zero_explains_nothing():
    assert "explains nothing of its update" in layer_sentence(layer(share=Share(-3.0, 0.2)))


def test_a_layer_that_may_as_well_go_down_is_not_said_to_go_up():
    told = {"size": 1.0, "share": Share(0.3, 0.1)}
    assert "the best one, of size -0.007 ± 0.008, explains" in layer_sentence(Layer("layer 1", -0.007, 0.008, **told))
    assert "the best one, an ascent of size 0.07 ± 0.01, ex" in layer_sentence(Layer("layer 1", -0.07, 0.01, **told))


def test_a_network_that_is_no_single_step_is_not_set_beside_the_best():
    key = jax.random.key(1)
    found = explain(
        at.Full.random(D, layers=2, heads=2, key=key, scale=0.12), LinearRegression(D, N, noise=0.5), contexts=64
    )
    assert found.verdict == "none of these" and "gamma" in found.match.parameters, found.text
    assert found.one_step is None


def test_a_matrix_is_told_by_powers_where_it_is_made_of_them():
    powers = Fit(("I", "S", "S²"), (0.1, -0.2, 0.03), (0.0, 0.0, 0.0), Share(0.3, 0.02))
    words = layer_sentence(layer(before=powers))
    assert "S²" not in words and "not made of powers of S (they explain 30% ± 2% of" in words, words


def test_of_answers_that_are_not_linear_the_linear_part_is_told():
    facts = {"match": Match("gradient descent", "", {"step": 0.1, "steps": 1}, 1, Share(0.992, 0.001))}
    bent = Explanation("the network", "", 64, 0.0, "is nearly", "", **facts, linearity=Linearity(Share(0.95, 0.01), 16))
    assert whole_sentence(bent).startswith("the linear part of the network is nearly gradient descent")
    assert "99.2% ± 0.1% of it, with" in whole_sentence(bent)
    straight = dataclasses.replace(bent, linearity=Linearity(Share(0.999, 0.0), 16))
    assert "linear part" not in whole_sentence(straight)
    none = dataclasses.replace(
        bent, verdict="none of these", match=dataclasses.replace(facts["match"], share=Share(0.97, 0.01))
    )
    assert "(best: gradient descent, 97% ± 1% of its linear part)" in whole_sentence(none)
    exact = dataclasses.replace(straight, verdict="is")
    assert whole_sentence(exact).startswith("the linear part of the network is gradient descent")


def test_an_estimator_that_a_model_is_and_what_is_neither_start_nor_gamma():
    step = OneStep((0.0,), ((1.0,),), 0.3, (0.0,), ((1.0,),), 0.0, 0.02)
    facts = {"match": Match("ridge regression", "", {"penalty": 1.0}, 1, Share(0.9, 0.01)), "one_step": step}
    ridge = Explanation(
        "x", "", 64, 0.0, "none of these", "its weights", **facts, estimators=(Estimate("ridge", Share(1.0, 0.0)),)
    )
    assert "It answers as the estimator ridge does, to rounding." in more_sentences(ridge)
    assert "30% of its weights (squares) are neither start nor Gamma." in more_sentences(ridge)
