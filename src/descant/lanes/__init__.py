"""Many small matrices at the machine's rate: `vmap` over contexts, with contexts in the last axis."""

from .. import _precision as _precision
from ._product import product as product
from ._vmap import LANES as LANES, in_lanes as in_lanes, of_numbers as of_numbers, vmap as vmap
