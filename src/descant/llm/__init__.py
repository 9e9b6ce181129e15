"""Language models with an initial guess in the prompt: sentence similarity, and linear regression in text.

Needs the extra `llm` to ask a model.
"""

from .. import _precision as _precision
from ._answers import Answers as Answers
from ._choice import choice_benchmark as choice_benchmark, run_study as run_study
from ._compare import CompareRow as CompareRow, compare as compare
from ._draws import Draw as Draw, draw as draw, query_order as query_order
from ._endpoint import Endpoint as Endpoint
from ._ensemble import cross_fitted as cross_fitted
from ._experiment import Setting as Setting, run as run
from ._figure import figure as figure
from ._guesses import GUESSES as GUESSES, Scene as Scene, guesses as guesses
from ._learners import LEARNERS as LEARNERS, learnt as learnt, yq_share as yq_share
from ._linear_world import guessed_risk as guessed_risk, remaining_share as remaining_share
from ._manner import CHAT_TOKENS as CHAT_TOKENS
from ._models import (
    Model as Model,
    folder_name as folder_name,
    open_encoder as open_encoder,
    open_model as open_model,
)
from ._numbers import (
    NumberTemplate as NumberTemplate,
    find_number_templates as find_number_templates,
    number_templates as number_templates,
)
from ._packaged import PACKAGED as PACKAGED, fetch as fetch
from ._pairs import Benchmark as Benchmark, Labelled as Labelled, Pair as Pair, read_benchmark as read_benchmark
from ._prompts import Prompt as Prompt, build as build
from ._reading import Reply as Reply, Scale as Scale
from ._regression import TextResults as TextResults, run_regression as run_regression
from ._replies import parse_score as parse_score
from ._report import (
    Found as Found,
    Report as Report,
    default_root as default_root,
    find_study as find_study,
    found as found,
    study_name as study_name,
    write_report as write_report,
)
from ._results import Asked as Asked, Results as Results
from ._share_figure import share_figure as share_figure
from ._share_report import ShareReport as ShareReport, write_share_report as write_share_report
from ._shares import (
    ShareRow as ShareRow,
    ShareVerdict as ShareVerdict,
    share_rows as share_rows,
    share_verdict as share_verdict,
)
from ._statistics import Interval as Interval, estimate as estimate, spearman as spearman
from ._study import Study as Study
from ._summary import (
    DistanceRow as DistanceRow,
    GuessRow as GuessRow,
    ShotsRow as ShotsRow,
    WordingRow as WordingRow,
    by_distance as by_distance,
    by_shots as by_shots,
    by_wording as by_wording,
    summary as summary,
)
from ._templates import (
    DEFAULT as DEFAULT,
    Template as Template,
    find_template as find_template,
    find_templates as find_templates,
    templates as templates,
)
from ._text_tasks import TextSetting as TextSetting, TextTasks as TextTasks, draw_tasks as draw_tasks
from ._verdicts import (
    NEEDS as NEEDS,
    STATEMENTS as STATEMENTS,
    Judged as Judged,
    near_chance as near_chance,
    verdicts as verdicts,
)
