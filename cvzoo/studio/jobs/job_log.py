"""The output of a job's attempts."""

import codecs
import os
import pathlib
import re
import shlex

from cvzoo.studio.jobs.conductor import attempt_folder
from cvzoo.studio.jobs.job import Job
from cvzoo.studio.jobs.json_file import open_regular, read_json_object
from cvzoo.studio.worker.attempt import LOG, STARTED

MAX_READ = 1 << 18  # bytes
_TAIL = 1 << 15
_CONTROL = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|[\x00-\x08\x0b-\x1f\x7f]")


def log_tail(run: pathlib.Path, attempt: int) -> str:
    """The last 32 kB of the output of an attempt, without control characters; "" if there is none."""
    try:
        with open_regular(attempt_folder(run, attempt) / LOG) as file:
            start = max(os.fstat(file.fileno()).st_size - _TAIL, 0)
            file.seek(start)
            text = file.read(_TAIL).decode("utf-8", "replace")
    except OSError:
        return ""
    return without_control(text.partition("\n")[2] if start else text)


def without_control(text: str) -> str:
    """The text without what moves a terminal's cursor or colors its text."""
    return _CONTROL.sub("", text)


def read_log(run: pathlib.Path, attempt: int, offset: int, n_byte: int = MAX_READ) -> tuple[str, int, bool]:
    """(text, the next offset, whether there is more) of the output of an attempt, without control characters.

    offset: bytes; one behind the end, as of an output whose middle was removed, begins near the end
    n_byte: that are read at most
    """
    try:
        with open_regular(attempt_folder(run, attempt) / LOG) as file:
            size = os.fstat(file.fileno()).st_size
            start = offset if offset <= size else max(size - _TAIL, 0)
            file.seek(start)
            data = file.read(n_byte)
    except OSError:
        return "", 0, False
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    text = decoder.decode(data)
    end = start + len(data) - len(decoder.getstate()[0])  # a letter may not be there as a whole yet
    return without_control(text), end, len(data) == n_byte


def sandbox_of(run: pathlib.Path, attempt: int) -> str:
    """What keeps an attempt from writing elsewhere, in words; "" before it has started."""
    return str(read_json_object(attempt_folder(run, attempt) / STARTED).get("sandbox", ""))


def command_of(job: Job, run: pathlib.Path) -> str:
    """The shell command that starts or resumes the job."""
    return shlex.join(["cvzoo", *job.spec.words(run)])
