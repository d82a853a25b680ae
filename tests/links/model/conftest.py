"""Fixtures of the zoo's tests."""

import pytest
from neighbour import neighbour


@pytest.fixture(scope="session")
def seeds():
    """The module seeded_weights.py: networks of torchvision whose numbers their names seed."""
    return neighbour(__file__, "seeded_weights")
