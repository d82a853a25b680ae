"""Writes videos, by OpenCV."""

import contextlib
import os
import pathlib
import secrets
from typing import Any

import numpy as np

from cvzoo.errors.exceptions import ImageError, ShapeError, ValueRangeError
from cvzoo.images.import_cv2 import import_cv2
from cvzoo.images.read_video import silent
from cvzoo.images.write_image import to_pil
from cvzoo.typing.aliases import FilePath, Image

# the codecs that every build of OpenCV with FFmpeg has; H.264 is in few of them
_CODECS = {".mp4": "mp4v", ".m4v": "mp4v", ".mov": "mp4v", ".mkv": "mp4v", ".avi": "MJPG", ".webm": "VP80"}


class VideoWriter:
    """A video file that is written frame by frame: `with VideoWriter("movie.mp4", frame_rate=25) as video: ...`.

    path: .mp4, .m4v, .mov or .mkv (MPEG-4), .avi (Motion JPEG) or .webm (VP8); its folder must exist
    frame_rate: frames per second
    size: (H, W) of the frames, that of the first one; n_frame: the number of written frames
    The file gets its name when it is closed, which the end of the block does, also after an exception: it is always
    complete. Without a frame nothing is written. The codecs need even sides: an odd size loses its last row or column.
    Raises ImageError for another extension, ValueRangeError for a frame rate that is not positive, MissingExtraError
    without OpenCV.
    """

    def __init__(self, path: FilePath, *, frame_rate: float) -> None:
        self.path = pathlib.Path(path)
        if self.path.suffix.lower() not in _CODECS:
            raise ImageError(f"{path}: unsupported video format", expected=" ".join(_CODECS), got=self.path.suffix)
        if not frame_rate > 0:
            raise ValueRangeError("VideoWriter: frame_rate must be positive", got=frame_rate)
        self._cv2 = import_cv2()
        self.frame_rate = float(frame_rate)
        self.size: tuple[int, int] | None = None
        self.n_frame = 0
        self._writer: Any = None
        self._part = self.path.with_name(f".{self.path.stem[:60]}.{secrets.token_hex(4)}.part{self.path.suffix}")

    def write(self, img: Image) -> None:
        """Append a frame, (3, H, W) float32 in [0, 255] or any array that `read_image` takes.

        Raises ShapeError for another size than that of the first frame, ImageError if the codec is not there, OSError
        if the folder cannot be written.
        """
        pixels = np.asarray(to_pil(img).convert("RGB"))
        writer = self._open(pixels.shape[:2]) if self._writer is None else self._writer
        if pixels.shape[:2] != self.size:
            raise ShapeError("all frames of a video must be of one size", expected=self.size, got=pixels.shape[:2])
        height, width = self._even
        writer.write(self._cv2.cvtColor(np.ascontiguousarray(pixels[:height, :width]), self._cv2.COLOR_RGB2BGR))
        self.n_frame += 1

    def _open(self, size: tuple[int, ...]) -> Any:
        height, width = size
        with open(self._part, "wb"):  # OpenCV would not say why it cannot be written
            pass
        codec = _CODECS[self.path.suffix.lower()]
        self._even = max(height - height % 2, 1), max(width - width % 2, 1)
        with silent(self._cv2):
            fourcc = self._cv2.VideoWriter.fourcc(*codec)
            writer = self._cv2.VideoWriter(str(self._part), fourcc, self.frame_rate, self._even[::-1])
        if not writer.isOpened():
            self._part.unlink(missing_ok=True)
            raise ImageError(
                f"{self.path}: OpenCV cannot write a video of {height} x {width} pixels with the codec {codec}",
                hint="another extension: .avi (Motion JPEG)",
            )
        self._writer, self.size = writer, (height, width)
        return writer

    def close(self) -> None:
        """Completes the file. Raises ImageError if it has not grown as it should, as on a full disk; OSError."""
        if self._writer is None:
            return
        writer, self._writer = self._writer, None
        try:
            writer.release()
            if not self._part.stat().st_size:
                raise ImageError(f"{self.path}: the video could not be written", hint="is the disk full?")
            os.replace(self._part, self.path)
        finally:
            with contextlib.suppress(OSError):
                self._part.unlink()

    def __enter__(self) -> "VideoWriter":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
