"""Closed forms and minimisers on plain numbers: NumPy arrays, or JAX's where they are given. Imports no JAX."""

from ._bounds import GapBounds as GapBounds, lsa_gap_bounds as lsa_gap_bounds
from ._classical import (
    noiseless_oracle_risk as noiseless_oracle_risk,
    ols_risk as ols_risk,
    zero_risk as zero_risk,
)
from ._gap import (
    heads_needed as heads_needed,
    saturated_gap as saturated_gap,
    saturated_risk as saturated_risk,
)
from ._gd_beta import (
    gd_beta_minimum as gd_beta_minimum,
    gd_beta_risk as gd_beta_risk,
    gd_risk as gd_risk,
    one_step_risk as one_step_risk,
    optimal_gamma as optimal_gamma,
    optimal_step as optimal_step,
    whitened_gamma as whitened_gamma,
)
from ._gram import (
    attending_risk as attending_risk,
    first_moment as first_moment,
    fourth_moment as fourth_moment,
    gram_risk as gram_risk,
    second_moment as second_moment,
    symmetrise as symmetrise,
    to_whitened_tokens as to_whitened_tokens,
)
from ._heads import (
    HeadSolution as HeadSolution,
    best_gaussian_heads as best_gaussian_heads,
    best_of_form as best_of_form,
)
from ._isotropic import one_head_isotropic_minimum as one_head_isotropic_minimum
from ._least_risk import least_risk as least_risk
from ._oracle import NOISY as NOISY, oracle_risk as oracle_risk
from ._problem import (
    LONGEST as LONGEST,
    AbstractProblem as AbstractProblem,
    PlainProblem as PlainProblem,
    Whitened as Whitened,
    conditioned_covariance as conditioned_covariance,
    whitening as whitening,
)
from ._quadratic import AbstractForm as AbstractForm, Matrices as Matrices, Tensor as Tensor
