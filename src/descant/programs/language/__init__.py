"""The language: text and decorated functions, checked and recorded as straight-line code with repeats."""

from ._elementwise import diag as diag, hadamard as hadamard, mean as mean, sum as sum, trace as trace
from ._errors import Position as Position, ProgramError as ProgramError
from ._evaluate import Evaluation as Evaluation, Interpreter as Interpreter, evaluate as evaluate
from ._execute import Executor as Executor
from ._instructions import (
    Body as Body,
    Constant as Constant,
    Instruction as Instruction,
    Repeat as Repeat,
    effort as effort,
)
from ._makers import (
    constant as constant,
    eye as eye,
    hstack as hstack,
    ones as ones,
    place as place,
    vstack as vstack,
    zeros as zeros,
)
from ._matrix import Matrix as Matrix
from ._newton import reciprocal as reciprocal, rsqrt as rsqrt
from ._program import Input as Input, Program as Program, Traced as Traced, program as program
from ._scalars import NUMBERS as NUMBERS
from ._scope import Scope as Scope
from ._signature import Parameter as Parameter, Signature as Signature
from ._text import TextFrontEnd as TextFrontEnd
from ._trace import recording as recording
