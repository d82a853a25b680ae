"""Reader of COCO's annotation files."""

import pathlib
from collections.abc import Mapping
from itertools import chain
from operator import attrgetter
from typing import Any, NamedTuple, TypeAlias

import msgspec
import numpy as np

from cvzoo.errors.exceptions import ValueRangeError
from cvzoo.evaluations.coco.columns import refuse_first
from cvzoo.evaluations.coco.ground_truth import COCOGroundTruth
from cvzoo.evaluations.coco.json_records import (
    Box,
    Integer,
    Length,
    decode_columns,
    int_column,
    join_blocks,
    loads,
    points_column,
)
from cvzoo.evaluations.coco.lookup import lookup
from cvzoo.evaluations.coco.mask_records import RLERecord, masks_of
from cvzoo.evaluations.coco.parameters import COCOParameters
from cvzoo.evaluations.coco.plain_records import plain_columns, plain_masks_or_polygons
from cvzoo.reporting.counted import counted
from cvzoo.typing.aliases import Array, FilePath

GroundTruthSource: TypeAlias = FilePath | bytes | Mapping[str, Any]


class _Image(msgspec.Struct, gc=False):
    id: Integer
    width: Length | None = None
    height: Length | None = None


class _Category(msgspec.Struct, gc=False):
    id: Integer
    name: str = ""


class _Object(msgspec.Struct, gc=False):
    id: Integer
    image_id: Integer
    category_id: Integer
    bbox: Box
    area: float | None = None
    iscrowd: int | bool | None = None
    ignore: int | bool | None = None


class _MaskObject(msgspec.Struct, gc=False):
    id: Integer
    image_id: Integer
    category_id: Integer
    segmentation: list[list[float]] | RLERecord
    bbox: Box = (0.0, 0.0, 0.0, 0.0)
    area: float | None = None
    iscrowd: int | bool | None = None
    ignore: int | bool | None = None


class _PointObject(msgspec.Struct, gc=False):
    id: Integer
    image_id: Integer
    category_id: Integer
    bbox: Box
    keypoints: list[float]
    num_keypoints: Integer
    area: float | None = None
    iscrowd: int | bool | None = None
    ignore: int | bool | None = None


_KINDS: dict[str, type[msgspec.Struct]] = {"bbox": _Object, "segm": _MaskObject, "keypoints": _PointObject}


def read_coco_ground_truth(source: GroundTruthSource, parameters: COCOParameters | None = None) -> COCOGroundTruth:
    """The objects of an annotation file, with the fields that the evaluation needs.

    source: a path, the file's bytes, or the dictionary it holds (images, annotations, categories)
    parameters: iou_type determines whether masks or keypoints are read; corrections, which fields may be missing
    Raises ValueRangeError with the index of the first record that lacks a field or is invalid, and FileFormatError
    if the file is not JSON.
    """
    parameters = COCOParameters() if parameters is None else parameters
    file = _read(source)
    img_ids = np.array([image.id for image in file.images], np.int64)
    img_sizes = np.array([(image.height, image.width) for image in file.images], np.float64).reshape(-1, 2)
    kind = _KINDS[parameters.iou_type]
    mask_columns = _MaskColumns(img_ids, img_sizes)
    columns = _plain(file.annotations, kind, mask_columns)
    if columns is None:
        annotations = bytes(file.annotations) if isinstance(file.annotations, memoryview) else file.annotations
        make = mask_columns if parameters.iou_type == "segm" else _columns
        columns = join_blocks(decode_columns(annotations, kind, make, name="annotations"), _columns([]), "annotations")
    bbox = columns["bbox"].reshape(-1, 4)
    notes: list[str] = []
    whole = np.isfinite(img_sizes).all()
    return COCOGroundTruth(
        img_ids=img_ids,
        cat_ids=np.array([category.id for category in file.categories], np.int64),
        image_id=columns["image_id"],
        category_id=columns["category_id"],
        bbox=bbox,
        area=_area(columns["area"], bbox, parameters, notes),
        crowd=_crowd(columns["iscrowd"], parameters, notes),
        ignore=None if np.isnan(columns["ignore"]).all() else np.nan_to_num(columns["ignore"]) != 0,
        ids=columns["id"],
        masks=columns.get("masks"),
        keypoints=columns.get("keypoints"),
        num_keypoints=columns.get("num_keypoints"),
        img_sizes=img_sizes.astype(np.int64) if whole else None,
        cat_names=tuple(category.name or str(category.id) for category in file.categories),
        notes=tuple(notes),
    )


