"""Who is told how far a long draw or search is: nobody, unless somebody asks for it. Imports nothing heavy."""

from collections.abc import Callable
from contextvars import ContextVar
from typing import Any

# Called with a share, and with what it is a share of.
watching: ContextVar[Callable[[float, str], Any]] = ContextVar("watching", default=lambda share, what: None)
DRAWN, TRIED = "the contexts are drawn", "the starts of a search are tried"
