"""Values that links and evaluators tell to whoever observes them, and their means."""

from cvzoo.reporting.as_time import as_time
from cvzoo.reporting.reporter import Reporter, get_current_reporter, report, report_scope
from cvzoo.reporting.summary import DictSummary, Summary

__all__ = [
    "as_time",
    "DictSummary",
    "get_current_reporter",
    "report",
    "report_scope",
    "Reporter",
    "Summary",
]
