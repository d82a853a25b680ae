"""COCO's JSON files, read into columns: fast, small, and cheap to send to other processes."""

import gc
import pathlib
from typing import Generic, NamedTuple, TypeVar

import msgspec
import numpy as np

from cvzoo.datasets.text_files import read_bytes
from cvzoo.errors.exceptions import DatasetError

_Kind = TypeVar("_Kind")
_LARGE = 1e15  # far beyond every photo, and what can be multiplied as float32


class Columns(NamedTuple):
    """A file's contents. N photos sorted by id, M annotations sorted by photo, then in the file's order.

    image_ids (N,) int64; file_names N of str; sizes (N, 2) int32, (H, W), -1 where the file does not say
    category_ids (C,) int64, sorted; label_names C of str; keypoint_names (K,) of str
    offsets (N + 1,) int64: photo i has the annotations offsets[i]:offsets[i + 1]
    annotation_ids (M,) int64; label (M,) int32, places in category_ids; crowded (M,) bool
    bbox (M, 4) float32, y_min x_min y_max x_max; area (M,) float32
    keypoints: (M, 3 K) float32 x, y, v ...; NaN where an annotation has none
    mask_spans: (M, 2) int64, where in the file the text of each annotation's segmentation begins and ends; -1 if it
        has none. Masks stay in the file: in memory they would be most of it, once more in every worker process
    """

    image_ids: np.ndarray
    file_names: list
    sizes: np.ndarray
    category_ids: np.ndarray
    label_names: tuple
    keypoint_names: tuple
    offsets: np.ndarray
    annotation_ids: np.ndarray
    label: np.ndarray
    crowded: np.ndarray
    bbox: np.ndarray
    area: np.ndarray
    keypoints: np.ndarray | None
    mask_spans: np.ndarray | None


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


def read_columns(path, *, with_masks=False, with_keypoints=False):
    """The columns of an annotation file (instances_*.json, person_keypoints_*.json, or your own of that form).

    with_masks, with_keypoints: one of them at most; what is not asked for is skipped while reading
    Raises DatasetError that names the file and the annotation.
    """
    path = pathlib.Path(path)
    data = read_bytes(path, limit=None)
    # millions of small objects that live: looking for garbage among them takes longer than making them
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        file = _decode(path, data, with_masks, with_keypoints)
        return _columns(path, data, file, with_masks, with_keypoints)
    except OverflowError as error:
        raise DatasetError(f"{path}: an id or a size is larger than any can be", got=error) from error
    finally:
        if was_enabled:
            gc.enable()


def _decode(path, data, with_masks, with_keypoints):
    kind = _WithMask if with_masks else _WithKeypoints if with_keypoints else _Annotation
    try:
        return msgspec.json.decode(data, type=_File[kind])
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise DatasetError(f"{path}: not an annotation file of COCO's form", got=error) from error


def _columns(path, data, file, with_masks, with_keypoints):
    images = sorted(file.images, key=lambda image: image.id)
    image_ids = _unique(path, "images", [image.id for image in images])
    categories = sorted(file.categories, key=lambda category: category.id)
    category_ids = _unique(path, "categories", [category.id for category in categories])
    found = file.annotations
    photo = _places(path, "image_id", [each.image_id for each in found], image_ids)
    label = _places(path, "category_id", [each.category_id for each in found], category_ids)
    order = np.argsort(photo, kind="stable")
    xywh = _table(path, "bbox", [each.bbox for each in found], 4)[order]
    given = np.array([np.nan if each.area is None else each.area for each in found], np.float64)
    _refuse_large(path, "area", given[:, None], given)
    given = given[order]
    x, y, width, height = xywh.T
    keypoint_names = next((each.keypoints for each in categories if each.keypoints), ())
    return Columns(
        image_ids,
        [image.file_name for image in images],
        np.array([_size(image) for image in images], np.int32).reshape(-1, 2),
        category_ids,
        tuple(category.name for category in categories),
        tuple(keypoint_names),
        np.concatenate([[0], np.cumsum(np.bincount(photo, minlength=len(images)), dtype=np.int64)]),
        np.array([each.id for each in found], np.int64)[order],
        label[order].astype(np.int32),
        np.array([bool(each.iscrowd) for each in found], bool)[order],
        np.stack([y, x, y + height, x + width], axis=1).astype(np.float32),
        np.where(np.isnan(given), width * height, given).astype(np.float32),
        _keypoints(path, found, len(keypoint_names))[order] if with_keypoints else None,
        _spans(data, found)[order] if with_masks else None,
    )


def _spans(data, found):
    """Where the text of each segmentation lies in the data, which msgspec's Raw objects look into."""
    if not found:
        return np.empty((0, 2), np.int64)
    views = [np.frombuffer(each.segmentation, np.uint8) for each in found]
    length = np.array([len(view) for view in views], np.int64)
    start = np.array([view.__array_interface__["data"][0] for view in views], np.int64)
    start -= np.frombuffer(data, np.uint8).__array_interface__["data"][0]
    is_inside = (start >= 0) & (start + length <= len(data))  # the default for a missing field lies elsewhere
    return np.where(is_inside[:, None], np.stack([start, start + length], axis=1), -1)


def _size(image):
    return (-1, -1) if image.height is None or image.width is None else (image.height, image.width)


def _unique(path, field, ids):
    ids = np.array(ids, np.int64)
    twice = np.flatnonzero(ids[1:] == ids[:-1])
    if len(twice):
        raise DatasetError(f"{path}: two {field} of one id", got=ids[twice[0]])
    return ids


def _places(path, field, wanted, ids):
    wanted = np.array(wanted, np.int64)
    places = np.searchsorted(ids, wanted)
    known = places < len(ids)
    known[known] = ids[places[known]] == wanted[known]
    if not known.all():
        index = int(np.flatnonzero(~known)[0])
        raise DatasetError(f"{path}: annotations[{index}] has an unknown {field}", got=int(wanted[index]))
    return places


def _table(path, field, rows, width):
    for index, row in enumerate(rows):
        if len(row) != width:
            raise DatasetError(f"{path}: annotations[{index}].{field} has not {width} numbers", got=row)
    table = np.array(rows, np.float64).reshape(-1, width)
    broken = np.flatnonzero(~np.isfinite(table).all(axis=1))
    if len(broken):
        raise DatasetError(f"{path}: annotations[{broken[0]}].{field} is not finite", got=rows[broken[0]])
    _refuse_large(path, field, table, rows)
    return table


def _refuse_large(path, field, table, rows):
    large = np.flatnonzero((np.abs(table) > _LARGE).any(axis=1))
    if len(large):
        raise DatasetError(f"{path}: annotations[{large[0]}].{field} is too large for pixels", got=rows[large[0]])


def _keypoints(path, found, n_point):
    table = np.full((len(found), 3 * n_point), np.nan, np.float64)
    for index, each in enumerate(found):
        if each.keypoints is not None:
            if len(each.keypoints) != 3 * n_point:
                raise DatasetError(
                    f"{path}: annotations[{index}].keypoints has not 3 numbers a point",
                    expected=3 * n_point,
                    got=len(each.keypoints),
                )
            table[index] = each.keypoints
    _refuse_large(path, "keypoints", table, table)
    return table.astype(np.float32)
