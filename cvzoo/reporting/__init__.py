"""Reporting of values by links and evaluators, their means, and plots."""

from typing import TYPE_CHECKING

from cvzoo.lazy_imports.on_demand import import_on_demand

if TYPE_CHECKING:
    from cvzoo.reporting.as_time import as_time
    from cvzoo.reporting.reporter import Reporter, get_current_reporter, report, report_scope
    from cvzoo.reporting.sign_of_life import sign_of_life
    from cvzoo.reporting.summary import DictSummary, Summary

__all__ = [
    "as_time",
    "DictSummary",
    "get_current_reporter",
    "report",
    "report_scope",
    "Reporter",
    "sign_of_life",
    "Summary",
]

import_on_demand(__name__)
