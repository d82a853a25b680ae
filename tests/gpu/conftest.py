"""Tests that only a GPU can answer: where none can be used, each skips and says why."""

import pathlib

import pytest

from cvzoo.backends.cupy.library import why_no_cupy

HERE = pathlib.Path(__file__).parent


def pytest_collection_modifyitems(items):
    reason = why_no_cupy()
    for item in items:
        if HERE in item.path.parents:
            item.add_marker(pytest.mark.gpu)
            if reason is not None:
                item.add_marker(pytest.mark.skip(reason=reason))
