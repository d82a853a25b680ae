"""Values that links and evaluators tell to whoever observes them, and their means."""

from cvzoo.reporting.reporter import Reporter, get_current_reporter, report, report_scope
from cvzoo.reporting.summary import DictSummary, Summary

__all__ = ["DictSummary", "get_current_reporter", "report", "report_scope", "Reporter", "Summary"]
