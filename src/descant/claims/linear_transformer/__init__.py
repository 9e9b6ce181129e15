"""The claims of Vladymyrov et al. 2024, one module each; every module here is found by itself."""

from ._networks import SAMPLES as SAMPLES
from ._printed import PRINTED_LAWS as PRINTED_LAWS
from ._table1 import FULL_LAWS as FULL_LAWS, LAWS as LAWS, Cell as Cell, table_1 as table_1
