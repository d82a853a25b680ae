"""Reads COCO's JSON files into columns (arrays): fast, small, and cheap to pickle for other processes."""

import gc
import pathlib
from collections.abc import Sequence
from typing import Any, Generic, NamedTuple, TypeVar

import msgspec
import numpy as np

from cvzoo.datasets.text_files import read_bytes
from cvzoo.errors.exceptions import DatasetError
from cvzoo.typing.aliases import Area, Array, BBox, FilePath, Flags, Label, Size

_Kind = TypeVar("_Kind")
_LARGE = 1e15  # coordinates beyond this are no pixels, and their products would overflow float32


class Columns(NamedTuple):
    """The contents of a file: N images sorted by id, M annotations sorted by image, then in the file's order.

    image_ids (N,) int64; file_names N of str; sizes (N, 2) int32, (H, W), -1 if the file does not state them
    category_ids (C,) int64, sorted; label_names C of str; keypoint_names (K,) of str
    offsets (N + 1,) int64: image i has the annotations offsets[i]:offsets[i + 1]
    annotation_ids (M,) int64; label (M,) int32, indices into category_ids; crowded (M,) bool
    bbox (M, 4) float32, y_min x_min y_max x_max; area (M,) float32
    keypoints: (M, 3 K) float32 x, y, v ...; NaN where an annotation has none
    mask_spans: (M, 2) int64, start and end of the text of each annotation's segmentation in the file; -1 if it has
        none. Masks stay in the file, since they would need most of the memory, in every worker process
    """

    image_ids: Array
    file_names: list[str]
    sizes: Array
    category_ids: Array
    label_names: tuple[str, ...]
    keypoint_names: tuple[str, ...]
    offsets: Array
    annotation_ids: Array
    label: Label
    crowded: Flags
    bbox: BBox
    area: Area
    keypoints: Array | None
    mask_spans: Array | None


class _Image(msgspec.Struct, gc=False):
    id: int
    file_name: str
    height: int | None = None
    width: int | None = None


class _Category(msgspec.Struct, gc=False):
    id: int
    name: str
    keypoints: tuple[str, ...] = ()


class _Annotation(msgspec.Struct, gc=False):
    image_id: int
    category_id: int
    bbox: list[float]
    id: int = -1
    area: float | None = None
    iscrowd: int | bool = 0


class _WithMask(_Annotation, gc=False):
    segmentation: msgspec.Raw = msgspec.Raw(b"null")


class _WithKeypoints(_Annotation, gc=False):
    keypoints: list[float] | None = None


class _File(msgspec.Struct, Generic[_Kind]):
    images: list[_Image]
    annotations: list[_Kind]
    categories: list[_Category]


def read_columns(path: FilePath, *, with_masks: bool = False, with_keypoints: bool = False) -> Columns:
    """The columns of an annotation file (instances_*.json, person_keypoints_*.json, or your own in that format).

    with_masks, with_keypoints: at most one of them; other fields are skipped while reading
    Raises DatasetError that names the file and the annotation.
    """
    path = pathlib.Path(path)
    data = read_bytes(path, limit=None)
    # with millions of small objects alive, the garbage collector's scans would take longer than decoding
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        file = _decode(path, data, with_masks, with_keypoints)
        return _columns(path, data, file, with_masks, with_keypoints)
    except OverflowError as error:
        raise DatasetError(f"{path}: an id or a size is too large", got=error) from error
    finally:
        if was_enabled:
            gc.enable()


def _decode(path: pathlib.Path, data: bytes, with_masks: bool, with_keypoints: bool) -> _File[Any]:
    kind = _WithMask if with_masks else _WithKeypoints if with_keypoints else _Annotation
    try:
        return msgspec.json.decode(data, type=_File[kind])  # type: ignore[valid-type]  # a type made at run time
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise DatasetError(f"{path}: not an annotation file in COCO's format", got=error) from error


