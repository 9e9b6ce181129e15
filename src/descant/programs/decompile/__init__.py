"""From weights back to programs: the schedule that they were made from, and its text."""

from ._decompile import decompile as decompile
from ._recover import Recovered as Recovered, description_of as description_of, recover as recover
