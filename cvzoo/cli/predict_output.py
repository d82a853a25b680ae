"""Output of `cvzoo predict` to a folder: images and videos with the predictions, JSON, label maps."""

import pathlib
import sys
from typing import Any, Literal

from cvzoo.cli.draw_style import write_crops
from cvzoo.cli.json_records import write_json
from cvzoo.cli.photo_sources import Frame, Video, path_of, video_stem
from cvzoo.cli.picture_names import PictureNames
from cvzoo.cli.predicted_set import PredictedSet
from cvzoo.cli.presentation import Predicted, Presentation
from cvzoo.errors.exceptions import ImageError
from cvzoo.images.write_image import write_image
from cvzoo.images.write_video import VideoWriter
from cvzoo.reporting.as_time import as_time
from cvzoo.typing.aliases import Image
from cvzoo.visualizations.draw_bbox import DrawStyle

_CROPS = "crops"  # the folder, and the field of the records
_RATE = 25.0  # frames per second of a video that does not state its own
_LONGEST_STILL = 10.0  # seconds: a camera that pauses for longer does not fill the video with copies of a frame


class PredictOutput:
    """The folder of the results; a context, at whose end the video at hand and the data set are complete.

    presentation: of the model's task
    out: the folder; None: nothing is written
    draws: whether images and videos with the predictions are written
    save_frames: whether the frames of videos are images of their own, instead of one video
    data_set: collects the predictions, or None
    style: of drawing
    crops: whether the part of the image in each box is an image of its own, transparent outside of masks or not
    closing: lines about the data set, at the end
    """

    def __init__(
        self,
        presentation: Presentation,
        out: pathlib.Path | None,
        *,
        draws: bool,
        save_frames: bool = False,
        data_set: PredictedSet | None = None,
        style: DrawStyle,
        crops: Literal["boxes", "masks"] | None = None,
    ) -> None:
        self._presentation = presentation
        self._out = out
        self._draw = presentation.draw if draws else None
        self._style = style
        self._crops = crops
        self._save_frames = save_frames
        self._data_set = data_set
        self._names = PictureNames()
        self._video: _OpenVideo | None = None
        self._source: Video | None = None  # of the last frame
        self._stem = ""  # its name in the folder
        self.closing: list[str] = []

    def write(self, each: Predicted) -> dict[str, Any]:
        """Writes what belongs to the image and returns its record."""
        source = each.path.video if isinstance(each.path, Frame) else None
        if source is not self._source:
            self.close()
            self._source = source
            self._stem = "" if source is None else self._names.of(pathlib.PurePath(f"{video_stem(source)}.mp4"))[0]
        if self._data_set is not None:
            self._data_set.add(each)
        if not isinstance(each.path, Frame):
            return self._image(each)
        record = self._image(each) if self._save_frames else self._frame(each, each.path)
        place = {"frame": each.path.number, "time": round(each.path.time, 6)}
        return {"photo": record.pop("photo"), **place, **record}

    def close(self) -> None:
        """Completes the video at hand."""
        if self._video is not None:
            video, self._video = self._video, None
            video.close()

    def __enter__(self) -> "PredictOutput":
        return self

    def __exit__(self, *_: object) -> None:
        try:
            self.close()
        finally:
            if self._data_set is not None:
                self.closing = self._data_set.write()

    def _image(self, each: Predicted) -> dict[str, Any]:
        out = self._out
        if out is None:
            return self._record(each, None)
        own = f"{self._stem}_{each.path.number:06d}.jpg" if isinstance(each.path, Frame) else path_of(each.path)
        name, ending = self._names.of(pathlib.PurePath(own))
        picture = None
        if self._draw is not None:
            picture = f"{name}{ending}"
            write_image(self._draw(each.found, each.i, each.img, self._style), out / picture)
        record = self._record(each, picture) | self._cropped(each, name)
        if self._presentation.write_more is not None:
            record |= self._presentation.write_more(each.found, each.i, out, name)
        write_json(record, out / f"{name}.json")
        return record

    def _cropped(self, each: Predicted, name: str) -> dict[str, Any]:
        if self._crops is None or self._out is None:
            return {}
        folder, masked = self._out / _CROPS, self._crops == "masks"
        files = write_crops(each.found, each.i, each.img, folder, name, masked=masked)
        return {_CROPS: [f"{_CROPS}/{file}" for file in files]}

    def _frame(self, each: Predicted, frame: Frame) -> dict[str, Any]:
        cropped = self._cropped(each, f"{self._stem}_{frame.number:06d}")
        if self._out is None or self._draw is None:
            return self._record(each, None) | cropped
        if self._video is None:
            self._video = _OpenVideo(frame, self._out / f"{self._stem}.mp4")
        self._video.write(self._draw(each.found, each.i, each.img, self._style), frame.time)
        return self._record(each, self._video.name) | cropped

    def _record(self, each: Predicted, picture: str | None) -> dict[str, Any]:
        return self._presentation.record(str(each.path), each.img.shape[1:], each.found, each.i, picture)


class _OpenVideo:
    """The annotated copy of a video: as long as the original, at its frame rate."""

    def __init__(self, frame: Frame, path: pathlib.Path) -> None:
        self._is_live = frame.is_live
        self._writer = VideoWriter(path, frame_rate=frame.rate or _RATE)
        self._start = frame.time

    @property
    def name(self) -> str:
        return self._writer.path.name

    def write(self, img: Image, time: float) -> None:
        """A frame that is shown `time` seconds after the first one of the video."""
        if self._writer.n_frame == 0:
            self._first(img)
            return
        # frames of a camera that were missed while the network ran are repeated, so that the video is in real time
        missing = round((time - self._start) * self._writer.frame_rate) + 1 - self._writer.n_frame
        most = round(_LONGEST_STILL * self._writer.frame_rate)
        if missing > most:
            self._start += (missing - most) / self._writer.frame_rate
        for _ in range(min(missing, most) if self._is_live else 1):
            self._writer.write(img)

    def _first(self, img: Image) -> None:
        try:
            self._writer.write(img)
        except ImageError as error:  # no such codec
            other = self._writer.path.with_suffix(".avi")
            print(f"cvzoo predict: {error}\nwriting {other} instead", file=sys.stderr)
            self._writer = VideoWriter(other, frame_rate=self._writer.frame_rate)
            self._writer.write(img)

    def close(self) -> None:
        self._writer.close()


def frame_text(record: dict[str, Any]) -> str:
    """A line about a frame of a video: its name, time and what was found: "movie.mp4#25  0:01  2 car, 1 dog"."""
    counts: dict[str, int] = {}
    for each in record.get("objects", ()):
        name = str(each["label"] if each["name"] is None else each["name"])
        counts[name] = counts.get(name, 0) + 1
    words = [f"{n} {name}" for name, n in sorted(counts.items(), key=lambda item: -item[1])]
    for each in record.get("classes", ())[:3]:
        name = str(each["label"] if each["name"] is None else each["name"])
        words.append(f"{name} {each['share']:.0%}" if "share" in each else f"{name} {each['score']:.2f}")
    return f"{record['photo']}  {as_time(record['time'])}  {', '.join(words) or 'nothing'}"
