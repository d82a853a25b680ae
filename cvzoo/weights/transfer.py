"""Download of one file into a part file, resumed where an earlier attempt ended."""

import contextlib
import errno
import io
import json
import os
import pathlib
import re
import shutil
import time
import urllib.parse
from collections.abc import Callable, Iterator
from typing import BinaryIO, NoReturn

from cvzoo.errors.exceptions import DownloadError
from cvzoo.files.http_get import Answer, http_get

TRIES = 4
WAIT = 0.5  # seconds before the first retry, doubled for each further one
TIMEOUT = 30.0
CHUNK = 1 << 18
TOTAL_SECONDS = 24 * 3600.0  # limit of one attempt
MAX_BYTES = 64 << 30  # limit without a Content-Length
_RANGE = re.compile(r"bytes (\d+)-(\d+)/(\d+|\*)")
_LATER = (408, 425, 429, 500, 502, 503, 504)  # statuses that are retried


class _Broken(Exception):
    """The connection failed; a retry may succeed."""


def transfer(
    url: str,
    part: pathlib.Path,
    *,
    size: int | None = None,
    progress: Callable[[int, int | None], object] | None = None,
) -> None:
    """Download a URL to the part file, which is synced to disk on return.

    size: expected number of bytes, if known
    The part file of a failed connection is kept, so that a later call resumes; invalid data is removed.
    Raises DownloadError.
    """
    for i in range(TRIES):
        try:
            _attempt(url, part, size, progress)
            return
        except _Broken as error:
            if i == TRIES - 1:
                raise DownloadError(f"{error} ({TRIES} tries)") from error
            time.sleep(WAIT * 2**i)


def _attempt(url: str, part: pathlib.Path, size: int | None, progress: Callable | None) -> None:
    start, validator = _resumable(url, part)
    headers = {"Range": f"bytes={start}-", "If-Range": validator} if start else {}
    with _opened(url, headers) as answer:
        if answer.status not in (200, 206):
            _refuse(answer, start, part)
        start, total = _placed(answer, start, part)
        _check_total(total, size, start, part)
        _remember(url, part, answer)
        done = _receive(answer, part, start, total, size if size is not None else total, progress)
    if total is not None and done < total:
        raise _Broken(f"the connection ended after {done} of {total} bytes")
    if size is not None and done != size:
        _remove(part)
        raise DownloadError("the file is too short", expected=f"{size} bytes", got=done)
    _meta(part).unlink(missing_ok=True)


class _FileAnswer:
    """The contents of a file: URL, with the interface of a server's response."""

    def __init__(self, file: io.BufferedReader) -> None:
        self.status, self.reason = 200, ""
        self.headers = {"Content-Length": str(os.fstat(file.fileno()).st_size)}
        self.read1 = file.read1


@contextlib.contextmanager
def _opened(url: str, headers: dict[str, str]) -> Iterator[Answer | _FileAnswer]:
    """The response to a request. Raises DownloadError without one."""
    with contextlib.ExitStack() as stack:
        answer: Answer | _FileAnswer
        try:
            if url.startswith("file:"):
                from urllib.request import url2pathname  # with HTTP, TLS and mail: 10 ms of each start

                path = url2pathname(urllib.parse.urlsplit(url).path)
                answer = _FileAnswer(stack.enter_context(open(path, "rb")))
            else:
                answer = stack.enter_context(http_get(url, headers=headers, timeout=TIMEOUT))
        except ConnectionError as error:
            raise DownloadError(f"the connection failed: {error}") from error
        except OSError as error:
            raise DownloadError(f"cannot be read: {error}") from error
        yield answer


def _refuse(answer: Answer | _FileAnswer, start: int, part: pathlib.Path) -> NoReturn:
    """Raises the error for a status without a file."""
    if answer.status == 416:  # the part file is longer than the server's file: restart
        _remove(part)
    what = f"the server answers {answer.status} {answer.reason}"
    if answer.status in _LATER or (answer.status == 416 and start):
        raise _Broken(what)
    raise DownloadError(what)


def _meta(part: pathlib.Path) -> pathlib.Path:
    return part.with_name(f"{part.name}.json")


