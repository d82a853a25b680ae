"""Results of instance segmentation, with drawing and display in notebooks."""

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from cvzoo import visualizations
from cvzoo.errors.exceptions import ShapeError
from cvzoo.geometry.rle import RLEs
from cvzoo.images.read_image import ImageSource
from cvzoo.links.model.detections import Detections
from cvzoo.links.model.instances import AbstractInstances
from cvzoo.links.model.result_tables import chosen_rows
from cvzoo.typing.aliases import BBox, Label, Score
from cvzoo.visualizations.colors import Colors, class_color
from cvzoo.visualizations.show_axes import show_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class _Lists(NamedTuple):
    masks: list[RLEs]
    labels: list[Label]
    scores: list[Score]


class InstanceSegmentations(AbstractInstances, _Lists):
    """Three lists with one element per image: `masks, labels, scores = segmentations`.

    masks: `geometry.RLEs` of R masks each, all of the image's size; `dense(i)` gives (R, H, W) bool
    labels: (R,) int32 each, 0 .. n_fg_class - 1
    scores: (R,) float32 each, best first
    bboxes: (R, 4) float32 each, y_min x_min y_max x_max, pixels of the image: the network's boxes, or, if it has none,
        those around the masks
    label_names, sources: as in `Detections`
    detections: the same without masks, as `Detections`
    Raises ShapeError if the lists differ in length.
    """

    def __new__(
        cls,
        masks: list[RLEs],
        labels: list[Label],
        scores: list[Score],
        *,
        bboxes: list[BBox] | None = None,
        label_names: Sequence[str] | None = None,
        sources: Sequence[ImageSource | None] = (),
    ) -> "InstanceSegmentations":
        self = super().__new__(cls, masks, labels, scores)
        bboxes = [mask.to_bbox() for mask in masks] if bboxes is None else bboxes
        if not len(masks) == len(labels) == len(scores) == len(bboxes):
            n_element = len(masks), len(labels), len(scores), len(bboxes)
            raise ShapeError("InstanceSegmentations: one element per image", got=n_element)
        self.detections = Detections(bboxes, labels, scores, label_names=label_names, sources=sources)
        return self

    def dense(self, i: int = 0) -> np.ndarray:
        """(R, H, W) bool, the masks of image `i`; (0, 0, 0) if there are none. Raises ValueRangeError."""
        self.detections.check(i)
        return self.masks[i].to_masks()

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
        """Image `i` with its masks tinted and boxes drawn: (3, H, W) float32 RGB in [0, 255], a new array.

        The arguments and errors are those of `Detections.draw`.
        """
        self.detections.check(i)
        tinted = self._tinted(i, img, colors)
        return self.detections.draw(
            i, img=tinted, line_width=line_width, colors=colors, show_labels=show_labels, show_scores=show_scores
        )

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
        """matplotlib's axes with image `i` and its masks; without `colors`, one per instance.

        The arguments are those of `Detections.show`; no lines are drawn.
        """
        self.detections.check(i)
        picture = self.detections.image(i, img)
        instances = self.masks[i], self.labels[i], self.scores[i], self.label_names
        color_of = class_color(colors, self.label_names)
        chosen = None if colors is None else [color_of(int(label)) for label in self.labels[i]]
        draw = partial(visualizations.vis_instance_segmentation, show_labels=show_labels, show_scores=show_scores)
        return show_axes(lambda axes: draw(picture, *instances, instance_colors=chosen, ax=axes), ax)

    def filter(self, *, score: float = 0.0, classes: Sequence[int | str] | None = None) -> "InstanceSegmentations":
        """The instances that score above `score` and have one of these classes, as `Detections.filter`."""
        rows = chosen_rows(self.detections, score, classes)
        masks = [rles[row] for rles, row in zip(self.masks, rows)]
        kept = self.detections.filter(score=score, classes=classes)
        return InstanceSegmentations(
            masks, kept.labels, kept.scores, bboxes=kept.bboxes, label_names=self.label_names, sources=self.sources
        )

    def to_records(self, i: int | None = None) -> list[dict[str, Any]]:
        """One dict per instance, for JSON: the fields of `Detections.to_records` and mask, {size, counts}.

        i: of this image only; None: of all
        The mask is COCO's compressed run-length encoding.
        """
        records = self.detections.to_records(i)
        images = self.masks if i is None else [self.masks[i]]
        masks = [mask for rles in images for mask in rles.to_coco()]
        return [{**record, "mask": mask} for record, mask in zip(records, masks)]

    def __repr__(self) -> str:
        return super().__repr__().replace(" boxes", " masks", 1)

    def _repr_html_(self) -> str | None:
        return self.detections.html_over(self._tinted)

    def _repr_png_(self) -> bytes | None:
        return self.detections.png_over(self._tinted)

    def _tinted(self, i: int, img: ImageSource | None = None, colors: Colors | None = None) -> np.ndarray:
        # the lowest score first, so that the highest is drawn on top
        order = np.arange(len(self.labels[i]))[::-1]
        masks, label = self.masks[i][order], self.labels[i][order]
        picture = self.detections.image(i, img)
        return visualizations.draw_mask(picture, masks, label, colors=colors, label_names=self.label_names)
