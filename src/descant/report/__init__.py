"""The report: pages that open from disk, and the verdicts as JSON."""

from ._write import write_report as write_report
