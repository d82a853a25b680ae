"""Runs that streams of events follow: each is looked at and read once for all of its streams."""

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Mapping

from fastapi.concurrency import run_in_threadpool

from cvzoo.studio.events.news import News
from cvzoo.studio.jobs.all_runs import AllRuns
from cvzoo.studio.jobs.curves import Offsets, read_more
from cvzoo.studio.jobs.run_record import RunRecord
from cvzoo.studio.jobs.watched import marks_of

LOOK_S = 0.02  # how often the files of a run are looked at
ANEW_S = 1.0  # how often its streams are woken all the same, since a process may end without a change of a file


class Followed:
    """A run with streams.

    changed: set when there may be news since it was taken; a stream takes it before it asks for news
    """

    def __init__(self, runs: AllRuns, record: RunRecord):
        self._runs, self._record = runs, record
        self._reads: dict[Offsets, asyncio.Future[News]] = {}
        self._newest: Offsets | None = None  # how far the streams are, but for those that have just begun
        self.changed = asyncio.Event()
        self.n_stream = 0
        self.task = asyncio.create_task(self._look())

    async def news(self, offsets: Offsets) -> News:
        """What there is from the offsets on. Raises EOFError if a file was cut off."""
        if offsets not in self._reads:
            self._reads[offsets] = asyncio.ensure_future(run_in_threadpool(self._read, offsets))
        found = await asyncio.shield(self._reads[offsets])
        self._newest = found.offsets
        return found

    def wake(self, known: Mapping[Offsets, News] | None = None) -> None:
        """All streams ask for news. known: by offsets, what was read already"""
        self._reads = {}
        for offsets, news in (known or {}).items():
            self._reads[offsets] = asyncio.get_running_loop().create_future()
            self._reads[offsets].set_result(news)
        before, self.changed = self.changed, asyncio.Event()
        before.set()

    def _read(self, offsets: Offsets) -> News:
        rows, end = read_more(self._record.folder, offsets)
        return News(rows, end, self._runs.record(self._record.id))

    async def _look(self) -> None:
        marks: tuple[int, ...] = ()
        woken = time.monotonic()
        while True:
            is_due = time.monotonic() - woken > ANEW_S
            marks, known = await run_in_threadpool(self._looked, marks, self._newest, is_due)
            if known is not None:
                woken = time.monotonic()
                self.wake(known)
            await asyncio.sleep(LOOK_S)

    def _looked(
        self, marks: tuple[int, ...], newest: Offsets | None, is_due: bool
    ) -> tuple[tuple[int, ...], dict[Offsets, News] | None]:
        """(the marks, what most streams will ask for, None unless the marks have changed or it `is_due`)."""
        found = marks_of(self._record.folder)
        if found == marks and not is_due:
            return found, None
        try:
            return found, {} if newest is None else {newest: self._read(newest)}
        except Exception:  # it is raised again to the stream that asks
            return found, {}


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
