"""Results of instance segmentation, with drawing and display in notebooks."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from cvzoo import visualizations
from cvzoo.errors.exceptions import ShapeError
from cvzoo.geometry.rle import RLEs
from cvzoo.images.read_image import ImageSource
from cvzoo.links.model.detections import AbstractInstances, taken
from cvzoo.typing.aliases import Array, BBox, Label, Score
from cvzoo.visualizations.colors import Colors, class_color
from cvzoo.visualizations.draw_bbox import DrawStyle

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
        self.bboxes = [mask.to_bbox() for mask in masks] if bboxes is None else bboxes
        lengths = len(masks), len(labels), len(scores), len(self.bboxes)
        if len(set(lengths)) > 1:
            raise ShapeError("InstanceSegmentations: one element per image", got=lengths)
        self._describe(label_names, sources)
        return self

    def dense(self, i: int = 0) -> np.ndarray:
        """(R, H, W) bool, the masks of image `i`; (0, 0, 0) if there are none. Raises ValueRangeError."""
        self.check(i)
        return self.masks[i].to_masks()

    def masks_of(self, i: int) -> RLEs:
        """The masks of image `i`."""
        return self.masks[i]

    def _draw_below(self, img: np.ndarray, i: int, colors: Colors | None = None) -> np.ndarray:
        # the lowest score first, so that the highest is drawn on top
        masks, label = self.masks[i][::-1], self.labels[i][::-1]
        return visualizations.draw_mask(img, masks, label, colors=colors, label_names=self.label_names)

    def _plot(self, img: np.ndarray, i: int, style: DrawStyle, axes: "Axes") -> None:
        """Draws the masks without lines; without `colors`, one per instance."""
        color_of = class_color(style.colors, self.label_names)
        visualizations.vis_instance_segmentation(
            img,
            self.masks[i],
            self.labels[i],
            self.scores[i],
            self.label_names,
            instance_colors=None if style.colors is None else [color_of(int(label)) for label in self.labels[i]],
            ax=axes,
            show_labels=style.show_labels,
            show_scores=style.show_scores,
        )

    def _take(self, rows: Sequence[Array]) -> "InstanceSegmentations":
        return InstanceSegmentations(
            taken(self.masks, rows),
            taken(self.labels, rows),
            taken(self.scores, rows),
            bboxes=taken(self.bboxes, rows),
            label_names=self.label_names,
            sources=self.sources,
        )

    def to_records(self, i: int | None = None) -> list[dict[str, Any]]:
        """One dict per instance, for JSON: the fields of `Detections.to_records` and mask, {size, counts}.

        i: of this image only; None: of all
        The mask is COCO's compressed run-length encoding.
        """
        masks = [mask for image in self.indices(i) for mask in self.masks[image].to_coco()]
        return [{**record, "mask": mask} for record, mask in zip(super().to_records(i), masks)]

    _instances = ("mask", "masks")
