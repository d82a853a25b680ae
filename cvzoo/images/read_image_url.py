"""Reads an image from an http or https URL, or downloads a video, within limits of time and size."""

import contextlib
import os
import pathlib
import time
import urllib.parse
from collections.abc import Callable, Iterator, Sequence

from cvzoo.errors.exceptions import ImageError
from cvzoo.files.http_get import Answer, http_get
from cvzoo.images.decode import open_bytes
from cvzoo.images.from_pil import from_pil
from cvzoo.images.read_image import MAX_PIXELS, WHITE
from cvzoo.typing.aliases import FilePath, Image

_CHUNK = 1 << 16


def read_image_url(
    url: str,
    *,
    color: bool = True,
    max_pixels: int = MAX_PIXELS,
    background: Sequence[float] | None = WHITE,
    timeout: float = 20.0,
    max_bytes: int = 100_000_000,
    max_seconds: float = 120.0,
) -> Image:
    """The image at an http or https URL, as `read_image` returns it.

    url: the URL; `read_image` does not take one, so that a program that reads paths never uses the network by accident
    timeout: seconds without a response
    max_bytes: the largest file that is downloaded
    max_seconds: time limit of the whole download, against servers that send slowly forever
    color, max_pixels, background: as for `read_image`
    Raises ImageError, naming the URL, if its scheme is another, it cannot be downloaded, is too large, takes too long
    or is no image.
    """
    with _answer(url, "an image", timeout) as answer:
        data = b"".join(_chunks(answer, url, max_bytes, max_seconds))
    return from_pil(open_bytes(data, name=url, max_pixels=max_pixels), color=color, background=background, name=url)


def download_video(
    url: str,
    folder: FilePath,
    *,
    timeout: float = 20.0,
    max_bytes: int = 8_000_000_000,
    max_seconds: float = 3600.0,
    progress: Callable[[int, int | None], None] | None = None,
) -> pathlib.Path:
    """The path of the file at an http or https URL, downloaded to an existing folder, for `VideoReader`.

    timeout, max_bytes, max_seconds: as for `read_image_url`
    progress: called with the number of bytes and the total, None if the server does not state it
    Raises ImageError as `read_image_url` does, and for a page instead of a video; OSError if it cannot be stored.
    """
    name = pathlib.PurePosixPath(urllib.parse.urlsplit(url).path).name
    path = pathlib.Path(folder) / f"video{os.path.splitext(name)[1]}"
    with _answer(url, "a video", timeout) as answer, open(path, "wb") as file:
        stated = answer.headers.get("Content-Length", "")
        total = int(stated) if stated.isascii() and stated.isdecimal() else None
        done = 0
        for part in _chunks(answer, url, max_bytes, max_seconds):
            file.write(part)
            done += len(part)
            if progress is not None:
                progress(done, total)
    if total is not None and done < total:
        raise ImageError(f"{url}: the download is truncated", expected=f"{total:,} bytes", got=f"{done:,}")
    return path


@contextlib.contextmanager
def _answer(url: str, what: str, timeout: float) -> Iterator[Answer]:
    """The server's response with a file. what: "an image" or "a video", for errors"""
    if not url.lower().startswith(("http://", "https://")):
        raise ImageError(f"{url}: not an http or https URL", hint="read_image for a path")
    try:
        with http_get(url, headers={}, timeout=timeout) as answer:
            if answer.status != 200:
                raise ImageError(f"{url}: cannot be downloaded: the server answered {answer.status} {answer.reason}")
            if answer.headers.get("Content-Type", "").lower().startswith(("text/html", "application/xhtml")):
                raise ImageError(f"{url}: the server sends a page (HTML), not {what}", hint="the address of the file")
            yield answer
    except ConnectionError as error:
        raise ImageError(f"{url}: cannot be downloaded: {error}") from error


def _chunks(answer: Answer, url: str, max_bytes: int, max_seconds: float) -> Iterator[bytes]:
    until = time.monotonic() + max_seconds
    size = 0
    while part := answer.read1(_CHUNK):
        size += len(part)
        if size > max_bytes:
            raise ImageError(
                f"{url}: the file is too large", expected=f"at most {max_bytes:,} bytes", hint="max_bytes="
            )
        if time.monotonic() > until:
            raise ImageError(f"{url}: the download takes too long", got=f"{size:,} bytes so far", hint="max_seconds=")
        yield part
