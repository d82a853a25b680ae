"""What is new of a run, and the text of its events, which is made once for all streams."""

import dataclasses
import functools
import json

from cvzoo.studio.jobs.curves import Offsets
from cvzoo.studio.jobs.rows import Row
from cvzoo.studio.jobs.run_record import RunRecord


@dataclasses.dataclass(frozen=True, eq=False)
class News:
    """What there is from some offsets on. rows: by source; offsets: behind them; record: None if the run is gone"""

    rows: dict[str, list[Row]]
    offsets: Offsets
    record: RunRecord | None

    @functools.cached_property
    def rows_event(self) -> bytes:
        """The event `rows`; nothing if there are none."""
        return event_text("rows", json.dumps(self.rows), self.offsets) if self.rows else b""

    @functools.cached_property
    def state_event(self) -> bytes:
        """The event `state`, or `gone`."""
        if self.record is None:
            return event_text("gone", "{}", self.offsets)
        return event_text("state", self.record.json_text, self.offsets)


def event_text(name: str, body: str, offsets: Offsets) -> bytes:
    """An event. body: JSON; offsets: how far the files were read with it"""
    return f"id: {offsets}\nevent: {name}\ndata: {body}\n\n".encode()
