"""What pytest needs to run ChainerCV's tests: the names, old words of NumPy, and the decided differences."""

import collections

import numpy as np
import pytest

from chainercv_suite import chainer_names, chainercv_names
from chainercv_suite.decided import decision_on

chainer_names.install()
chainercv_names.install()
np.float, np.int = float, int  # what NumPy called them until 1.24

_tests, _files = collections.Counter(), collections.Counter()


def pytest_configure(config):
    config.addinivalue_line("markers", "slow: builds whole networks")
    config.addinivalue_line("markers", "pfnci_skip: ChainerCV's")


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    report = (yield).get_result()
    if report.failed and "DownloadError" in report.longreprtext:
        report.outcome, report.longrepr = "skipped", (str(item.path), 0, "needs a download")
        return
    decided = decision_on(report.nodeid, report.longreprtext) if report.failed else None
    if decided is not None:
        report.outcome, report.wasxfail = "skipped", decided.why
        _tests[decided.why] += 1


@pytest.hookimpl(hookwrapper=True)
def pytest_make_collect_report(collector):
    report = (yield).get_result()
    decided = decision_on(report.nodeid, report.longreprtext) if report.failed else None
    if decided is not None:
        report.outcome, report.longrepr = "skipped", (str(collector.path), 0, decided.why)
        _files[decided.why] += 1


def pytest_terminal_summary(terminalreporter):
    for title, counter in (("tests", _tests), ("files that cannot be imported", _files)):
        if counter:
            terminalreporter.section(f"decided differences: {title}")
            for why, n in counter.most_common():
                terminalreporter.write_line(f"{n:5d}  {why}")
