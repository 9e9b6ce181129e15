"""Matrix programs: a compiler from matrix algebra to extended linear self-attention."""

from .. import _precision as _precision
from ._compile import Candidate as Candidate, choose as choose, compile_program as compile_program
from ._compiled import (
    PROGRAM as PROGRAM,
    WEIGHTS as WEIGHTS,
    CompiledProgram as CompiledProgram,
    Sizes as Sizes,
    load as load,
)
from ._description import (
    BlockText as BlockText,
    Description as Description,
    HeadText as HeadText,
    Rectangle as Rectangle,
)
from ._library import find as find, library as library
from ._ways import Way as Way, trade_off as trade_off, ways as ways
from .as_written import compile_as_written as compile_as_written
from .decompile import decompile as decompile
from .language import (
    Program as Program,
    ProgramError as ProgramError,
    constant as constant,
    diag as diag,
    eye as eye,
    hadamard as hadamard,
    hstack as hstack,
    mean as mean,
    ones as ones,
    place as place,
    program as program,
    reciprocal as reciprocal,
    rsqrt as rsqrt,
    sum as sum,
    trace as trace,
    vstack as vstack,
    zeros as zeros,
)
from .tuning import (
    FREE as FREE,
    Change as Change,
    FreeProgram as FreeProgram,
    ProgramPredictor as ProgramPredictor,
    changes as changes,
    described_again as described_again,
    free_program as free_program,
    starting_program as starting_program,
)
from .weights import CompilerError as CompilerError
