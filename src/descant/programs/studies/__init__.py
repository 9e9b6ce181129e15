"""Studies of compiled networks: how fast they converge, what layout they depend on, how large they are."""

from ._convergence import (
    CONDITIONS as CONDITIONS,
    Convergence as Convergence,
    convergence as convergence,
    convergence_figure as convergence_figure,
)
from ._degree import degree_of as degree_of, least_blocks as least_blocks
from ._input_format import Outcome as Outcome, input_format as input_format
from ._table import (
    BY_HAND as BY_HAND,
    LARGEST_ERROR as LARGEST_ERROR,
    SETTINGS as SETTINGS,
    Entry as Entry,
    entry as entry,
    table as table,
)