def _remove(part: pathlib.Path) -> None:
    part.unlink(missing_ok=True)
    _meta(part).unlink(missing_ok=True)


def _resumable(url: str, part: pathlib.Path) -> tuple[int, str]:
    """The number of bytes of an earlier attempt that can be kept, and the validator of the file's version (ETag)."""
    with contextlib.suppress(OSError, ValueError, KeyError, TypeError):
        kept = json.loads(_meta(part).read_text(encoding="utf-8"))
        if kept["url"] == url and isinstance(kept["validator"], str) and kept["validator"]:
            return part.stat().st_size, kept["validator"]
    return 0, ""


def _remember(url: str, part: pathlib.Path, response: Answer | _FileAnswer) -> None:
    etag = response.headers.get("ETag", "")
    # a weak ETag does not guarantee the same bytes
    validator = etag if etag.startswith('"') else response.headers.get("Last-Modified", "")
    _meta(part).write_text(json.dumps({"url": url, "validator": validator}), encoding="utf-8")


def _placed(response: Answer | _FileAnswer, start: int, part: pathlib.Path) -> tuple[int, int | None]:
    """The offset of the body in the file, and the file's total size if the server states it."""
    if response.headers.get("Content-Encoding", "identity") != "identity":
        raise DownloadError("the server compresses the file although it was requested uncompressed")
    length = response.headers.get("Content-Length", "")
    n = int(length) if length.isdecimal() and len(length) < 20 else None
    if start and response.status == 206:
        match = _RANGE.fullmatch(response.headers.get("Content-Range", ""))
        if match is None or int(match[1]) != start:
            _remove(part)
            raise _Broken("the server sends another part of the file than requested")
        return start, int(match[3]) if match[3] != "*" else None if n is None else start + n
    if response.status != 200:
        raise DownloadError(f"the server answers {response.status}, which is not valid for this request")
    return 0, n  # the server ignored the range, or the file has changed


def _check_total(total: int | None, size: int | None, start: int, part: pathlib.Path) -> None:
    if size is not None and total is not None and total != size:
        _remove(part)
        raise DownloadError("the server's file has another size", expected=f"{size} bytes", got=f"{total} bytes")
    need = (total if total is not None else size or 0) - start
    free = shutil.disk_usage(part.parent).free
    if need > free:
        raise DownloadError(f"disk space is short at {part.parent}", expected=f"{need} bytes", got=f"{free} bytes free")


def _receive(
    response: Answer | _FileAnswer,
    part: pathlib.Path,
    start: int,
    total: int | None,
    most: int | None,
    progress: Callable | None,
) -> int:
    """Append the body to the part file from `start` on; returns the part's new size.

    total: size of the file according to the server; most: maximum size
    """
    try:
        with open(part, "r+b" if start else "wb") as file:
            file.truncate(start)
            file.seek(start)
            try:
                done = _copy(response, file, start, total, most, progress)
            except BaseException:
                with contextlib.suppress(OSError):  # so that the next attempt can resume
                    file.flush()
                    os.fsync(file.fileno())
                raise
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):  # otherwise the part file would keep the disk full
            _remove(part)
        raise
    last = MAX_BYTES if most is None else most
    if done > last:
        _remove(part)
        raise DownloadError("the server sends more than the file has", expected=f"{last} bytes")
    return done


def _copy(
    response: Answer | _FileAnswer,
    file: BinaryIO,
    start: int,
    total: int | None,
    most: int | None,
    progress: Callable | None,
) -> int:
    """Write the body; returns its end offset, at once if it exceeds `most`."""
    done, last = start, MAX_BYTES if most is None else most
    deadline = time.monotonic() + TOTAL_SECONDS
    while True:
        if progress is not None:
            progress(done, most)
        if done == total:
            return done
        try:
            # read what is available, since a full chunk of a slow server may take hours
            block = response.read1(CHUNK if total is None else min(CHUNK, total - done))
        except OSError as error:
            raise _Broken(f"the connection failed: {error}") from error
        done += len(block)
        if not block or done > last:
            return done
        if time.monotonic() > deadline:
            raise _Broken(f"the download did not finish within {TOTAL_SECONDS / 3600:.0f} hours")
        file.write(block)
