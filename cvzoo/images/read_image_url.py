"""Read a photo from an address, on purpose and within limits."""

import urllib.parse
import urllib.request

from cvzoo.errors.exceptions import ImageError
from cvzoo.images.decode import open_bytes
from cvzoo.images.from_pil import from_pil
from cvzoo.images.read_image import MAX_PIXELS, WHITE


def read_image_url(url, *, color=True, max_pixels=MAX_PIXELS, background=WHITE, timeout=20.0, max_bytes=100_000_000):
    """The photo at an http or https address, as `read_image` gives it.

    url: the address; a function of its own, so that a program that reads paths never reaches into a network by accident
    timeout: seconds without an answer
    max_bytes: the largest file that is fetched
    color, max_pixels, background: as for `read_image`
    Raises ImageError, naming the address, if it is of another kind, cannot be fetched, is too large or is no photo.
    """
    if urllib.parse.urlsplit(url).scheme not in ("http", "https"):
        raise ImageError(f"{url}: not an address of http or https", hint="read_image for a path")
    try:
        with urllib.request.urlopen(url, timeout=timeout) as response:
            data = response.read(max_bytes + 1)
    except (OSError, ValueError) as error:
        raise ImageError(f"{url}: cannot be fetched", got=error) from error
    if len(data) > max_bytes:
        raise ImageError(f"{url}: too large", expected=f"at most {max_bytes:,} bytes", hint="max_bytes=")
    return from_pil(open_bytes(data, name=url, max_pixels=max_pixels), color=color, background=background, name=url)
