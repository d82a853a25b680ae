"""Detections as columns."""

import dataclasses

import numpy as np

from cvzoo.errors.exceptions import ValueRangeError
from cvzoo.evaluations.coco.columns import as_column, check_xywh
from cvzoo.geometry.rle import RLEs
from cvzoo.typing.aliases import Array


@dataclasses.dataclass(frozen=True, eq=False)
class COCODetections:
    """Detections, one row each, in the order of their records, which breaks ties of equal scores.

    image_id, category_id: (N,) int64
    score: (N,) float64
    bbox: None, or (N, 4) float64: x, y, width, height, pixels
    area: (N,) float64, square pixels, for the area ranges of unmatched detections; None: the box's, else the mask's,
        else that of the bounding box of the keypoints, as in pycocotools
    masks: None, or RLEs of length N
    keypoints: None, or (N, P, 3) float64: x, y and a third value that is not used
    Raises ShapeError, DtypeError or ValueRangeError with the index of the first detection that is malformed.
    """

    image_id: Array
    category_id: Array
    score: Array
    bbox: Array | None = None
    area: Array | None = None
    masks: RLEs | None = None
    keypoints: Array | None = None

    def __post_init__(self) -> None:
        n = len(self.image_id)
        for name, dtype, shape in (
            ("image_id", np.int64, (n,)),
            ("category_id", np.int64, (n,)),
            ("score", np.float64, (n,)),
            ("bbox", np.float64, (n, 4)),
            ("keypoints", np.float64, (n, -1, 3)),
        ):
            column = self.__dict__[name]
            if column is not None:
                object.__setattr__(self, name, as_column(f"detections: {name}", column, dtype, shape))
        if self.masks is not None and len(self.masks) != n:
            raise ValueRangeError("detections must have one mask each", expected=n, got=len(self.masks))
        if self.bbox is not None:
            check_xywh("detections", self.bbox)
        area = self._own_area() if self.area is None else self.area
        object.__setattr__(self, "area", as_column("detections: area", area, np.float64, (n,)))

    def _own_area(self) -> Array:
        if self.bbox is not None:
            return self.bbox[:, 2] * self.bbox[:, 3]
        if self.masks is not None:
            return self.masks.area().astype(np.float64)
        if self.keypoints is not None:
            points = self.keypoints[:, :, :2]
            if not points.size:
                return np.zeros(len(points))
            sides = points.max(axis=1) - points.min(axis=1)
            return sides[:, 0] * sides[:, 1]
        raise ValueRangeError("detections need boxes, masks or keypoints", got="none of them")

    def __len__(self) -> int:
        return len(self.image_id)
