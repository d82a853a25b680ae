"""What pytest needs to run ChainerCV's tests: the names, old words of NumPy, and the decided differences."""

import re

import numpy as np
import pytest

from chainercv_suite import chainer_names, chainercv_names
from chainercv_suite.decided import DECIDED

chainer_names.install()
chainercv_names.install()
np.float, np.int = float, int  # what NumPy called them until 1.24


def pytest_configure(config):
    config.addinivalue_line("markers", "slow: builds whole networks")
    config.addinivalue_line("markers", "pfnci_skip: ChainerCV's")


def pytest_collection_modifyitems(items):
    for item in items:
        for pattern, why in DECIDED:
            if re.search(pattern, item.nodeid):
                item.add_marker(pytest.mark.xfail(reason=why, strict=False))
                break
