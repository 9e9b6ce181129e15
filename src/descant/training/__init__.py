"""Training: objectives, solvers, and the way from simple networks to deep ones."""

from .. import _precision as _precision
from .._trainer import State as State, Trainer as Trainer, to_end as to_end
from ._adam import AdamTrainer as AdamTrainer
from ._descent import at_rest as at_rest, constant as constant, cosine as cosine, descend as descend
from ._flat import flatten as flatten, rebuild as rebuild
from ._levels import Level as Level, plan as plan
from ._lm import LMTrainer as LMTrainer
from ._models import MODELS as MODELS, make_model as make_model
from ._objective import OBJECTIVES as OBJECTIVES, batch_loss as batch_loss, sample_loss as sample_loss
from ._population import PopulationTrainer as PopulationTrainer, population_risk as population_risk
from ._starts import RANDOM_STARTS as RANDOM_STARTS, deepened as deepened, random_start as random_start
from ._train import (
    SOLVERS as SOLVERS,
    Choice as Choice,
    Trained as Trained,
    choose as choose,
    make_trainer as make_trainer,
    train as train,
)
