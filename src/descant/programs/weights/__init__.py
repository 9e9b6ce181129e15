"""The weights: columns for every place, matrices for every head, and the proof that nothing else is touched."""

from ._check import CompilerError as CompilerError, check as check
from ._evaluate import (
    block_order as block_order,
    count_blocks as count_blocks,
    embed as embed,
    evaluate_weights as evaluate_weights,
    states as states,
)
from ._layout import Columns as Columns, Layout as Layout, Painter as Painter, lay_out as lay_out
from ._link import NAMES as NAMES, Weights as Weights, link as link
