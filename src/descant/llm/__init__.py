"""Language models with an initial guess in the prompt, on sentence similarity. Needs the extra `llm` to ask a model."""

from .. import _precision as _precision
from ._answers import Answers as Answers
from ._draws import Draw as Draw, draw as draw, query_order as query_order
from ._endpoint import Endpoint as Endpoint
from ._experiment import Setting as Setting, run as run
from ._figure import figure as figure
from ._guesses import GUESSES as GUESSES, Scene as Scene, guesses as guesses
from ._linear_world import guessed_risk as guessed_risk, remaining_share as remaining_share
from ._models import (
    Model as Model,
    folder_name as folder_name,
    open_encoder as open_encoder,
    open_model as open_model,
)
from ._packaged import PACKAGED as PACKAGED, fetch as fetch
from ._pairs import Benchmark as Benchmark, Labelled as Labelled, Pair as Pair, read_benchmark as read_benchmark
from ._prompts import Prompt as Prompt, build as build
from ._reading import Reply as Reply, Scale as Scale, parse_score as parse_score
from ._report import (
    Found as Found,
    Report as Report,
    default_root as default_root,
    found as found,
    write_report as write_report,
)
from ._results import Asked as Asked, Results as Results
from ._statistics import Interval as Interval
from ._summary import (
    DistanceRow as DistanceRow,
    GuessRow as GuessRow,
    ShotsRow as ShotsRow,
    by_distance as by_distance,
    by_shots as by_shots,
    summary as summary,
)
from ._templates import Template as Template, find_template as find_template, templates as templates
from ._verdicts import NEEDS as NEEDS, STATEMENTS as STATEMENTS, Judged as Judged, verdicts as verdicts
