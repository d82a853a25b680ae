"""Lines of a job's output that contain a text."""

import dataclasses
import pathlib
import time
from collections.abc import Callable, Iterator

from cvzoo.studio.jobs.conductor import attempt_folder
from cvzoo.studio.jobs.job_log import without_control
from cvzoo.studio.jobs.json_file import open_regular
from cvzoo.studio.worker.attempt import LOG

_CHUNK = 1 << 20  # bytes: no more are in memory, and a longer line is looked through in parts
_MAX_S = 1.0
_SHOWN, _BEFORE = 400, 100  # letters of a line, and of those the ones before what was found


@dataclasses.dataclass(frozen=True)
class FoundLines:
    """What a search found.

    lines: (the offset of the line in bytes, the line without control characters, cut if it is long)
    next: the offset from which the search continues; None at the end of the output
    """

    lines: tuple[tuple[int, str], ...]
    next: int | None


def find_in_log(
    run: pathlib.Path,
    attempt: int,
    text: str,
    offset: int = 0,
    limit: int = 200,
    clock: Callable[[], float] = time.monotonic,
) -> FoundLines:
    """The next lines of the output of an attempt that contain the text in any case, after at most a second.

    offset: of the line that is the first one; limit: the number of lines; clock: seconds
    """
    sought, end = text.casefold(), clock() + _MAX_S
    found: list[tuple[int, str]] = []
    try:
        for start, part in _parts(attempt_folder(run, attempt) / LOG, offset):
            if sought in without_control(part.decode("utf-8", "replace")).casefold():
                for at, line in _lines_of(start, part):
                    shown = without_control(line.decode("utf-8", "replace")).rstrip("\n")
                    where = shown.casefold().find(sought)
                    if where < 0:
                        continue
                    if len(found) == limit:
                        return FoundLines(tuple(found), at)
                    found.append((at, _cut(shown, where)))
            if clock() >= end:
                return FoundLines(tuple(found), start + len(part))
    except OSError:
        pass  # there is none yet
    return FoundLines(tuple(found), None)


def _parts(path: pathlib.Path, offset: int) -> Iterator[tuple[int, bytes]]:
    """(offset, whole lines) of the file; the last line may not have been written as a whole."""
    with open_regular(path) as file:
        while True:
            file.seek(offset)
            data = file.read(_CHUNK)
            if not data:
                return
            size = data.rfind(b"\n") + 1 if len(data) == _CHUNK else 0
            yield offset, data[: size or len(data)]
            offset += size or len(data)


def _lines_of(start: int, part: bytes) -> Iterator[tuple[int, bytes]]:
    at = 0
    while at < len(part):
        end = part.find(b"\n", at) + 1 or len(part)
        yield start + at, part[at:end]
        at = end


def _cut(line: str, where: int) -> str:
    begin = max(where - _BEFORE, 0) if len(line) > _SHOWN else 0
    after = "…" if len(line) > begin + _SHOWN else ""
    return f"{'…' if begin else ''}{line[begin : begin + _SHOWN]}{after}"
