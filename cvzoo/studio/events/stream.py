"""Server-sent events of a run: the rows that were appended, and its state, until the browser or the server ends.

The identifier of an event is how far each file has been read, so that a browser that comes back gets exactly what it
missed, and the server remembers nothing.
"""

import json
import time
from collections.abc import AsyncIterator, Callable

from fastapi.concurrency import run_in_threadpool

from cvzoo.studio.jobs.curves import Offsets
from cvzoo.studio.jobs.run_record import RunRecord
from cvzoo.studio.state import Studio

ASK_S = 1.0  # how often a stream asks whether its browser is signed in
_PING_S = 15.0


async def run_events(
    studio: Studio, record: RunRecord, offsets: Offsets, is_signed_in: Callable[[], bool], *, once: bool = False
) -> AsyncIterator[bytes]:
    """The text of the stream: events `rows`, `state`, and `reset` if a file was cut off by a resumed run.

    is_signed_in: asked every second; the stream ends when it is not so any more
    once: end after what there is now; the browser asks again after a few seconds, and holds no connection meanwhile
    """
    shown: RunRecord | None = None
    asked, said = -ASK_S, time.monotonic()
    yield b"retry: 5000\n\n" if once else b"retry: 2000\n\n"
    async with studio.follows.of(record) as followed:
        while not studio.stopping.is_set():
            changed = followed.changed
            if time.monotonic() - asked >= ASK_S:
                asked = time.monotonic()
                if not await run_in_threadpool(is_signed_in):
                    return
            try:
                rows, offsets, found = await followed.news(offsets)
            except EOFError:
                yield _event("reset", {}, offsets)
                return
            if found is None:
                yield _event("gone", {}, offsets)
                return
            if rows:
                yield _event("rows", rows, offsets)
            if found != shown:
                yield _event("state", found.to_json(), offsets)
            if rows or found != shown:
                said = time.monotonic()
            elif time.monotonic() - said >= _PING_S:
                said = time.monotonic()
                yield b": still here\n\n"
            shown = found
            if once:
                return
            await changed.wait()


def _event(name: str, body: object, offsets: Offsets) -> bytes:
    return f"id: {offsets}\nevent: {name}\ndata: {json.dumps(body)}\n\n".encode()
