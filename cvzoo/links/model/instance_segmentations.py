"""Results of instance segmentation, with drawing and display in notebooks."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from cvzoo import visualizations
from cvzoo.errors.exceptions import ShapeError
from cvzoo.geometry.rle import RLEs
from cvzoo.links.model.detections import Detections
from cvzoo.links.model.instances import AbstractInstances
from cvzoo.links.model.result_tables import chosen_rows
from cvzoo.typing.aliases import BBox, Label, Score
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
        sources: Sequence[Any] = (),
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

    def draw(self, i: int = 0, *, img: Any = None) -> np.ndarray:
        """Image `i` with its masks tinted and boxes drawn: (3, H, W) float32 RGB in [0, 255], a new array.

        img, and what is raised: as in `Detections.draw`
        """
        self.detections.check(i)
        return self.detections.draw(i, img=self._tinted(i, img))

    def show(self, i: int = 0, *, img: Any = None, ax: "Axes | None" = None) -> "Axes":
        """matplotlib's axes with image `i` and its masks. The arguments are those of `Detections.show`."""
        self.detections.check(i)
        picture = self.detections.image(i, img)
        instances = self.masks[i], self.labels[i], self.scores[i], self.label_names
        return show_axes(lambda axes: visualizations.vis_instance_segmentation(picture, *instances, ax=axes), ax)

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

    def _tinted(self, i: int, img: Any = None) -> np.ndarray:
        # the lowest score first, so that the highest is drawn on top
        order = np.arange(len(self.labels[i]))[::-1]
        return visualizations.draw_mask(self.detections.image(i, img), self.masks[i][order], self.labels[i][order])