def _columns(path: pathlib.Path, data: bytes, file: _File[Any], with_masks: bool, with_keypoints: bool) -> Columns:
    images = sorted(file.images, key=lambda image: image.id)
    image_ids = _unique(path, "images", [image.id for image in images])
    categories = sorted(file.categories, key=lambda category: category.id)
    category_ids = _unique(path, "categories", [category.id for category in categories])
    annotations = file.annotations
    image = _index_of(path, "image_id", [each.image_id for each in annotations], image_ids)
    label = _index_of(path, "category_id", [each.category_id for each in annotations], category_ids)
    order = np.argsort(image, kind="stable")
    xywh = _table(path, "bbox", [each.bbox for each in annotations], 4)[order]
    area = np.array([np.nan if each.area is None else each.area for each in annotations], np.float64)
    _refuse_large(path, "area", area[:, None], area)
    area = area[order]
    x, y, width, height = xywh.T
    keypoint_names = next((each.keypoints for each in categories if each.keypoints), ())
    return Columns(
        image_ids,
        [image.file_name for image in images],
        np.array([_size(image) for image in images], np.int32).reshape(-1, 2),
        category_ids,
        tuple(category.name for category in categories),
        tuple(keypoint_names),
        np.concatenate([[0], np.cumsum(np.bincount(image, minlength=len(images)), dtype=np.int64)]),
        np.array([each.id for each in annotations], np.int64)[order],
        label[order].astype(np.int32),
        np.array([bool(each.iscrowd) for each in annotations], bool)[order],
        np.stack([y, x, y + height, x + width], axis=1).astype(np.float32),
        np.where(np.isnan(area), width * height, area).astype(np.float32),
        _keypoints(path, annotations, len(keypoint_names))[order] if with_keypoints else None,
        _spans(data, annotations)[order] if with_masks else None,
    )


def _spans(data: bytes, annotations: Sequence[_WithMask]) -> Array:
    """(M, 2) int64, start and end of each segmentation's text in the data, of which msgspec's Raw objects are views."""
    if not annotations:
        return np.empty((0, 2), np.int64)
    views = [np.frombuffer(each.segmentation, np.uint8) for each in annotations]
    length = np.array([len(view) for view in views], np.int64)
    start = np.array([view.__array_interface__["data"][0] for view in views], np.int64)
    start -= np.frombuffer(data, np.uint8).__array_interface__["data"][0]
    is_inside = (start >= 0) & (start + length <= len(data))  # false for the default of a missing field
    return np.where(is_inside[:, None], np.stack([start, start + length], axis=1), -1)


def _size(image: _Image) -> Size:
    return (-1, -1) if image.height is None or image.width is None else (image.height, image.width)


def _unique(path: pathlib.Path, field: str, values: Sequence[int]) -> Array:
    ids = np.array(values, np.int64)
    duplicates = np.flatnonzero(ids[1:] == ids[:-1])
    if len(duplicates):
        raise DatasetError(f"{path}: two {field} have the same id", got=ids[duplicates[0]])
    return ids


def _index_of(path: pathlib.Path, field: str, values: Sequence[int], ids: Array) -> Array:
    """(M,) int64, the index of each value in the sorted ids. Raises DatasetError for a value that is not in it."""
    keys = np.array(values, np.int64)
    indices = np.searchsorted(ids, keys)
    known = indices < len(ids)
    known[known] = ids[indices[known]] == keys[known]
    if not known.all():
        first = int(np.flatnonzero(~known)[0])
        raise DatasetError(f"{path}: annotations[{first}] has an unknown {field}", got=int(keys[first]))
    return indices


def _table(path: pathlib.Path, field: str, rows: Sequence[Sequence[float]], width: int) -> Array:
    for index, row in enumerate(rows):
        if len(row) != width:
            raise DatasetError(f"{path}: annotations[{index}].{field} must have {width} numbers", got=row)
    table = np.array(rows, np.float64).reshape(-1, width)
    invalid = np.flatnonzero(~np.isfinite(table).all(axis=1))
    if len(invalid):
        raise DatasetError(f"{path}: annotations[{invalid[0]}].{field} is not finite", got=rows[invalid[0]])
    _refuse_large(path, field, table, rows)
    return table


def _refuse_large(path: pathlib.Path, field: str, table: Array, rows: Sequence[Sequence[float]] | Array) -> None:
    large = np.flatnonzero((np.abs(table) > _LARGE).any(axis=1))
    if len(large):
        raise DatasetError(f"{path}: annotations[{large[0]}].{field} is too large for pixels", got=rows[large[0]])


def _keypoints(path: pathlib.Path, annotations: Sequence[_WithKeypoints], n_point: int) -> Array:
    table = np.full((len(annotations), 3 * n_point), np.nan, np.float64)
    for index, each in enumerate(annotations):
        if each.keypoints is not None:
            if len(each.keypoints) != 3 * n_point:
                raise DatasetError(
                    f"{path}: annotations[{index}].keypoints must have 3 numbers per keypoint",
                    expected=3 * n_point,
                    got=len(each.keypoints),
                )
            table[index] = each.keypoints
    _refuse_large(path, "keypoints", table, table)
    return table.astype(np.float32)
