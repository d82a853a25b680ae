"""Runs that streams of events follow: each is looked at and read once for all of its streams."""

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator
from typing import NamedTuple

from fastapi.concurrency import run_in_threadpool

from cvzoo.studio.jobs.all_runs import AllRuns
from cvzoo.studio.jobs.curves import Offsets, read_more
from cvzoo.studio.jobs.rows import Row
from cvzoo.studio.jobs.run_record import RunRecord
from cvzoo.studio.jobs.watched import marks_of

LOOK_S = 0.02  # how often the files of a run are looked at
ANEW_S = 1.0  # how often its streams are woken all the same, since a process may end without a change of a file


class News(NamedTuple):
    """What there is from some offsets on. rows: by source; record: None if the run is gone"""

    rows: dict[str, list[Row]]
    offsets: Offsets
    record: RunRecord | None


class Followed:
    """A run with streams.

    changed: set when there may be news since it was taken; a stream takes it before it asks for news
    """

    def __init__(self, runs: AllRuns, record: RunRecord):
        self._runs, self._record = runs, record
        self._reads: dict[Offsets, asyncio.Future[News]] = {}
        self.changed = asyncio.Event()
        self.n_stream = 0
        self.task = asyncio.create_task(self._look())

    async def news(self, offsets: Offsets) -> News:
        """What there is from the offsets on. Raises EOFError if a file was cut off."""
        if offsets not in self._reads:
            self._reads[offsets] = asyncio.ensure_future(run_in_threadpool(self._read, offsets))
        return await asyncio.shield(self._reads[offsets])

    def wake(self) -> None:
        """All streams ask for news."""
        self._reads = {}
        before, self.changed = self.changed, asyncio.Event()
        before.set()

    def _read(self, offsets: Offsets) -> News:
        rows, end = read_more(self._record.folder, offsets)
        return News(rows, end, self._runs.record(self._record.id))

    async def _look(self) -> None:
        marks: tuple[int, ...] = ()
        woken = time.monotonic()
        while True:
            found = await run_in_threadpool(marks_of, self._record.folder)
            if found != marks or time.monotonic() - woken > ANEW_S:
                marks, woken = found, time.monotonic()
                self.wake()
            await asyncio.sleep(LOOK_S)


class Follows:
    """The runs that are followed. runs: of the studio"""

    def __init__(self, runs: AllRuns):
        self._runs = runs
        self._followed: dict[str, Followed] = {}

    @contextlib.asynccontextmanager
    async def of(self, record: RunRecord) -> AsyncIterator[Followed]:
        """A block in which the run is followed."""
        if record.id not in self._followed:
            self._followed[record.id] = Followed(self._runs, record)
        followed = self._followed[record.id]
        followed.n_stream += 1
        try:
            yield followed
        finally:
            followed.n_stream -= 1
            if not followed.n_stream:
                followed.task.cancel()
                del self._followed[record.id]

    def wake(self) -> None:
        """All streams of all runs ask for news, such as before the server ends."""
        for each in self._followed.values():
            each.wake()
