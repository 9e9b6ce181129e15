"""Who is told how far a long draw is: nobody, unless somebody asks for it. Imports nothing heavy."""

from collections.abc import Callable
from contextvars import ContextVar
from typing import Any

# Called with the share of the contexts that are drawn.
watching: ContextVar[Callable[[float], Any]] = ContextVar("watching", default=lambda share: None)
