"""Ground-truth objects as columns."""

import dataclasses
from typing import cast

import numpy as np

from cvzoo.errors.exceptions import ValueRangeError
from cvzoo.evaluations.coco.columns import as_column, check_xywh, refuse_first
from cvzoo.evaluations.coco.lookup import lookup
from cvzoo.geometry.rle import RLEs
from cvzoo.typing.aliases import Array


@dataclasses.dataclass(frozen=True, eq=False)
class COCOGroundTruth:
    """Images, classes and ground-truth objects, one row per object, in the order of their records.

    img_ids: (I,) int64; cat_ids: (K,) int64; unique, in any order
    image_id, category_id: (G,) int64
    bbox: (G, 4) float64: x, y, width, height, pixels, COCO's format: other formats round differently
    area: (G,) float64, square pixels, of the mask if there is one; only used for area ranges
    crowd: (G,) bool; ignore: None, or (G,) bool: the field `ignore` of the records
    ids: (G,) int64, or None: 1, 2, 3 ...
    masks: None, or RLEs of length G
    keypoints: None, or (G, P, 3) float64: x, y and visibility; num_keypoints: None, or (G,) int64
    img_sizes: None, or (I, 2) int64: height, width
    cat_names: None, or K names
    notes: assumptions about the records, in words
    Raises ShapeError, DtypeError or ValueRangeError with the index of the first object that is malformed.
    """

    img_ids: Array
    cat_ids: Array
    image_id: Array
    category_id: Array
    bbox: Array
    area: Array
    crowd: Array
    ignore: Array | None = None
    ids: Array | None = None
    masks: RLEs | None = None
    keypoints: Array | None = None
    num_keypoints: Array | None = None
    img_sizes: Array | None = None
    cat_names: tuple[str, ...] | None = None
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        n = len(self.image_id)
        if self.ids is None:
            object.__setattr__(self, "ids", np.arange(1, n + 1))
        for name, dtype, shape in (
            ("img_ids", np.int64, (-1,)),
            ("cat_ids", np.int64, (-1,)),
            ("image_id", np.int64, (n,)),
            ("category_id", np.int64, (n,)),
            ("ids", np.int64, (n,)),
            ("bbox", np.float64, (n, 4)),
            ("area", np.float64, (n,)),
            ("crowd", np.bool_, (n,)),
            ("ignore", np.bool_, (n,)),
            ("keypoints", np.float64, (n, -1, 3)),
            ("num_keypoints", np.int64, (n,)),
            ("img_sizes", np.int64, (len(self.img_ids), 2)),
        ):
            column = self.__dict__[name]
            if column is not None:
                object.__setattr__(self, name, as_column(f"annotations: {name}", column, dtype, shape))
        if self.masks is not None and len(self.masks) != n:
            raise ValueRangeError("annotations must have one mask each", expected=n, got=len(self.masks))
        _refuse_twice("images", self.img_ids)
        _refuse_twice("categories", self.cat_ids)
        _refuse_twice("annotations", cast(Array, self.ids))
        check_xywh("annotations", self.bbox)
        for field, ids, values in (
            ("image_id", self.img_ids, self.image_id),
            ("category_id", self.cat_ids, self.category_id),
        ):
            known = lookup(np.sort(ids), values)[1]
            refuse_first("annotations", field, values, ~known, "an id that the file lists")

    def __len__(self) -> int:
        return len(self.image_id)


def _refuse_twice(records: str, ids: Array) -> None:
    order = np.argsort(ids, kind="stable")
    again = order[1:][ids[order[1:]] == ids[order[:-1]]]
    twice = np.zeros(ids.size, bool)
    twice[again] = True
    refuse_first(records, "id", ids, twice, "each id once")
