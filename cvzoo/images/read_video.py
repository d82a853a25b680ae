"""The frames of a video, by OpenCV."""

import contextlib
import os
import time
from collections.abc import Iterator
from types import ModuleType
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from cvzoo.errors.exceptions import DtypeError, ImageError, ValueRangeError
from cvzoo.images.from_pil import check_pixel_count, from_pixels
from cvzoo.images.import_cv2 import import_cv2
from cvzoo.images.read_image import MAX_PIXELS
from cvzoo.images.video_kind import camera_of, video_kind
from cvzoo.typing.aliases import FilePath, Image

_LIVE_RATE = 25.0  # frames per second of a camera that does not state them
_MAX_RATE = 1000.0  # frames per second; what a container says beyond is the clock of its time stamps


class VideoFrame(NamedTuple):
    """A frame of a video.

    number: its position in the video, from 0
    time: seconds from the first frame; of a camera or stream, those on the clock of the machine
    img: (3, H, W), RGB in [0, 255]
    """

    number: int
    time: float
    img: Image


class VideoReader:
    """An open video file, camera or stream; `with VideoReader("movie.mp4") as video: video.frames()`.

    source: the path of a video file, the index of a camera (or its name in /dev), or the URL of a stream
    name: the source as text; kind: "a video", "a camera" or "a video stream"
    frame_rate: frames per second, None if unknown
    n_frame: the number of frames that a file states, which may be an estimate; None for cameras and streams
    n_read: the number of frames that were read or skipped so far
    Raises FileNotFoundError, ImageError for a video that cannot be opened, DtypeError for a source of another type,
    MissingExtraError without OpenCV.
    """

    def __init__(self, source: FilePath | int) -> None:
        if not isinstance(source, int | str | os.PathLike):
            raise DtypeError(
                "read_video: source must be a path, an address or the number of a camera", got=repr(source)
            )
        self.name = str(source) if isinstance(source, int) else os.fspath(source)
        kind = "a camera" if isinstance(source, int) else video_kind(self.name)
        if kind in (None, "a video") and "://" not in self.name and not os.path.exists(self.name):
            raise FileNotFoundError(2, os.strerror(2), self.name)
        self.kind = kind or "a video"
        self._cv2 = import_cv2()
        number = camera_of(self.name) if kind == "a camera" else None
        with silent(self._cv2):
            self._capture = self._cv2.VideoCapture(self.name if number is None else number)
        if not self._capture.isOpened():
            self.close()
            what, hint = _CLOSED[self.kind]
            raise ImageError(f"{self.name}: cannot be opened as {self.kind}: {what}", hint=hint)
        rate, count = (self._capture.get(each) for each in (self._cv2.CAP_PROP_FPS, self._cv2.CAP_PROP_FRAME_COUNT))
        self.frame_rate = float(rate) if 0 < rate <= _MAX_RATE else None
        self._grabbed: float | None = None  # when the last frame of a live source was
        self.n_frame = int(count) if self.kind == "a video" and count > 0 else None
        self.n_read = 0

    @property
    def is_live(self) -> bool:
        """Whether frames come in real time, without an end: those of a camera or a stream."""
        return self.kind != "a video"

    def frames(
        self,
        *,
        start: int = 0,
        stop: int | None = None,
        step: int = 1,
        max_pixels: int = MAX_PIXELS,
        dtype: npt.DTypeLike = np.float32,
    ) -> Iterator[VideoFrame]:
        """The frames start, start + step ... before stop (None: to the end), read lazily.

        max_pixels, dtype: as for `read_image`
        The file's rotation is applied. Frames of a camera or stream that come while the caller works are skipped, so
        that the next one is recent; `number` and `n_read` count them. The frames of a truncated file end early, with
        `n_read` below `n_frame`.
        Raises ImageError if there is no frame at all, or one is too large; ValueRangeError for a negative start or
        stop, or a step below 1.
        """
        if step < 1:
            raise ValueRangeError("read_video: step must be positive", got=step)
        if start < 0 or (stop is not None and stop < 0):
            raise ValueRangeError("read_video: start and stop must not be negative", got=(start, stop))
        return self._frames(start, stop, step, max_pixels, np.dtype(dtype))

    def _frames(
        self, start: int, stop: int | None, step: int, max_pixels: int, dtype: np.dtype
    ) -> Iterator[VideoFrame]:
        first: float | None = None
        while (stop is None or self.n_read < stop) and self._grab():
            number, seconds = self.n_read, self._seconds()
            first = seconds if first is None else first
            self.n_read += 1
            if number < start or (number - start) % step:
                continue
            is_there, pixels = self._capture.retrieve()
            if not is_there:
                break
            check_pixel_count(pixels.shape[1::-1], name=f"{self.name}, frame {number}", max_pixels=max_pixels)
            img = from_pixels(self._cv2.cvtColor(pixels, self._cv2.COLOR_BGR2RGB), color=True, dtype=dtype)
            yield VideoFrame(number, seconds - first, img)
        if self.n_read == 0 and stop != 0:
            raise ImageError(f"{self.name}: no frame can be read")

    def _grab(self) -> bool:
        """Whether there is a next frame; of a live source it is the newest, since older ones wait in a buffer."""
        before = time.monotonic() if self.is_live else 0.0
        is_there = bool(self._capture.grab())
        if not self.is_live:
            return is_there
        now = time.monotonic()
        interval = 1 / (self.frame_rate or _LIVE_RATE)
        missed = 0 if self._grabbed is None else int((before - self._grabbed) / interval) - 1
        while is_there and missed > 0 and now - before < interval / 2:  # who has to wait for a frame gets the newest
            before = now
            is_there = bool(self._capture.grab())
            self.n_read, missed, now = self.n_read + is_there, missed - 1, time.monotonic()
        self._grabbed = now
        return is_there

    def _seconds(self) -> float:
        """When the frame that was just grabbed is shown."""
        if self._grabbed is not None:
            return self._grabbed
        stamp = self._capture.get(self._cv2.CAP_PROP_POS_MSEC) / 1000
        # some containers have no time stamps
        return float(stamp) if stamp > 0 or not self.n_read else self.n_read / (self.frame_rate or 25.0)

    def close(self) -> None:
        """Closes the file, or frees the camera."""
        self._capture.release()

    def __enter__(self) -> "VideoReader":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


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
    The frames of a camera do not end. `VideoReader` has frames with their numbers and times, and raises the same.
    """
    if step < 1:
        raise ValueRangeError("read_video: step must be positive", got=step)
    return _images(VideoReader(source), step, max_pixels, dtype)


def _images(video: VideoReader, step: int, max_pixels: int, dtype: npt.DTypeLike) -> Iterator[Image]:
    with video:
        for frame in video.frames(step=step, max_pixels=max_pixels, dtype=dtype):
            yield frame.img


# why a source cannot be opened, and what to try
_CLOSED = {
    "a video": ("truncated, no video, or of an unsupported codec", "ffmpeg -i FILE -c:v mpeg4 NEW.mp4"),
    "a camera": ("there is none, or it is in use", "ls /dev/video*"),
    "a video stream": ("the server does not answer, or not with a video", "ffprobe URL"),
}


_SILENT = 0  # OpenCV's LOG_LEVEL_SILENT


@contextlib.contextmanager
def silent(cv2: ModuleType) -> Iterator[None]:
    """Without OpenCV's own messages, which repeat in other words what the error says."""
    # cv2.utils.logging, which older versions do not have, or the same functions in cv2 itself
    logging = getattr(cv2.utils, "logging", cv2)
    before = logging.getLogLevel()
    os.environ.setdefault("OPENCV_FFMPEG_LOGLEVEL", "-8")  # read when FFmpeg is first used
    logging.setLogLevel(_SILENT)
    try:
        yield
    finally:
        logging.setLogLevel(before)
