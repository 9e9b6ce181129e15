"""The report: pages that open from disk, and the verdicts as JSON."""

from ._write import NAMES as NAMES, draw_figures as draw_figures, write_report as write_report
