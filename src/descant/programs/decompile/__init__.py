"""From weights back to programs."""

from ._recover import Recovered as Recovered, recover as recover
