"""The frames of a video, by OpenCV."""

import os
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import numpy as np
import numpy.typing as npt

from cvzoo.errors.exceptions import DtypeError, ImageError, ValueRangeError
from cvzoo.images.decode import check_pixel_count
from cvzoo.images.from_pil import from_pixels
from cvzoo.images.import_cv2 import import_cv2
from cvzoo.images.read_image import MAX_PIXELS
from cvzoo.images.video_kind import video_kind
from cvzoo.typing.aliases import FilePath, Image


def read_video(
    source: FilePath | int,
    *,
    step: int = 1,
    max_pixels: int = MAX_PIXELS,
    dtype: npt.DTypeLike = np.float32,
) -> Iterator[Image]:
    """The frames of a video in order, each a new (3, H, W) array, RGB in [0, 255], read lazily.

    source: the path of a video file, the index of a camera (or its name in /dev), or the URL of a stream
    step: every `step`-th frame is returned
    max_pixels, dtype: as for `read_image`
    The frames of a camera do not end. The file's rotation is applied. The frames of a truncated file end early.
    Raises FileNotFoundError, ImageError for a video that cannot be opened, or has no frames or too large ones;
    ValueRangeError for a step below 1, DtypeError for a source of another type, MissingExtraError without OpenCV.
    """
    if step < 1:
        raise ValueRangeError("read_video: step must be positive", got=step)
    if not isinstance(source, int | str | os.PathLike):
        raise DtypeError("read_video: source must be a path, an address or the number of a camera", got=repr(source))
    cv2 = import_cv2()
    name = str(source) if isinstance(source, int) else os.fspath(source)
    kind = "a camera" if isinstance(source, int) else video_kind(name)
    if kind in (None, "a video") and "://" not in name and not os.path.exists(name):
        raise FileNotFoundError(2, os.strerror(2), name)
    is_number = kind == "a camera" and not name.startswith("/dev/")
    capture = cv2.VideoCapture(int(name) if is_number else name)
    if not capture.isOpened():
        raise ImageError(f"{name}: cannot be opened as {kind or 'a video'}")
    return _frames(cv2, capture, name, step, max_pixels, np.dtype(dtype))


def _frames(cv2: ModuleType, capture: Any, name: str, step: int, max_pixels: int, dtype: np.dtype) -> Iterator[Image]:
    n = 0
    try:
        while capture.grab():
            if n % step == 0:
                is_there, pixels = capture.retrieve()
                if not is_there:
                    break
                check_pixel_count(pixels.shape[1::-1], name=f"{name}, frame {n}", max_pixels=max_pixels)
                yield from_pixels(cv2.cvtColor(pixels, cv2.COLOR_BGR2RGB), color=True, dtype=dtype)
            n += 1
    finally:
        capture.release()
    if n == 0:
        raise ImageError(f"{name}: no frame can be read")
