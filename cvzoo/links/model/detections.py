"""Results of detectors, with drawing and display in notebooks."""

import os
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np
from PIL import Image

from cvzoo import visualizations
from cvzoo.geometry.clip_bbox import clip_bbox
from cvzoo.images.read_image import ImageSource
from cvzoo.images.write_image import write_image
from cvzoo.links.model.result_annotations import coco_of, voc_of
from cvzoo.links.model.result_images import SHOWN, check_index, image_of, notebook_html, notebook_png
from cvzoo.links.model.result_tables import chosen_rows, data_frame
from cvzoo.typing.aliases import BBox, Label, Score, Size
from cvzoo.visualizations.colors import Colors, class_color
from cvzoo.visualizations.show_axes import show_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Drawn = TypeVar("Drawn")  # an image, or axes


class _Lists(NamedTuple):
    bboxes: list[BBox]
    labels: list[Label]
    scores: list[Score]


class Detections(_Lists):
    """Three lists with one element per image: `bboxes, labels, scores = detections`.

    bboxes: (R, 4) float32 each, y_min x_min y_max x_max, pixels of the image; a box may extend beyond it
    labels: (R,) int32 each, 0 .. n_fg_class - 1
    scores: (R,) float32 each, best first
    label_names: names of the classes in order of label, or None
    sources: the images as passed to `predict` (paths, arrays ...), read only for drawing; None where they cannot be
        read again
    """

    label_names: tuple[str, ...] | None = None
    sources: Sequence[ImageSource | None] = ()

    def __new__(
        cls,
        bboxes: list[BBox],
        labels: list[Label],
        scores: list[Score],
        *,
        label_names: Sequence[str] | None = None,
        sources: Sequence[ImageSource | None] = (),
    ) -> "Detections":
        self = super().__new__(cls, bboxes, labels, scores)
        self.label_names = None if label_names is None else tuple(label_names)
        self.sources = list(sources)
        return self

    @property
    def n_image(self) -> int:
        """The number of images (`len` is 3, that of the tuple)."""
        return len(self.bboxes)

    @property
    def n_photo(self) -> int:
        """The former name of `n_image`."""
        return self.n_image

    def draw(
        self,
        i: int = 0,
        *,
        img: ImageSource | None = None,
        line_width: int | None = None,
        colors: Colors | None = None,
        show_labels: bool = True,
        show_scores: bool = True,
    ) -> np.ndarray:
        """Image `i` with its boxes drawn: (3, H, W) float32 RGB in [0, 255], a new array.

        img: the image, where it cannot be read again; anything that `read_image` takes
        line_width, colors, show_labels, show_scores: as for `visualizations.draw_bbox`
        Raises ValueRangeError if there is no image `i`, or for unknown colors; ImageError if the image cannot be read.
        """
        self.check(i)
        style = partial(
            visualizations.draw_bbox,
            line_width=line_width,
            colors=colors,
            show_labels=show_labels,
            show_scores=show_scores,
        )
        return self._over(self.image(i, img), i, style)

    def show(
        self,
        i: int = 0,
        *,
        img: ImageSource | None = None,
        ax: "Axes | None" = None,
        line_width: int | None = None,
        colors: Colors | None = None,
        show_labels: bool = True,
        show_scores: bool = True,
    ) -> "Axes":
        """matplotlib's axes with image `i` and its boxes, shown in a notebook's cell or in a window.

        ax: axes to draw on, which are then not shown; other arguments, and errors: as in `draw`; line_width: points
        """
        self.check(i)
        picture = self.image(i, img)
        color_of = class_color(colors, self.label_names)
        draw = partial(
            visualizations.vis_bbox,
            instance_colors=[color_of(int(label)) for label in self.labels[i]],
            linewidth=3.0 if line_width is None else float(line_width),
            show_labels=show_labels,
            show_scores=show_scores,
        )
        return show_axes(lambda axes: self._over(picture, i, partial(draw, ax=axes)), ax)

    def save(
        self,
        i: int,
        path: str | os.PathLike,
        *,
        img: ImageSource | None = None,
        line_width: int | None = None,
        colors: Colors | None = None,
        show_labels: bool = True,
        show_scores: bool = True,
    ) -> os.PathLike:
        """Writes image `i` with its boxes and returns the path (.png, .jpg ...). Raises as `draw`, `write_image`."""
        drawn = self.draw(
            i, img=img, line_width=line_width, colors=colors, show_labels=show_labels, show_scores=show_scores
        )
        return write_image(drawn, path)

    def crops(self, i: int = 0, *, img: ImageSource | None = None) -> list[np.ndarray | None]:
        """The part of image `i` in each box, (3, h, w) float32 RGB in [0, 255]; None for a box outside of it.

        img, and errors: as in `draw`
        """
        self.check(i)
        picture = self.image(i, img)
        bounds = np.rint(clip_bbox(np.asarray(self.bboxes[i], np.float64), picture.shape[1:])).astype(int).tolist()
        return [
            picture[:, y_min:y_max, x_min:x_max].copy() if y_min < y_max and x_min < x_max else None
            for y_min, x_min, y_max, x_max in bounds
        ]

    def filter(self, *, score: float = 0.0, classes: Sequence[int | str] | None = None) -> "Detections":
        """The detections that score above `score` and have one of these classes (names or labels); None: any class.

        Raises ValueRangeError for an unknown class name.
        """
        rows = chosen_rows(self, score, classes)
        chosen = ([array[row] for array, row in zip(arrays, rows)] for arrays in self)
        return Detections(*chosen, label_names=self.label_names, sources=self.sources)

    def to_df(self) -> Any:
        """A pandas DataFrame with the rows of `to_records`. Raises MissingExtraError without pandas."""
        return data_frame(self.to_records())

    def to_records(self, i: int | None = None) -> list[dict[str, Any]]:
        """One dict per box, for JSON: `photo`, label, name (None without names), score, y_min, x_min, y_max, x_max.

        i: of this image only; None: of all
        `photo` is the index of the image; the key stays, since files contain it.
        """
        if i is None:
            images: Sequence[int] = range(self.n_image)
        else:
            self.check(i)
            images = [i % self.n_image]
        records = []
        for image in images:
            rows = zip(self.bboxes[image].tolist(), self.labels[image].tolist(), self.scores[image].tolist())
            for (y_min, x_min, y_max, x_max), label, score in rows:
                records.append(
                    {
                        "photo": image,
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

    def to_coco(
        self, i: int | None = None, *, file_names: Sequence[str] | None = None, sizes: Sequence[Size] | None = None
    ) -> dict[str, Any]:
        """A COCO annotation file as a dict: images, annotations with a score, and categories with ids from 1.

        i: of this image only; None: of all
        file_names: of the images; None: those of their paths
        sizes: (H, W) of the images; None: those of their sources
        `json.dumps` writes the file; its annotations are in the format of COCO's results, too. Boxes are clipped to the
        image, and rounded to a thousandth of a pixel.
        Raises ValueRangeError if there is no image `i` or its size is unknown, ImageError if it cannot be read.
        """
        return coco_of(self, i, file_names, sizes)

    def to_voc(
        self, i: int | None = None, *, file_names: Sequence[str] | None = None, sizes: Sequence[Size] | None = None
    ) -> list[str]:
        """VOC's XML, one text per image: class, box (in pixels from 1) and score of each object.

        The arguments and errors are those of `to_coco`.
        """
        return voc_of(self, i, file_names, sizes)

    def __repr__(self) -> str:
        records = self.to_records()
        lines = [f"Detections of {self.n_image} images, {len(records)} boxes"]
        if records:
            lines.append(
                f"{'image':>5}  {'label':<16} {'score':>5}  {'y_min':>7} {'x_min':>7} {'y_max':>7} {'x_max':>7}"
            )
        for each in records[:SHOWN]:
            name = str(each["label"] if each["name"] is None else each["name"])
            box = " ".join(f"{each[side]:7.1f}" for side in ("y_min", "x_min", "y_max", "x_max"))
            lines.append(f"{each['photo']:>5}  {name:<16.16} {each['score']:5.2f}  {box}")
        if len(records) > SHOWN:
            lines.append(f"  ... and {len(records) - SHOWN} more")
        return "\n".join(lines)

    def _repr_html_(self) -> str | None:
        return self.html_over(self.image)

    def _repr_png_(self) -> bytes | None:
        return self.png_over(self.image)

    def html_over(self, picture: Callable[[int], np.ndarray]) -> str | None:
        """HTML of each `picture(i)` with its boxes and a table of them, None if an image cannot be read again."""
        return notebook_html(self.n_image, lambda i: self._over(picture(i), i, visualizations.detection_html))

    def png_over(self, picture: Callable[[int], np.ndarray]) -> bytes | None:
        """A PNG of `picture(0)` with its boxes, None if the image cannot be read again."""
        return notebook_png(self.n_image, lambda i: self._over(picture(i), i, visualizations.detection_png))

    def _over(self, img: np.ndarray, i: int, show: Callable[..., Drawn]) -> Drawn:
        return show(img, self.bboxes[i], self.labels[i], self.scores[i], label_names=self.label_names)

    def check(self, i: int) -> None:
        """Raises ValueRangeError if there is no image `i`."""
        check_index(i, self.n_image)

    def image(self, i: int, img: ImageSource | None = None) -> np.ndarray:
        """Image `i`, (3, H, W) float32 RGB in [0, 255]: read from its source, or from `img`. Raises ImageError."""
        return image_of(self.sources, i, img)

    def photo(self, i: int, img: ImageSource | None = None) -> np.ndarray:
        """The former name of `image`."""
        return self.image(i, img)


def kept_source(source: ImageSource) -> ImageSource | None:
    """The source of an image if it can be read again, else None."""
    return source if isinstance(source, str | os.PathLike | bytes | np.ndarray | Image.Image) else None
