"""Lets the tests of this room import the layouts that they share, and keeps them from the user's own cache."""

import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parent))


@pytest.fixture(autouse=True)
def _home(tmp_path, monkeypatch):
    monkeypatch.setenv("CVZOO_HOME", str(tmp_path / "home"))
