"""What a detector found, as arrays that can show themselves."""

import os
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from PIL import Image

from cvzoo.errors.exceptions import ImageError, ValueRangeError
from cvzoo.images.read_image import read_image
from cvzoo.images.write_image import write_image
from cvzoo.visualizations.draw_bbox import draw_bbox
from cvzoo.visualizations.html import detection_html, detection_png

_SHOWN = 20  # photos in a notebook's cell, rows in a repr


class _Lists(NamedTuple):
    bboxes: list
    labels: list
    scores: list


class Detections(_Lists):
    """Three lists with one element a photo: `bboxes, labels, scores = detections`.

    bboxes: (R, 4) float32 each, y_min x_min y_max x_max, pixels of the photo; a box may stick out of it
    labels: (R,) int32 each, 0 .. n_fg_class - 1
    scores: (R,) float32 each, best first
    label_names: names of the classes in order of label, or None
    sources: the photos as they were given (paths, arrays ...), looked at only when a picture is asked for; None where
        they cannot be read a second time
    """

    label_names: tuple[str, ...] | None = None
    sources: Sequence[Any] = ()

    def __new__(
        cls,
        bboxes: list,
        labels: list,
        scores: list,
        *,
        label_names: Sequence[str] | None = None,
        sources: Sequence[Any] = (),
    ) -> "Detections":
        self = super().__new__(cls, bboxes, labels, scores)
        self.label_names = None if label_names is None else tuple(label_names)
        self.sources = list(sources)
        return self

    @property
    def n_photo(self) -> int:
        """How many photos (`len` is 3, that of the tuple)."""
        return len(self.bboxes)

    def draw(self, i: int = 0, *, img: Any = None) -> np.ndarray:
        """Photo `i` with its boxes drawn: (3, H, W) float32 RGB in [0, 255], a new array.

        img: the photo, where it cannot be read a second time; anything that `read_image` takes
        Raises ValueRangeError if there is no photo `i`, ImageError if it cannot be read.
        """
        self.check(i)
        return draw_bbox(
            self.photo(i, img), self.bboxes[i], self.labels[i], self.scores[i], label_names=self.label_names
        )

    def save(self, i: int, path: str | os.PathLike, *, img: Any = None) -> os.PathLike:
        """The path, once photo `i` with its boxes lies there (.png, .jpg ...). Raises as `draw`, `write_image`."""
        return write_image(self.draw(i, img=img), path)

    def to_records(self, i: int | None = None) -> list[dict[str, Any]]:
        """One dict a box, ready for JSON: photo, label, name (None without names), score, y_min, x_min, y_max, x_max.

        i: of this photo only; None: of all
        """
        if i is None:
            photos = range(self.n_photo)
        else:
            self.check(i)
            photos = [i % self.n_photo]
        records = []
        for photo in photos:
            rows = zip(self.bboxes[photo].tolist(), self.labels[photo].tolist(), self.scores[photo].tolist())
            for (y_min, x_min, y_max, x_max), label, score in rows:
                records.append(
                    {
                        "photo": photo,
                        "label": label,
                        "name": None if self.label_names is None else self.label_names[label],
                        "score": score,
                        "y_min": y_min,
                        "x_min": x_min,
                        "y_max": y_max,
                        "x_max": x_max,
                    }
                )
        return records

    def __repr__(self) -> str:
        records = self.to_records()
        lines = [f"Detections of {self.n_photo} photos, {len(records)} boxes"]
        if records:
            lines.append(
                f"{'photo':>5}  {'label':<16} {'score':>5}  {'y_min':>7} {'x_min':>7} {'y_max':>7} {'x_max':>7}"
            )
        for each in records[:_SHOWN]:
            name = str(each["label"] if each["name"] is None else each["name"])
            box = " ".join(f"{each[side]:7.1f}" for side in ("y_min", "x_min", "y_max", "x_max"))
            lines.append(f"{each['photo']:>5}  {name:<16.16} {each['score']:5.2f}  {box}")
        if len(records) > _SHOWN:
            lines.append(f"  ... and {len(records) - _SHOWN} more")
        return "\n".join(lines)

    def _repr_html_(self) -> str | None:
        if not self.n_photo:
            return None
        parts = []
        for i in range(min(self.n_photo, _SHOWN)):
            try:
                img = self.photo(i, None)
            except (ImageError, OSError):
                return None  # a notebook then shows the table of __repr__
            found = self.bboxes[i], self.labels[i], self.scores[i]
            parts.append(detection_html(img, *found, label_names=self.label_names))
        if self.n_photo > _SHOWN:
            parts.append(f"<p>... and {self.n_photo - _SHOWN} more photos</p>")
        return "\n".join(parts)

    def _repr_png_(self) -> bytes | None:
        if not self.n_photo:
            return None
        try:
            img = self.photo(0, None)
        except (ImageError, OSError):
            return None
        return detection_png(img, self.bboxes[0], self.labels[0], self.scores[0], label_names=self.label_names)

    def check(self, i: int) -> None:
        """Raises ValueRangeError if there is no photo `i`."""
        if not -self.n_photo <= i < self.n_photo:
            raise ValueRangeError("there is no such photo", expected=f"0 .. {self.n_photo - 1}", got=i)

    def photo(self, i: int, img: Any = None) -> np.ndarray:
        """Photo `i`, (3, H, W) float32 RGB in [0, 255]: read from its source, or from `img`. Raises ImageError."""
        source = img if img is not None else self.sources[i] if len(self.sources) else None
        if source is None:
            raise ImageError(f"photo {i} was not kept", hint="draw(i, img=the photo)")
        return read_image(source)


def kept_source(source: Any) -> Any:
    """The source of a photo itself if it can be read a second time, else None."""
    return source if isinstance(source, str | os.PathLike | bytes | np.ndarray | Image.Image) else None
