"""The plan cache on disk: one SQLite file per device model and cuDNN version."""

import contextlib
import hashlib
import json
import os
import pathlib
import re
import sqlite3
from collections.abc import Iterator
from typing import NamedTuple

from cvzoo.backends.cudnn.graph import ALIGNMENT, Graph
from cvzoo.backends.cudnn.planner import Rules

_FORMAT = 1
_PATIENCE = 2.0  # seconds to wait for another process that writes
_TABLE = (
    "CREATE TABLE IF NOT EXISTS plans"
    " (key TEXT PRIMARY KEY, plan BLOB NOT NULL, milliseconds REAL, compiled INTEGER NOT NULL, digest BLOB NOT NULL)"
    " WITHOUT ROWID"
)


class StoredPlan(NamedTuple):
    """A row: the plan as JSON, its measured time or None, whether it contains a compiled kernel."""

    plan: bytes
    milliseconds: float | None = None
    compiled: bool = False


def plan_key(graph: Graph, rules: Rules, measured: bool) -> str:
    """The cache key of a plan: operations, tensors, geometry, rules, and whether it was chosen by measurement."""
    return json.dumps([graph, rules, measured, ALIGNMENT], separators=(",", ":"))


def store_name(version: int, name: str, sm: str, count: int, driver: int) -> str:
    """The database's file name: plans are valid for one version of cuDNN, device model and driver's major version."""
    plain = re.sub(r"[^A-Za-z0-9]+", "-", name).strip("-")
    return f"cudnn{version}-sm{sm}-{count}sm-{plain}-driver{driver}-{_FORMAT}.sqlite"


def _digest(key: str, stored: StoredPlan) -> bytes:
    # a corrupt plan could crash the process: cuDNN does not validate what it reads
    return hashlib.sha256(repr((key, *stored)).encode()).digest()


class PlanStore:
    """Plans by key in one file. It never raises: a corrupt file is replaced, a missing one is empty.

    Each access opens the file: there are few (one per plan and process), and threads, forked processes and other
    programs may use it at the same time.
    """

    def __init__(self, path: str | os.PathLike):
        self.path = pathlib.Path(path)

    @contextlib.contextmanager
    def _opened(self, *, to_write: bool) -> Iterator[sqlite3.Connection]:
        if to_write:
            self.path.parent.mkdir(parents=True, exist_ok=True)
        mode = "rwc" if to_write else "rw"
        connection = sqlite3.connect(f"{self.path.absolute().as_uri()}?mode={mode}", uri=True, timeout=_PATIENCE)
        try:
            if to_write:
                connection.execute(_TABLE)
            with connection:
                yield connection
        finally:
            connection.close()

    def _discard(self) -> None:
        with contextlib.suppress(OSError):
            self.path.unlink()
        for suffix in ("-journal", "-wal", "-shm"):
            with contextlib.suppress(OSError):
                os.unlink(f"{self.path}{suffix}")

    def get(self, key: str) -> StoredPlan | None:
        """The plan of the key, or None. A row whose digest is wrong is deleted."""
        if not self.path.is_file():
            return None
        try:
            with self._opened(to_write=False) as connection:
                row = connection.execute(
                    "SELECT plan, milliseconds, compiled, digest FROM plans WHERE key = ?", (key,)
                ).fetchone()
        except sqlite3.OperationalError:
            return None  # locked, unreadable, or created by another process that has not created the table yet
        except sqlite3.DatabaseError:
            self._discard()
            return None
        if row is None:
            return None
        plan, milliseconds, compiled, digest = row
        stored = StoredPlan(plan, milliseconds, bool(compiled))
        if not isinstance(plan, bytes) or digest != _digest(key, stored):
            self.drop(key)
            return None
        return stored

    def put(self, key: str, stored: StoredPlan) -> None:
        """Store a plan, replacing the previous one of the key."""
        row = (key, *stored, _digest(key, stored))
        for _ in range(2):
            try:
                with self._opened(to_write=True) as connection:
                    connection.execute("INSERT OR REPLACE INTO plans VALUES (?, ?, ?, ?, ?)", row)
                return
            except (sqlite3.OperationalError, OSError):
                return  # a read-only folder, a full disk, a lock that is not released
            except sqlite3.DatabaseError:
                self._discard()

    def drop(self, key: str) -> None:
        """Delete the plan of the key."""
        try:
            with self._opened(to_write=False) as connection:
                connection.execute("DELETE FROM plans WHERE key = ?", (key,))
        except sqlite3.OperationalError:
            return
        except sqlite3.DatabaseError:
            self._discard()
