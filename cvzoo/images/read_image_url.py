"""Reads an image from an http or https URL, within limits of time and size."""

import time
from collections.abc import Sequence

from cvzoo.errors.exceptions import ImageError
from cvzoo.files.http_get import Answer, http_get
from cvzoo.images.decode import open_bytes
from cvzoo.images.from_pil import from_pil
from cvzoo.images.read_image import MAX_PIXELS, WHITE
from cvzoo.typing.aliases import Image

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
    if not url.lower().startswith(("http://", "https://")):
        raise ImageError(f"{url}: not an http or https URL", hint="read_image for a path")
    try:
        with http_get(url, headers={}, timeout=timeout) as answer:
            if answer.status != 200:
                raise ImageError(f"{url}: cannot be downloaded: the server answered {answer.status} {answer.reason}")
            data = _read(answer, url, max_bytes, time.monotonic() + max_seconds)
    except ConnectionError as error:
        raise ImageError(f"{url}: cannot be downloaded: {error}") from error
    return from_pil(open_bytes(data, name=url, max_pixels=max_pixels), color=color, background=background, name=url)


def _read(answer: Answer, url: str, max_bytes: int, until: float) -> bytes:
    parts: list[bytes] = []
    size = 0
    while part := answer.read1(_CHUNK):
        parts.append(part)
        size += len(part)
        if size > max_bytes:
            raise ImageError(
                f"{url}: the file is too large", expected=f"at most {max_bytes:,} bytes", hint="max_bytes="
            )
        if time.monotonic() > until:
            raise ImageError(f"{url}: the download takes too long", got=f"{size:,} bytes so far", hint="max_seconds=")
    return b"".join(parts)
