"""`python -m descant` is `descant`."""

from .cli import main

main()
