"""Properties of image files for the data set doctor; each file is decoded only once."""

import collections
import concurrent.futures
import dataclasses
import hashlib
import io
import os
import pathlib
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
from PIL import Image

from cvzoo.datasets.doctor.fault import Fault
from cvzoo.errors.exceptions import ImageError
from cvzoo.images.decode import identify, load, upright
from cvzoo.images.from_pil import check_pixel_count
from cvzoo.images.read_image import MAX_PIXELS
from cvzoo.typing.aliases import Array

HASH_SIDE, LOOK_SIDE = 16, 32
_ENDINGS = {
    "JPEG": {".jpg", ".jpeg", ".mpo"},
    "MPO": {".jpg", ".jpeg", ".mpo"},
    "PNG": {".png"},
    "BMP": {".bmp"},
    "GIF": {".gif"},
    "PPM": {".pgm", ".pnm", ".ppm", ".pbm"},
    "WEBP": {".webp"},
    "TIFF": {".tif", ".tiff"},
    "JPEG2000": {".jp2"},
    "AVIF": {".avif"},
}
_ORIENTATION = 0x0112  # the EXIF tag


@dataclasses.dataclass(frozen=True, slots=True)
class ImageFacts:
    """Properties of one image file.

    trouble: the fault because of which it cannot be decoded, and the reason; None if it can
    size: (H, W), EXIF orientation applied; stored_size: without it; orientation: EXIF's, 1 is upright
    format: Pillow's name of the file format; ending_fits: whether the file extension matches it
    is_blank: all pixels have one color
    digest: SHA-256 of the file; fingerprint: (32,) uint8, the perceptual hash dHash, 256 signs of differences between
    neighbors in a 17 x 16 thumbnail; look: (32, 32) uint8, a gray thumbnail
    """

    trouble: tuple[Fault, str] | None = None
    size: tuple[int, int] | None = None
    stored_size: tuple[int, int] | None = None
    orientation: int = 1
    format: str | None = None
    ending_fits: bool = True
    is_blank: bool = False
    digest: bytes = b""
    fingerprint: Array | None = None
    look: Array | None = None


def image_facts(path: pathlib.Path, name: str | None = None) -> ImageFacts:
    """The properties of one file; its faults are among them and not raised. name: of the file, if not the path's"""
    return decoded_facts(path, path.name if name is None else name)[0]


def decoded_facts(path: pathlib.Path, name: str) -> tuple[ImageFacts, Image.Image | None]:
    """(the properties of one file, its pixels, EXIF orientation applied; None if they cannot be decoded)."""
    ending = pathlib.PurePath(name).suffix.lower()
    try:
        data = path.read_bytes()
    except OSError as error:
        return ImageFacts((Fault.PHOTO_UNREADABLE, error.strerror or str(error))), None
    if not data:
        return ImageFacts((Fault.PHOTO_EMPTY, "the file has 0 bytes")), None
    digest = hashlib.sha256(data).digest()
    try:
        pil = identify(io.BytesIO(data), name)
        check_pixel_count(pil.size, name=name, max_pixels=MAX_PIXELS)
    except ImageError as error:
        return ImageFacts((Fault.PHOTO_UNREADABLE, _reason(error, name)), digest=digest), None
    width, height = pil.size
    kind = pil.format
    try:
        load(pil, name=name)  # first: EXIF of a PNG is found by decoding it, whose error is ignored there
        orientation = _orientation(pil)
        turned = upright(pil)
        gray = turned.convert("L") if turned.mode != "L" else turned
    except (ImageError, ValueError, OSError) as error:
        trouble = Fault.PHOTO_TRUNCATED, _reason(error, name)
        return ImageFacts(trouble, stored_size=(height, width), format=kind, digest=digest), None
    # a difference hash: one more column than bits in a row
    small = np.asarray(gray.resize((HASH_SIDE + 1, HASH_SIDE), Image.Resampling.BOX, reducing_gap=3)).astype(np.int16)
    look = np.array(gray.resize((LOOK_SIDE, LOOK_SIDE), Image.Resampling.BOX, reducing_gap=3))
    facts = ImageFacts(
        size=(turned.size[1], turned.size[0]),
        stored_size=(height, width),
        orientation=orientation,
        format=kind,
        ending_fits=ending in _ENDINGS.get(kind or "", {ending}),
        # a color that is the same everywhere is one gray, also on average, which takes least to tell
        is_blank=bool(np.ptp(look) == 0) and _is_blank(gray) and _is_blank(turned),
        digest=digest,
        fingerprint=np.packbits(small[:, 1:] > small[:, :-1]),
        look=look,
    )
    return facts, turned


def many_image_facts(paths: Iterable[pathlib.Path | None]) -> Iterator[ImageFacts | None]:
    """The properties of each file in order, None for None; decoded in a few threads, some files ahead."""
    n_thread = min(8, len(os.sched_getaffinity(0)))
    pool = concurrent.futures.ThreadPoolExecutor(n_thread, thread_name_prefix="image-facts")
    ahead: collections.deque[concurrent.futures.Future[ImageFacts] | None] = collections.deque()
    try:
        for path in paths:
            ahead.append(None if path is None else pool.submit(image_facts, path))
            # bounded, so that the results of a large data set are not all in memory
            if len(ahead) > 4 * n_thread:
                yield _result(ahead.popleft())
        while ahead:
            yield _result(ahead.popleft())
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def _result(future: concurrent.futures.Future[ImageFacts] | None) -> ImageFacts | None:
    return None if future is None else future.result()


def _orientation(pil: Image.Image) -> int:
    try:
        orientation = pil.getexif().get(_ORIENTATION)
    except Exception:  # Pillow may raise anything for a corrupt EXIF block, while the image itself is intact
        return 1
    return orientation if isinstance(orientation, int) and 2 <= orientation <= 8 else 1


def _is_blank(pil: Image.Image) -> bool:
    extremes: Any = pil.getextrema()  # of one channel a pair, of several a pair for each
    bands = extremes if isinstance(extremes[0], tuple) else (extremes,)
    return all(low == high for low, high in bands)


def _reason(error: BaseException, name: str) -> str:
    lines = str(error).splitlines()
    first = lines[0].removeprefix(f"{name}: ")
    got = next((line.split(":", 1)[1].strip() for line in lines if line.strip().startswith("got:")), "")
    return f"{first} ({got})" if got else first
