"""Training: objectives, solvers, and the way from simple networks to deep ones."""

from .. import _precision as _precision
from .._trainer import State as State, Trainer as Trainer, to_end as to_end
from ..attention import (
    MOST_STARTS as MOST_STARTS,
    RANDOM_STARTS as RANDOM_STARTS,
    Level as Level,
    deepened as deepened,
    make_model as make_model,
    plan as plan,
    random_start as random_start,
)
from ._adam import AdamTrainer as AdamTrainer
from ._descent import at_rest as at_rest, constant as constant, cosine as cosine, descend as descend
from ._display import Display as Display, References as References
from ._flat import flatten as flatten, rebuild as rebuild
from ._lm import LMTrainer as LMTrainer
from ._objective import OBJECTIVES as OBJECTIVES, batch_loss as batch_loss, sample_loss as sample_loss
from ._population import PopulationTrainer as PopulationTrainer, population_risk as population_risk
from ._solver import SOLVERS as SOLVERS, Solver as Solver
from ._train import (
    Choice as Choice,
    Trained as Trained,
    choose as choose,
    make_trainer as make_trainer,
    stop_reason as stop_reason,
    train as train,
)
from ._train_together import train_together as train_together
