"""Programs as starting points: a compiled network on prompts, its numbers free, and what a training made of them."""

from ._changes import Change as Change, changes as changes
from ._free import FreeProgram as FreeProgram, free_program as free_program
from ._numbers import FREE as FREE
from ._predictor import ProgramPredictor as ProgramPredictor
from ._source import described_again as described_again, starting_program as starting_program
