"""Fixtures that every room's tests may use."""

import pathlib

import pytest

SHARED = pathlib.Path(__file__).resolve().parents[2] / "shared"


@pytest.fixture(scope="session")
def shared():
    """The folder of real data and weights that lies beside the checkout; tests that need it skip where it is absent."""
    if not SHARED.is_dir():
        pytest.skip("needs the folder ../shared with real data and weights")
    return SHARED
