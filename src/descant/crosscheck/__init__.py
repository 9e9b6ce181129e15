"""What `descant crosscheck` makes: every risk three ways, exact, over moments and over tokens."""

from .. import _precision as _precision
from ._heads import heads_figure as heads_figure
from ._risks import RiskRow as RiskRow, four_tasks as four_tasks, largest_z as largest_z, measure_all as measure_all
