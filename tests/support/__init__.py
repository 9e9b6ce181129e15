"""What tests share: tables of models and problems, invented claims, and processes that tests start."""

from pathlib import Path

ROOT = Path(__file__).parents[2]
"""The folder of the repository."""
