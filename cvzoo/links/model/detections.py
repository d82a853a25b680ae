"""Results of detectors, with drawing and display in notebooks, and the base class of all results of instances."""

import abc
import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np
from PIL import Image

from cvzoo import visualizations
from cvzoo.geometry.clip_bbox import clip_bbox
from cvzoo.geometry.rle import RLEs
from cvzoo.images.read_image import ImageSource
from cvzoo.images.write_image import write_image
from cvzoo.links.model.result import SHOWN, AbstractResult, label_of, notebook_html, notebook_png
from cvzoo.links.model.result_annotations import coco_of, voc_of
from cvzoo.reporting.counted import counted
from cvzoo.typing.aliases import Array, BBox, Label, Point, Score, Size
from cvzoo.visualizations.colors import Colors, class_color
from cvzoo.visualizations.draw_bbox import DrawStyle
from cvzoo.visualizations.show_axes import show_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Self = TypeVar("Self", bound="AbstractInstances")
Rows = TypeVar("Rows", Array, RLEs)


class AbstractInstances(AbstractResult):
    """Base class of results with boxes, labels and scores: lists with one array per image, one row per instance.

    bboxes: (R, 4) float32 each, y_min x_min y_max x_max, pixels of the image; a box may extend beyond it
    labels: (R,) int32 each, 0 .. n_fg_class - 1
    scores: (R,) float32 each, best first
    point_names: names of the keypoints, or None
    """

    bboxes: list[BBox]
    labels: list[Label]
    scores: list[Score]
    point_names: tuple[str, ...] | None = None

    @property
    def n_image(self) -> int:
        """The number of images (`len` is 3, that of the tuple)."""
        return len(self.labels)

    @property
    def n_photo(self) -> int:
        """The former name of `n_image`."""
        return self.n_image

    @property
    def detections(self) -> "Detections":
        """The boxes, labels and scores alone."""
        return Detections(self.bboxes, self.labels, self.scores, label_names=self.label_names, sources=self.sources)

    def masks_of(self, i: int) -> RLEs | None:
        """The masks of image `i`; by default None."""
        return None

    def points_of(self, i: int) -> Point | None:
        """The keypoints of image `i`, (R, K, 2) float32; by default None."""
        return None

    # --- pictures ---------------------------------------------------------------------------------------------------
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
        """Image `i` with its instances drawn: (3, H, W) float32 RGB in [0, 255], a new array.

        img: the image, where it cannot be read again; anything that `read_image` takes
        line_width, colors, show_labels, show_scores: as for `visualizations.draw_bbox`
        Raises ValueRangeError if there is no image `i`, or for unknown colors; ImageError if the image cannot be read.
        """
        style = DrawStyle(line_width, colors, show_labels, show_scores)
        below = self._draw_below(self.image(i, img), i, colors)
        boxes = visualizations.draw_bbox(below, *self._boxes(i), label_names=self.label_names, **style._asdict())
        return self._draw_above(boxes, i)

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
        """matplotlib's axes with image `i` and its instances, shown in a notebook's cell or in a window.

        ax: axes to draw on, which are then not shown; other arguments, and errors: as in `draw`; line_width: points
        """
        picture = self.image(i, img)
        style = DrawStyle(line_width, colors, show_labels, show_scores)
        return show_axes(lambda axes: self._plot(picture, i, style, axes), ax)

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
        """Writes `draw(i)` and returns the path (.png, .jpg ...). Raises as `draw`, `write_image`."""
        style = DrawStyle(line_width, colors, show_labels, show_scores)
        return write_image(self.draw(i, img=img, **style._asdict()), path)

    def crops(self, i: int = 0, *, img: ImageSource | None = None) -> list[np.ndarray | None]:
        """The part of image `i` in each box, (3, h, w) float32 RGB in [0, 255]; None for a box outside of it.

        img, and errors: as in `draw`
        """
        picture = self.image(i, img)
        bounds = np.rint(clip_bbox(np.asarray(self.bboxes[i], np.float64), picture.shape[1:])).astype(int).tolist()
        return [
            picture[:, y_min:y_max, x_min:x_max].copy() if y_min < y_max and x_min < x_max else None
            for y_min, x_min, y_max, x_max in bounds
        ]

    def photo(self, i: int, img: ImageSource | None = None) -> np.ndarray:
        """The former name of `image`."""
        return self.image(i, img)

    def _draw_below(self, img: np.ndarray, i: int, colors: Colors | None = None) -> np.ndarray:
        """The image with what the boxes are drawn over; by default the image itself."""
        return img

    def _draw_above(self, img: np.ndarray, i: int) -> np.ndarray:
        """The image with what is drawn over the boxes; by default the image itself."""
        return img

    def _plot(self, img: np.ndarray, i: int, style: DrawStyle, axes: "Axes") -> None:
        """Draws image `i` on the axes; by default with its boxes."""
        color_of = class_color(style.colors, self.label_names)
        visualizations.vis_bbox(
            img,
            *self._boxes(i),
            self.label_names,
            instance_colors=[color_of(int(label)) for label in self.labels[i]],
            linewidth=3.0 if style.line_width is None else float(style.line_width),
            ax=axes,
            show_labels=style.show_labels,
            show_scores=style.show_scores,
        )

    def _boxes(self, i: int) -> tuple[BBox, Label, Score]:
        return self.bboxes[i], self.labels[i], self.scores[i]

    def _without_boxes(self, i: int) -> np.ndarray:
        return self._draw_above(self._draw_below(self.image(i), i), i)

    def _repr_html_(self) -> str | None:
        return notebook_html(
            self.n_image,
            lambda i: visualizations.detection_html(
                self._without_boxes(i), *self._boxes(i), label_names=self.label_names
            ),
        )

    def _repr_png_(self) -> bytes | None:
        return notebook_png(
            self.n_image,
            lambda i: visualizations.detection_png(
                self._without_boxes(i), *self._boxes(i), label_names=self.label_names
            ),
        )

    # --- a part of them, tables and annotations ---------------------------------------------------------------------
    def filter(self: Self, *, score: float = 0.0, classes: Sequence[int | str] | None = None) -> Self:
        """The instances that score above `score` and have one of these classes (names or labels); None: any class.

        Raises ValueRangeError for an unknown class name.
        """
        chosen = [each > score for each in self.scores]
        if classes is not None:
            wanted = [label_of(each, self.label_names) for each in classes]
            chosen = [above & np.isin(label, wanted) for above, label in zip(chosen, self.labels)]
        return self._take([np.flatnonzero(each) for each in chosen])

    @abc.abstractmethod
    def _take(self: Self, rows: Sequence[Array]) -> Self:
        """The instances of these indices, one index array per image."""

    def to_records(self, i: int | None = None) -> list[dict[str, Any]]:
        """One dict per box, for JSON: `photo`, label, name (None without names), score, y_min, x_min, y_max, x_max.

        i: of this image only; None: of all
        `photo` is the index of the image; the key stays, since files contain it.
        """
        return [
            {
                "photo": image,
                "label": label,
                "name": None if self.label_names is None else self.label_names[label],
                "score": score,
                **dict(zip(("y_min", "x_min", "y_max", "x_max"), bb)),
            }
            for image in self.indices(i)
            for bb, label, score in zip(*(each.tolist() for each in self._boxes(image)))
        ]

    def to_coco(
        self, i: int | None = None, *, file_names: Sequence[str] | None = None, sizes: Sequence[Size] | None = None
    ) -> dict[str, Any]:
        """A COCO annotation file as a dict: images, annotations with a score, and categories with ids from 1.

        i: of this image only; None: of all
        file_names: of the images; None: those of their paths
        sizes: (H, W) of the images; None: those of their sources
        `json.dumps` writes the file; its annotations, with run-length encoded masks or keypoints where there are some,
        are in the format of COCO's results, too. Boxes are clipped to the image, and rounded to a thousandth of a
        pixel.
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
        lines = [
            f"{type(self).__name__} of {counted(self.n_image, 'image')}, {counted(len(records), *self._instances)}"
        ]
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

    _instances = ("box", "boxes")  # in the repr


class _Lists(NamedTuple):
    bboxes: list[BBox]
    labels: list[Label]
    scores: list[Score]


class Detections(AbstractInstances, _Lists):
    """Three lists with one element per image: `bboxes, labels, scores = detections`.

    bboxes: (R, 4) float32 each, y_min x_min y_max x_max, pixels of the image; a box may extend beyond it
    labels: (R,) int32 each, 0 .. n_fg_class - 1
    scores: (R,) float32 each, best first
    label_names: names of the classes in order of label, or None
    sources: the images as passed to `predict` (paths, arrays ...), read only for drawing; None where they cannot be
        read again
    """

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
        self._describe(label_names, sources)
        return self

    def _take(self, rows: Sequence[Array]) -> "Detections":
        chosen = taken(self.bboxes, rows), taken(self.labels, rows), taken(self.scores, rows)
        return Detections(*chosen, label_names=self.label_names, sources=self.sources)


def taken(arrays: Sequence[Rows], rows: Sequence[Array]) -> list[Rows]:
    """The rows of these indices of each image's array, or masks."""
    return [each[row] for each, row in zip(arrays, rows)]


def kept_source(source: ImageSource) -> ImageSource | None:
    """The source of an image if it can be read again, else None."""
    return source if isinstance(source, str | os.PathLike | bytes | np.ndarray | Image.Image) else None
