"""Closed forms: risks, optimal parameters, gaps, head counts, gradient flow, convergence rates."""

from .. import _precision as _precision
from ..forms import (
    GapBounds as GapBounds,
    HeadSolution as HeadSolution,
    attending_risk as attending_risk,
    gd_beta_minimum as gd_beta_minimum,
    gd_beta_risk as gd_beta_risk,
    gd_risk as gd_risk,
    gram_risk as gram_risk,
    heads_needed as heads_needed,
    lsa_gap_bounds as lsa_gap_bounds,
    noiseless_oracle_risk as noiseless_oracle_risk,
    ols_risk as ols_risk,
    one_head_isotropic_minimum as one_head_isotropic_minimum,
    one_step_risk as one_step_risk,
    optimal_gamma as optimal_gamma,
    optimal_step as optimal_step,
    saturated_gap as saturated_gap,
    saturated_risk as saturated_risk,
    zero_risk as zero_risk,
)
from ._attention import (
    lsa_risk as lsa_risk,
    ltb_risk as ltb_risk,
    merge_heads as merge_heads,
    multi_head_lsa_risk as multi_head_lsa_risk,
    yq_lsa_risk as yq_lsa_risk,
)
from ._best_heads import best_heads as best_heads
from ._constant_guess import (
    best_for_constant as best_for_constant,
    constant_guess_risk as constant_guess_risk,
    large_constant_risk as large_constant_risk,
)
from ._flow import Flow as Flow, FlowBounds as FlowBounds, flow_bounds as flow_bounds, gradient_flow as gradient_flow
from ._gram_moments import (
    GramMoments as GramMoments,
    gamma_from_moments as gamma_from_moments,
    packed as packed,
    step_from_moments as step_from_moments,
)
from ._laws import affine_risk as affine_risk, known_laws as known_laws
from ._posterior_risk import PosteriorRisk as PosteriorRisk, posterior_risk as posterior_risk
from ._problem import Problem as Problem
from ._rates import (
    LayersNeeded as LayersNeeded,
    gd_best_step as gd_best_step,
    gd_error as gd_error,
    gd_plus_plus_layers_needed as gd_plus_plus_layers_needed,
    gd_plus_plus_spectrum as gd_plus_plus_spectrum,
    gd_rate as gd_rate,
    gd_steps_needed as gd_steps_needed,
)
