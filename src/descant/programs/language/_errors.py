"""What is said about a program that can't be compiled: where, why, and what could be done instead."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Position:
    """A stretch of source text; lines and columns count from 1."""

    line: int
    column: int
    end_line: int
    end_column: int


class ProgramError(ValueError):
    """A program was rejected. One sentence with line, column, the reason, and a suggestion where there is one."""

    def __init__(self, reason: str, suggestion: str = "", position: Position | None = None, origin: str = "program"):
        self.reason, self.suggestion, self.position, self.origin = reason, suggestion, position, origin
        super().__init__(str(self))

    def __str__(self) -> str:
        where = f"{self.origin}, line {self.position.line}, column {self.position.column}: " if self.position else ""
        return where + self.reason + (f"; {self.suggestion}." if self.suggestion else ".")

    def located(self, position: Position | None, origin: str) -> "ProgramError":
        """The same complaint, with its position, unless it has one."""
        return ProgramError(self.reason, self.suggestion, self.position or position, origin)
