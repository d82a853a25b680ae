"""Server-sent events of a run: the rows that were appended, and its state, until the browser or the server ends.

The identifier of an event is how far each file has been read, so that a browser that comes back gets exactly what it
missed, and the server remembers nothing.
"""

import asyncio
import json
from collections.abc import AsyncIterator, Callable

from fastapi.concurrency import run_in_threadpool

from cvzoo.studio.jobs.curves import Offsets, read_more
from cvzoo.studio.jobs.run_record import RunRecord
from cvzoo.studio.state import Studio

INTERVAL_S = 1.0
_PING_S = 15.0


async def run_events(
    studio: Studio, record: RunRecord, offsets: Offsets, is_signed_in: Callable[[], bool], *, once: bool = False
) -> AsyncIterator[bytes]:
    """The text of the stream: events `rows`, `state`, and `reset` if a file was cut off by a resumed run.

    is_signed_in: asked before each event; the stream ends when it is not so any more
    once: end after what there is now; the browser asks again after a few seconds, and holds no connection meanwhile
    """
    shown: RunRecord | None = None
    silent = 0.0
    yield b"retry: 5000\n\n" if once else b"retry: 2000\n\n"
    while not studio.stopping.is_set() and await run_in_threadpool(is_signed_in):
        try:
            rows, offsets = await run_in_threadpool(read_more, record.folder, offsets)
        except EOFError:
            yield _event("reset", {}, offsets)
            return
        found = await run_in_threadpool(studio.runs.record, record.id)
        if found is None:
            yield _event("gone", {}, offsets)
            return
        if rows:
            yield _event("rows", rows, offsets)
        if found != shown:
            yield _event("state", found.to_json(), offsets)
            shown = found
        elif not rows:
            silent += INTERVAL_S
            if silent >= _PING_S:
                silent = 0.0
                yield b": still here\n\n"
        if once:
            return
        try:
            await asyncio.wait_for(studio.stopping.wait(), INTERVAL_S)
        except asyncio.TimeoutError:
            continue


def _event(name: str, body: object, offsets: Offsets) -> bytes:
    return f"id: {offsets}\nevent: {name}\ndata: {json.dumps(body)}\n\n".encode()
