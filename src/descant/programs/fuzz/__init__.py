"""The fuzzer: random programs, their networks, and what their texts mean by NumPy alone."""

from ._campaign import (
    OUTCOMES as OUTCOMES,
    WORTHS as WORTHS,
    Failure as Failure,
    Tally as Tally,
    files as files,
    fuzz as fuzz,
    keep as keep,
    numbers as numbers,
    write as write,
)
from ._contracting import contracting as contracting
from ._general import general as general
from ._judge import Comparison as Comparison, Verdict as Verdict, compared as compared, judge as judge
from ._shrink import shrunk as shrunk
from ._written import Meaning as Meaning, Written as Written, meaning as meaning
