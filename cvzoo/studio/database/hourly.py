"""A copy of the database each hour, of which the last 24 are kept."""

import contextlib
import os
import pathlib
import shutil
import sqlite3
import time

from cvzoo.studio.clock import Clock
from cvzoo.studio.database.migrate import copy_database
from cvzoo.studio.place import Place

INTERVAL_S = 60.0
N_KEPT = 24
_HOUR_MS = 3600 * 1000
_PREFIX = "hourly-"


class HourlyCopies:
    """The copies of a studio, `backups/hourly-2026-11-28T0900.db` and so on. place, clock: of the studio"""

    def __init__(self, place: Place, clock: Clock):
        self._place, self._clock = place, clock

    def tick(self) -> None:
        """Makes a copy if the last one is an hour old. Raises FileFormatError, OSError, sqlite3.Error without one."""
        known = hourly_copies(self._place)
        now = self._clock()
        # a clock that was set back must not stop them
        if known and 0 <= now - _made_at(known[-1]) < _HOUR_MS:
            return
        target = self._place.backups / f"{_PREFIX}{time.strftime('%Y-%m-%dT%H%M', time.gmtime(now / 1000))}.db"
        part = target.with_name(f".{target.name}.part")
        try:
            if shutil.disk_usage(self._place.backups).free < 2 * self._place.database.stat().st_size:
                raise OSError(f"{self._place.backups}: there is no room for a copy of the database")
            copy_database(self._place.database, part)
            with contextlib.closing(sqlite3.connect(part)) as connection:
                (sound,) = connection.execute("PRAGMA quick_check(1)").fetchone()
            if sound != "ok":  # the older copies are better
                raise OSError(f"{self._place.database} is damaged: {sound}; {len(known)} copies are in backups")
            os.chmod(part, 0o600)
            os.utime(part, ns=(now * 1_000_000, now * 1_000_000))
            part.replace(target)
        finally:
            part.unlink(missing_ok=True)
        for old in hourly_copies(self._place)[:-N_KEPT]:
            old.unlink(missing_ok=True)


def hourly_copies(place: Place) -> list[pathlib.Path]:
    """The copies, the oldest first."""
    return sorted(place.backups.glob(f"{_PREFIX}*.db"))


def _made_at(path: pathlib.Path) -> int:
    return path.stat().st_mtime_ns // 1_000_000