class _File(msgspec.Struct):
    images: list[_Image]
    annotations: msgspec.Raw
    categories: list[_Category]


def _read(source: GroundTruthSource) -> "_Parts":
    if isinstance(source, Mapping):
        missing = [name for name in ("images", "annotations", "categories") if name not in source]
        if missing:
            raise ValueRangeError(f"the ground truth lacks {', '.join(missing)}", got=sorted(map(str, source))[:10])
        images, categories = (
            [
                record
                for block in decode_columns(source[name], kind, lambda block, first: block, name=name)
                for record in block
            ]
            for name, kind in (("images", _Image), ("categories", _Category))
        )
        return _Parts(images, source["annotations"], categories)
    text = source if isinstance(source, bytes) else pathlib.Path(source).read_bytes()
    try:
        file = msgspec.json.decode(text, type=_File)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
        whole = loads(text, "ground truth")
        if not isinstance(whole, dict):
            raise ValueRangeError("the ground truth must be a dictionary", got=type(whole).__name__) from None
        return _read(whole)
    return _Parts(file.images, memoryview(file.annotations), file.categories)


class _Parts(NamedTuple):
    images: list
    annotations: memoryview | list
    categories: list


def _columns(block: list[Any], first: int = 0) -> dict[str, Any]:
    columns = {
        "id": int_column(block, "id"),
        "image_id": int_column(block, "image_id"),
        "category_id": int_column(block, "category_id"),
        "bbox": np.fromiter(chain.from_iterable(map(attrgetter("bbox"), block)), np.float64, 4 * len(block)),
        # None becomes NaN
        "area": np.array([record.area for record in block], np.float64),
        "iscrowd": np.array([record.iscrowd for record in block], np.float64),
        "ignore": np.array([record.ignore for record in block], np.float64),
    }
    if block and isinstance(block[0], _PointObject):
        columns["keypoints"] = points_column("annotations", [record.keypoints for record in block], first)
        columns["num_keypoints"] = int_column(block, "num_keypoints")
    return columns


class _MaskColumns:
    """The columns of objects with masks; polygons need the size of their image."""

    def __init__(self, img_ids: Array, img_sizes: Array) -> None:
        self.order = np.argsort(img_ids, kind="stable")
        self.img_ids, self.img_sizes = img_ids[self.order], img_sizes[self.order]

    def __call__(self, block: list[Any], first: int) -> dict[str, Any]:
        columns = _columns(block, first)
        sizes = self.sizes_of(columns["image_id"])
        columns["masks"] = masks_of([record.segmentation for record in block], sizes, "annotations", first)
        return columns

    def sizes_of(self, image_id: Array) -> Array:
        """(n, 2) float64, NaN for an unknown image, which raises an error later, with the other objects."""
        if not len(self.img_ids):
            return np.full((len(image_id), 2), np.nan)
        place, known = lookup(self.img_ids, image_id)
        return np.where(known[:, None], self.img_sizes[place], np.nan)


def _plain(text: memoryview | list, kind: type[msgspec.Struct], images: _MaskColumns) -> dict[str, Any] | None:
    if not isinstance(text, memoryview):
        return None
    columns = plain_columns(text, kind)
    if columns and "segmentation" in columns:
        sizes = images.sizes_of(columns["image_id"])
        columns["masks"] = plain_masks_or_polygons(text, columns.pop("segmentation"), sizes)
        return None if columns["masks"] is None else columns
    return columns


def _area(area: Array, bbox: Array, parameters: COCOParameters, notes: list[str]) -> Array:
    missing = np.isnan(area)
    if parameters.corrects("missing_area"):
        if missing.any():
            notes.append(
                f"missing_area: {counted(int(missing.sum()), 'object has', 'objects have')} no area; the area "
                "of their box is used"
            )
        return np.where(missing, bbox[:, 2] * bbox[:, 3], area)
    refuse_first(
        "annotations", "area", area, missing, "a number", hint='corrections=("missing_area",): the area of the box'
    )
    return area


def _crowd(crowd: Array, parameters: COCOParameters, notes: list[str]) -> Array:
    missing = np.isnan(crowd)
    if parameters.corrects("missing_iscrowd"):
        if missing.any():
            notes.append(
                f"missing_iscrowd: {counted(int(missing.sum()), 'object has', 'objects have')} no iscrowd; none "
                "of them is a crowd region"
            )
        return np.nan_to_num(crowd) != 0
    refuse_first("annotations", "iscrowd", crowd, missing, "0 or 1", hint='corrections=("missing_iscrowd",): no crowds')
    return crowd != 0
