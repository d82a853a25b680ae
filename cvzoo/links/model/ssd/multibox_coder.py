"""Encoding of ground truth as targets of SSD's heads, and decoding of their outputs."""

import dataclasses
import math
from collections.abc import Sequence

import numpy as np

from cvzoo.errors.exceptions import ShapeError, ValueRangeError
from cvzoo.geometry.as_bbox import as_bbox
from cvzoo.geometry.bbox_area import bbox_area
from cvzoo.geometry.bbox_iou import bbox_intersection, bbox_iou
from cvzoo.geometry.coding import encode_bbox
from cvzoo.links.model.decoding.abstract import Found
from cvzoo.links.model.decoding.anchor_levels import AnchorLevels
from cvzoo.links.model.preparation.abstract import Placement


@dataclasses.dataclass(frozen=True)
class DefaultBoxes:
    """SSD's anchors, for a network's input of one size. The fields are the arguments of `default_boxes`."""

    grids: tuple[int, ...]
    aspect_ratios: tuple[tuple[float, ...], ...]
    steps: tuple[float, ...]
    sizes: tuple[float, ...]
    largest: float | None = None

    def boxes(self, size: Sequence[int]) -> np.ndarray:
        """(A, 4) float32, y_min x_min y_max x_max, pixels of the network's input; the size is fixed."""
        return default_boxes(self.grids, self.aspect_ratios, self.steps, self.sizes, largest=self.largest)

    def counts(self, size: Sequence[int]) -> list[int]:
        """The number of boxes at each level."""
        return [grid * grid * (2 + 2 * len(ratios)) for grid, ratios in zip(self.grids, self.aspect_ratios)]


def default_boxes(
    grids: Sequence[int],
    aspect_ratios: Sequence[Sequence[float]],
    steps: Sequence[float],
    sizes: Sequence[float],
    *,
    largest: float | None = None,
) -> np.ndarray:
    """(A, 4) float32, y_min x_min y_max x_max, pixels of the network's input; they may stick out of it.

    grids: the side of each level's map
    aspect_ratios: for each level r: a wide box, sqrt(r) times as wide and so much less high, and a tall one
    steps: pixels between neighboring positions; the first is half a step from the edge
    sizes: the side of each level's square box, and one more: the second square is the geometric mean of two levels'
    largest: maximum side; None: no maximum
    Order: level by level, by row, then column, then small square, large square, wide, tall, wide, tall ...
    Raises ValueRangeError unless the arguments have one element per level.

    Source: Liu et al., SSD: Single Shot MultiBox Detector, ECCV 2016, section 2.2.
    """
    n = len(grids)
    if not (len(aspect_ratios) == len(steps) == n and len(sizes) == n + 1):
        raise ValueRangeError(
            "default_boxes: the arguments must have one element per level, sizes one more",
            expected=(n, n, n, n + 1),
            got=(n, len(aspect_ratios), len(steps), len(sizes)),
        )
    parts = []
    for i, (grid, ratios, step) in enumerate(zip(grids, aspect_ratios, steps)):
        sides = cell_sides(sizes[i], sizes[i + 1], ratios)
        if largest is not None:
            sides = np.minimum(sides, largest)
        place = (np.arange(grid) + 0.5) * step
        box = np.empty((grid, grid, len(sides), 4))
        box[..., :2] = -sides / 2
        box[..., 2:] = sides / 2
        box[..., 0::2] += place[:, None, None, None]
        box[..., 1::2] += place[None, :, None, None]
        parts.append(box.reshape(-1, 4))
    return np.concatenate(parts).astype(np.float32)


def cell_sides(size: float, larger: float, ratios: Sequence[float]) -> np.ndarray:
    """(K, 2) height and width of the default boxes of one position."""
    # the paper's second square box, between the sizes of this level and the next
    sides = [(size, size), (math.sqrt(size * larger),) * 2]
    for ratio in ratios:
        root = math.sqrt(ratio)
        sides += [(size / root, size * root), (size * root, size / root)]
    return np.array(sides)


BACKGROUND = 0
IGNORED = -1


