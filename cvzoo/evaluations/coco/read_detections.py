"""Reader of COCO's results files."""

import contextlib
import json
import mmap
import os
import pathlib
from collections.abc import Mapping
from itertools import chain
from operator import attrgetter
from typing import Any, TypeAlias

import msgspec
import numpy as np

from cvzoo.errors.exceptions import ValueRangeError
from cvzoo.evaluations.coco.detections import COCODetections
from cvzoo.evaluations.coco.json_records import (
    Box,
    Integer,
    decode_columns,
    float_column,
    int_column,
    join_blocks,
    points_column,
)
from cvzoo.evaluations.coco.mask_records import RLERecord, masks_of_counts
from cvzoo.evaluations.coco.parameters import COCOParameters
from cvzoo.evaluations.coco.plain_records import plain_columns, plain_masks
from cvzoo.typing.aliases import Array, FilePath

# Bytes of a file that are decoded to find the fields of its first record
_PEEK = 1 << 16

DetectionsSource: TypeAlias = FilePath | bytes | list[Any] | Array


class _Boxed(msgspec.Struct, gc=False):
    image_id: Integer
    category_id: Integer
    bbox: Box
    score: float


class _Masked(msgspec.Struct, gc=False):
    image_id: Integer
    category_id: Integer
    segmentation: RLERecord
    score: float


class _BoxedAndMasked(msgspec.Struct, gc=False):
    image_id: Integer
    category_id: Integer
    bbox: Box
    segmentation: RLERecord
    score: float


class _Pointed(msgspec.Struct, gc=False):
    image_id: Integer
    category_id: Integer
    keypoints: list[float]
    score: float


class _BoxedAndPointed(msgspec.Struct, gc=False):
    image_id: Integer
    category_id: Integer
    bbox: Box
    keypoints: list[float]
    score: float


def read_coco_detections(source: DetectionsSource, parameters: COCOParameters | None = None) -> COCODetections:
    """The detections of a results file, with the fields that the evaluation needs.

    source: a path, the file's bytes, the list of dictionaries it holds, or pycocotools' (N, 7) array of image id, x,
        y, width, height, score, category id
    parameters: iou_type determines whether boxes, masks or keypoints are read
    Raises ValueRangeError with the index of the first record that lacks a field or is invalid, and FileFormatError
    if the file is not JSON.

    The fields of the first record determine the fields that are read of all, as in pycocotools: results with boxes and
    masks have the areas of the boxes, even if masks are compared.
    """
    parameters = COCOParameters() if parameters is None else parameters
    if isinstance(source, np.ndarray):
        return _from_array(source)
    records = source if isinstance(source, bytes | list) else _mapped(source)
    name = "detections" if isinstance(source, bytes | list) else f"{os.fspath(source)}: detections"
    kind = _kind(records, parameters.iou_type)
    columns = _plain(records, kind)
    if columns is None:
        columns = join_blocks(decode_columns(records, kind, _columns, name=name), _columns([]), name)
        if "counts" in columns:  # all at once, to avoid copies of the runs
            rows = range(len(columns["counts"]))
            columns["masks"] = masks_of_counts(columns["counts"], columns["size"], name, rows)
    bbox, masks, area = columns.get("bbox"), columns.get("masks"), None
    bbox = None if bbox is None else bbox.reshape(-1, 4)
    if bbox is None and masks is not None and parameters.iou_type == "bbox":
        bbox, area = _xywh(masks.to_bbox().astype(np.float64)), masks.area().astype(np.float64)
    return COCODetections(
        image_id=columns["image_id"],
        category_id=columns["category_id"],
        score=columns["score"],
        bbox=bbox,
        area=area,
        masks=masks,
        keypoints=columns.get("keypoints"),
    )


def _plain(records: bytes | mmap.mmap | list[Any], kind: type[msgspec.Struct]) -> dict[str, Any] | None:
    if isinstance(records, list):
        return None
    columns = plain_columns(records, kind)
    if columns and "segmentation" in columns:
        columns["masks"] = plain_masks(records, columns.pop("segmentation"))
        return None if columns["masks"] is None else columns
    return columns


def _kind(source: bytes | mmap.mmap | list[Any], iou_type: str) -> type[msgspec.Struct]:
    first = (source[0] if source else None) if isinstance(source, list) else _first_record(source)
    fields = first if isinstance(first, Mapping) else {}  # other types raise an error with their index later
    has = {name for name, value in fields.items() if value is not None and not _is_empty(value)}
    if iou_type == "keypoints":
        return _BoxedAndPointed if "bbox" in has else _Pointed
    if iou_type == "segm" and "segmentation" in has:
        return _BoxedAndMasked if "bbox" in has else _Masked
    return _Masked if "segmentation" in has and "bbox" not in has else _Boxed


def _mapped(path: FilePath) -> mmap.mmap | bytes:
    """The file's bytes, memory-mapped if possible, so that they are neither copied nor kept in memory."""
    with open(pathlib.Path(path), "rb") as file:
        try:
            return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        except (OSError, ValueError):  # pipes, and empty files
            return file.read()


def _is_empty(value: object) -> bool:
    return isinstance(value, list) and not value


def _first_record(text: bytes | mmap.mmap) -> Any:
    start = text.find(b"{")
    if start >= 0:
        for end in (start + _PEEK, len(text)):  # the record, or a character of it, may be truncated
            with contextlib.suppress(ValueError, RecursionError):
                return json.JSONDecoder().raw_decode(text[start:end].decode("utf-8", "ignore"))[0]
    return None


def _columns(block: list[Any], first: int = 0) -> dict[str, Any]:
    columns: dict[str, Any] = {
        "image_id": int_column(block, "image_id"),
        "category_id": int_column(block, "category_id"),
        "score": float_column(block, "score"),
    }
    if not block or isinstance(block[0], _Boxed | _BoxedAndMasked | _BoxedAndPointed):
        columns["bbox"] = np.fromiter(chain.from_iterable(map(attrgetter("bbox"), block)), np.float64, 4 * len(block))
    if block and isinstance(block[0], _Masked | _BoxedAndMasked):
        masks = [record.segmentation for record in block]
        columns["counts"] = [mask.counts for mask in masks]
        columns["size"] = np.fromiter(chain.from_iterable([mask.size for mask in masks]), np.int64, 2 * len(block))
    if block and isinstance(block[0], _Pointed | _BoxedAndPointed):
        columns["keypoints"] = points_column("detections", [record.keypoints for record in block], first)
    return columns


def _xywh(bbox: Array) -> Array:
    y_min, x_min, y_max, x_max = bbox.T
    return np.stack((x_min, y_min, x_max - x_min, y_max - y_min), axis=1)


def _from_array(array: Array) -> COCODetections:
    if array.ndim != 2 or array.shape[1] != 7:
        raise ValueRangeError(
            "detections as an array must be (N, 7)", expected="image id, x, y, width, height, score, category id",
            got=array.shape,
        )  # fmt: skip
    return COCODetections(
        image_id=array[:, 0].astype(np.int64),
        category_id=array[:, 6].astype(np.int64),
        score=array[:, 5].astype(np.float64),
        bbox=array[:, 1:5].astype(np.float64),
    )
