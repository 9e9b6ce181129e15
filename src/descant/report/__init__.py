"""The report: pages that open from disk, and the verdicts as JSON."""

from ._figure_page import figure_page as figure_page
from ._tables import figure_csv as figure_csv
from ._write import NAMES as NAMES, draw_figures as draw_figures, write_report as write_report
