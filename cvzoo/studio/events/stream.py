"""Server-sent events of a run: the rows that were appended, and its state, until the browser or the server ends.

The identifier of an event is how far each file has been read, so that a browser that comes back gets exactly what it
missed, and the server remembers nothing.
"""

import time
from collections.abc import AsyncIterator, Awaitable, Callable

from cvzoo.studio.events.news import event_text
from cvzoo.studio.jobs.curves import Offsets
from cvzoo.studio.jobs.run_record import RunRecord
from cvzoo.studio.state import Studio

ASK_S = 1.0  # how often a stream asks whether its browser is signed in
_PING_S = 15.0


async def run_events(
    studio: Studio,
    record: RunRecord,
    offsets: Offsets,
    is_signed_in: Callable[[], Awaitable[bool]],
    *,
    once: bool = False,
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
                if not await is_signed_in():
                    return
            try:
                news = await followed.news(offsets)
            except EOFError:
                yield event_text("reset", "{}", offsets)
                return
            offsets = news.offsets
            if news.record is None:
                yield news.state_event
                return
            # at once, as each part that is sent costs as much as both
            text = news.rows_event + (news.state_event if news.record != shown else b"")
            shown = news.record
            if text or time.monotonic() - said >= _PING_S:
                said = time.monotonic()
                yield text or b": still here\n\n"
            if once:
                return
            await changed.wait()
