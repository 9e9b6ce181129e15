"""What `descant reproduce` makes: tables and figures on disk."""

from .. import _precision as _precision
from ._heads import heads_figure as heads_figure
from ._risks import Row as Row, four_tasks as four_tasks, largest_z as largest_z, measure_all as measure_all
from ._table1 import FULL_LAWS as FULL_LAWS, LAWS as LAWS, PAPER as PAPER, Entry as Entry, table_1 as table_1
