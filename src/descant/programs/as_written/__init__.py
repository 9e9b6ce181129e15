"""Programs taken as they are written: every line a block, every name a place of H."""

from ._compile import compile_as_written as compile_as_written