class MultiboxCoder:
    """Encoder and decoder of boxes relative to default boxes.

    grids, aspect_ratios, steps, sizes, largest: as in `default_boxes`
    variance: of the offsets of centers and of the logarithms of sides

    default: (A, 4) float32, the default boxes, pixels of the network's input
    Source: Liu et al., SSD: Single Shot MultiBox Detector, ECCV 2016, section 2.2.
    """

    def __init__(
        self,
        grids: Sequence[int],
        aspect_ratios: Sequence[Sequence[float]],
        steps: Sequence[float],
        sizes: Sequence[float],
        variance: tuple[float, float] = (0.1, 0.2),
        *,
        largest: float | None = None,
    ):
        self._boxes = DefaultBoxes(
            tuple(grids), tuple(map(tuple, aspect_ratios)), tuple(steps), tuple(sizes), largest=largest
        )
        self.default = default_boxes(grids, aspect_ratios, steps, sizes, largest=largest)
        self.variance = variance
        self._std = (variance[0], variance[0], variance[1], variance[1])
        # NumPy caches no sums: the areas are needed for every image in training
        self._area = bbox_area(self.default)

    def encode(
        self,
        bbox: np.ndarray,
        label: np.ndarray,
        ignored: np.ndarray | None = None,
        *,
        iou_thresh: float = 0.5,
        cover: float = 0.5,
    ) -> tuple[np.ndarray, np.ndarray]:
        """mb_loc (A, 4) float32, zeros for background; mb_label (A,) int32, 1 + label, 0 background, -1 ignored.

        bbox: (R, 4) float32, pixels of the network's input; label: (R,) int32
        ignored: (R,) bool, ignored objects: a default box of which a fraction of `cover` is inside of one, and that
            has no other object, is ignored
        iou_thresh: a default box is assigned to the object of highest IoU if that is at least this
        Raises ShapeError if bbox and label differ in number.

        First every object is matched to its default box of highest IoU, in descending order of IoU, each box once.
        """
        bbox, label = as_bbox(bbox).astype(np.float32, copy=False), np.asarray(label)
        ignored = np.zeros(len(bbox), bool) if ignored is None else np.asarray(ignored, bool)
        if not len(bbox) == len(label) == len(ignored):
            raise ShapeError("MultiboxCoder: boxes and labels differ in number", got=(len(bbox), len(label)))
        mb_loc = np.zeros((len(self.default), 4), np.float32)
        mb_label = np.full(len(self.default), BACKGROUND, np.int32)
        for region in bbox[ignored]:
            inside = bbox_intersection(self.default, region[None])[:, 0]
            mb_label[(inside >= cover * self._area) & (inside > 0)] = IGNORED
        bbox, label = bbox[~ignored], label[~ignored]
        if len(bbox):
            match = self._match(bbox, iou_thresh)
            matched = np.flatnonzero(match >= 0)
            mb_loc[matched] = encode_bbox(bbox[match[matched]], self.default[matched], std=self._std)
            mb_label[matched] = label[match[matched]] + 1
        return mb_loc, mb_label

    def _match(self, bbox: np.ndarray, iou_thresh: float) -> np.ndarray:
        """(A,) index of the matched row of bbox, -1 for none."""
        iou = bbox_iou(self.default, bbox)
        best = iou.argmax(axis=1)
        match = np.where(iou.max(axis=1) >= iou_thresh, best, -1)
        free = iou.copy()
        # every object gets the default box of the highest IoU that is free, the best pairs first, so that none is lost
        for _ in range(len(bbox)):
            i, j = divmod(int(free.argmax()), len(bbox))
            # the remaining objects overlap no default box
            if free[i, j] <= 1e-6:
                break
            match[i] = j
            free[i] = 0
            free[:, j] = 0
        return match

    def decode(
        self, mb_loc: np.ndarray, mb_conf: np.ndarray, *, score_thresh: float, n_candidate: int | None = None
    ) -> Found:
        """bbox (R, 4), label (R,) int32, score (R,): boxes with scores above `score_thresh`, before NMS.

        mb_loc: (A, 4) float32, dy dx dh dw
        mb_conf: (A, 1 + L) float32, logits, background first
        n_candidate: maximum number of boxes per class, the highest-scoring; None: all
        There is a box for every class above the threshold; boxes may extend beyond the image.
        """
        decoding = self.decoding(mb_conf.shape[1] - 1, n_candidate=n_candidate)
        return decoding.decode((mb_loc, mb_conf), (1, 1), Placement((1, 1), (1, 1)), score_thresh)

    def decoding(self, n_class: int, *, n_candidate: int | None = None, clip: bool = False) -> AnchorLevels:
        """The decoding of a network with these default boxes; clip: whether boxes are clipped to the image."""
        return AnchorLevels(
            anchors=self._boxes,
            n_class=n_class,
            scores="softmax",
            std=self._std,
            n_candidate=n_candidate,
            per="class",
            clip=clip,
        )
