"""A disk with room, whatever that of this machine has."""

import pytest


@pytest.fixture(autouse=True)
def room(monkeypatch):
    """64 MiB may be written."""
    from cvzoo.studio.uploads import upload

    monkeypatch.setattr(upload, "room", lambda folder: 64 << 20)
