"""Copies of the database each hour."""

import sqlite3

import pytest

from cvzoo.studio.access.users import add_user
from cvzoo.studio.database import hourly
from cvzoo.studio.database.hourly import N_KEPT, HourlyCopies, hourly_copies

HOUR = 3600 * 1000


def test_an_hour_passes_between_copies_and_the_last_24_stay(studio, clock):
    copies = HourlyCopies(studio.place, clock)
    for i in range(3):
        copies.tick()
        copies.tick()
        assert len(hourly_copies(studio.place)) == i + 1
        clock.now += HOUR
    for _ in range(30):
        copies.tick()
        clock.now += HOUR
    found = hourly_copies(studio.place)
    assert len(found) == N_KEPT
    assert found[-1].stat().st_mtime_ns // 1_000_000 == clock.now - HOUR
    assert set(studio.place.backups.iterdir()) == set(found)  # nothing is left of any
    assert {path.stat().st_mode & 0o777 for path in found} == {0o600}


def test_a_copy_has_what_the_database_has(studio, clock):
    add_user(studio.engine, "ada", "viewer", clock)
    HourlyCopies(studio.place, clock).tick()
    (copy,) = hourly_copies(studio.place)
    connection = sqlite3.connect(copy)
    assert connection.execute("SELECT name FROM user").fetchall() == [("ada",)]
    connection.close()


def test_a_damaged_database_replaces_no_copy(studio, clock, monkeypatch):
    copies = HourlyCopies(studio.place, clock)
    copies.tick()
    clock.now += HOUR

    def damaged(source, target):
        target.write_bytes(b"SQLite format 3\0" + b"\xff" * 4096)

    monkeypatch.setattr(hourly, "copy_database", damaged)
    with pytest.raises(sqlite3.DatabaseError):
        copies.tick()
    assert len(list(studio.place.backups.iterdir())) == 1


def test_a_full_disk_is_told_and_leaves_nothing(studio, clock, monkeypatch):
    monkeypatch.setattr(hourly.shutil, "disk_usage", lambda path: type("Usage", (), {"free": 10}))
    with pytest.raises(OSError, match="no room"):
        HourlyCopies(studio.place, clock).tick()
    assert list(studio.place.backups.iterdir()) == []


def test_a_clock_that_was_set_back_does_not_stop_them(studio, clock):
    copies = HourlyCopies(studio.place, clock)
    copies.tick()
    clock.now -= 5 * HOUR
    copies.tick()
    assert len(hourly_copies(studio.place)) == 2
