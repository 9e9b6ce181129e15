"""What a user's code sees of the types of an installed Descant; type-checked by `check_wheel.py`, never run."""

from typing import assert_type

import jax

from descant import LinearRegression, Risk, UniformNoise, best, risk
from descant.programs import CompiledProgram, compile_program
from descant.readout import Explanation, explain
from descant.training import Trained, make_model, train

task = LinearRegression(d=3, n=6, noise=UniformNoise(2.0))
assert_type(task, LinearRegression)
assert_type(risk(best("lsa", task), task), Risk)
assert_type(risk(best("lsa", task), task).value, float)

trained = train(make_model("lsa", task, key=jax.random.key(0)), task)
assert_type(trained, Trained)
assert_type(trained.risk.standard_error, float)
assert_type(explain(trained.model, task), Explanation)
assert_type(compile_program("ridge", n=6, d=3), CompiledProgram)
