"""The backups in the studio's own folder, and the one that is being written beside the running server."""

import contextlib
import dataclasses
import importlib
import pathlib
import threading
import time
import traceback
from collections.abc import Callable
from typing import Literal, TypeAlias

from cvzoo.errors.exceptions import CvzooError
from cvzoo.studio.clock import Clock
from cvzoo.studio.jobs.run_state import is_locked
from cvzoo.studio.place import Place
from cvzoo.studio.problems import Problem

Kind: TypeAlias = Literal["all", "hourly", "migration"]
_KINDS: dict[str, Kind] = {"studio-*.tar": "all", "hourly-*.db": "hourly", "before-*.db": "migration"}


@dataclasses.dataclass(frozen=True)
class Kept:
    """A backup. kind: "all" of the studio, "hourly" of the database, "migration": of it before one

    n_byte: of the file; made_at: milliseconds since 1970
    """

    name: str
    kind: Kind
    n_byte: int
    made_at: int


@dataclasses.dataclass(frozen=True)
class Written:
    """A backup that is being written, or was. begun_at, ended_at: milliseconds since 1970; error: why it failed"""

    name: str
    begun_at: int
    ended_at: int | None = None
    error: str = ""


def _make_backup(place: Place, path: pathlib.Path, clock: Clock, *, is_incomplete_allowed: bool) -> object:
    # 0.7 MB, which an idle server does without
    make: Callable[..., object] = importlib.import_module("cvzoo.studio.backup").make_backup
    return make(place, path, clock, is_incomplete_allowed=is_incomplete_allowed)


class Backups:
    """The backups of a studio. place, clock: of the studio; make: writes one"""

    def __init__(self, place: Place, clock: Clock, make: Callable[..., object] = _make_backup):
        self._place, self._clock, self._make = place, clock, make
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self.last: Written | None = None  # since the server started

    def start(self, *, is_incomplete_allowed: bool = False) -> Written:
        """Begins to write one, in a thread that ends with the server. Raises Problem 409 while one is written."""
        with self._lock:
            if self.last is not None and self.last.ended_at is None:
                raise Problem(409, f"{self.last.name} is being written", hint="wait until it is there")
            now = self._clock()
            name = f"studio-{time.strftime('%Y-%m-%dT%H%M%S', time.gmtime(now / 1000))}.tar"
            begun = self.last = Written(name, now)
            self._thread = threading.Thread(target=self._write, args=(begun, is_incomplete_allowed), daemon=True)
            self._thread.start()
        return begun

    def join(self) -> None:
        """Waits until none is being written."""
        if self._thread is not None:
            self._thread.join()

    def kept(self) -> list[Kept]:
        """The backups, the newest first."""
        found = []
        for pattern, kind in _KINDS.items():
            for path in self._place.backups.glob(pattern):
                with contextlib.suppress(FileNotFoundError):  # removed meanwhile
                    status = path.stat()
                    found.append(Kept(path.name, kind, status.st_size, status.st_mtime_ns // 1_000_000))
        return sorted(found, key=lambda each: (each.made_at, each.name), reverse=True)

    def clean(self) -> None:
        """Removes what a server that was killed did not finish."""
        for path in self._place.backups.glob(".studio-*.tar.part"):
            if not is_locked(path):
                path.unlink(missing_ok=True)

    def _write(self, begun: Written, is_incomplete_allowed: bool) -> None:
        error = ""
        try:
            path = self._place.backups / begun.name
            self._make(self._place, path, self._clock, is_incomplete_allowed=is_incomplete_allowed)
        except (CvzooError, OSError) as raised:
            error = ", ".join(" ".join(line.split()) for line in str(raised).splitlines())
        except Exception as raised:  # or it would be written for ever
            traceback.print_exc()
            error = f"the server could not write it: {raised!r}"[:400]
        self.last = dataclasses.replace(begun, ended_at=self._clock(), error=error)
