"""Read a photo from an address, on purpose and within limits."""

import time

from cvzoo.errors.exceptions import ImageError
from cvzoo.files.http_get import Answer, http_get
from cvzoo.images.decode import open_bytes
from cvzoo.images.from_pil import from_pil
from cvzoo.images.read_image import MAX_PIXELS, WHITE

_CHUNK = 1 << 16


def read_image_url(
    url,
    *,
    color=True,
    max_pixels=MAX_PIXELS,
    background=WHITE,
    timeout=20.0,
    max_bytes=100_000_000,
    max_seconds=120.0,
):
    """The photo at an http or https address, as `read_image` gives it.

    url: the address; a function of its own, so that a program that reads paths never reaches into a network by accident
    timeout: seconds without an answer
    max_bytes: the largest file that is fetched
    max_seconds: how long the whole file may take, for a server that never stops to answer a little
    color, max_pixels, background: as for `read_image`
    Raises ImageError, naming the address, if it is of another kind, cannot be fetched, is too large, takes too long or
    is no photo.
    """
    if not url.lower().startswith(("http://", "https://")):
        raise ImageError(f"{url}: not an address of http or https", hint="read_image for a path")
    try:
        with http_get(url, headers={}, timeout=timeout) as answer:
            if answer.status != 200:
                raise ImageError(f"{url}: cannot be fetched: the server answers {answer.status} {answer.reason}")
            data = _read(answer, url, max_bytes, time.monotonic() + max_seconds)
    except ConnectionError as error:
        raise ImageError(f"{url}: cannot be fetched: {error}") from error
    return from_pil(open_bytes(data, name=url, max_pixels=max_pixels), color=color, background=background, name=url)


def _read(answer: Answer, url: str, max_bytes: int, until: float) -> bytes:
    parts, size = [], 0
    while part := answer.read1(_CHUNK):
        parts.append(part)
        size += len(part)
        if size > max_bytes:
            raise ImageError(f"{url}: too large", expected=f"at most {max_bytes:,} bytes", hint="max_bytes=")
        if time.monotonic() > until:
            raise ImageError(f"{url}: takes too long", got=f"{size:,} bytes so far", hint="max_seconds=")
    return b"".join(parts)
