"""Assertions of the conventions that data sets of each task follow; for tests of your own data sets, too.

Each raises BrokenRuleError, an AssertionError, that names the example and says what is wrong.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from cvzoo.datasets.sliceable.abstract import AbstractSliceableDataset
from cvzoo.errors.exceptions import BrokenRuleError
from cvzoo.typing.aliases import Array, BBox, Image, Label, Point, Size
from cvzoo.typing.protocols import IndexableDataset


def assert_is_image(img: Image, color: bool = True, check_range: bool = True) -> None:
    """Asserts that img is (3, H, W) float32 ((1, H, W) if color is false), not empty, finite and in [0, 255]."""
    _check_array("img", img, np.float32, ndim=3)
    _check(len(img) == (3 if color else 1), "img has the wrong number of channels", 3 if color else 1, len(img))
    _check(img.size > 0, "img is empty", got=img.shape)
    _check(bool(np.isfinite(img).all()), "img contains NaN or infinite values")
    if check_range:
        low, high = float(img.min()), float(img.max())
        _check(low >= 0 and high <= 255, "img is outside of its range", "0 .. 255", f"{low} .. {high}")
        # an image divided by 255 passes every other check, and no detector finds any object in it
        is_scaled = high <= 1 and bool(((img > 0) & (img < 1)).any())
        _check(not is_scaled, "img seems to be divided by 255", "0 .. 255", f"at most {high}")


def assert_is_bbox(bbox: BBox, size: Size | None = None) -> None:
    """Asserts that bbox is (R, 4) float32, y_min <= y_max, x_min <= x_max, and within the image if size is given."""
    _check_array("bbox", bbox, np.float32, ndim=2)
    _check(bbox.shape[1] == 4, "bbox is not (R, 4)", got=bbox.shape)
    _check(bool(np.isfinite(bbox).all()), "bbox contains NaN or infinite values")
    inverted = np.flatnonzero((bbox[:, :2] > bbox[:, 2:]).any(axis=1))
    _check(len(inverted) == 0, "a box has a negative size", "y_min x_min y_max x_max", _row(bbox, inverted))
    if size is not None:
        outside = np.flatnonzero((bbox[:, :2] < 0).any(axis=1) | (bbox[:, 2:] > np.asarray(size)).any(axis=1))
        _check(len(outside) == 0, "a box exceeds the image", f"within (H, W) = {tuple(size)}", _row(bbox, outside))


def assert_is_point(
    point: Point, visible: Array | None = None, size: Size | None = None, n_point: int | None = None
) -> None:
    """Asserts that point is (R, K, 2) float32, visible, if given, (R, K) bool, and visible points are in the image."""
    _check_array("point", point, np.float32, ndim=3)
    _check(point.shape[2] == 2, "point is not (R, K, 2)", got=point.shape)
    if n_point is not None:
        _check(point.shape[1] == n_point, "point has the wrong number of points", n_point, point.shape[1])
    if visible is not None:
        _check_array("visible", visible, np.bool_, ndim=2)
        _check(visible.shape == point.shape[:2], "visible and point differ in shape", point.shape[:2], visible.shape)
    checked = point.reshape(-1, 2) if visible is None else point[visible]
    _check(bool(np.isfinite(checked).all()), "point contains NaN or infinite values")
    if size is not None:
        outside = np.flatnonzero(((checked < 0) | (checked > np.asarray(size))).any(axis=1))
        _check(
            len(outside) == 0,
            "a visible point is outside of the image",
            f"within {tuple(size)}",
            _row(checked, outside),
        )


def assert_is_bbox_dataset(
    dataset: IndexableDataset[Any],
    n_fg_class: int,
    n_example: int | None = None,
    *,
    within_image: bool = True,
    within_photo: bool = True,
) -> None:
    """Asserts that examples begin with img, bbox, label (R,) int32 in 0 .. n_fg_class - 1, and that slices agree.

    n_example: how many examples are checked, evenly spread over the data set; None: all
    within_image: boxes must be within the image; within_photo: its former name
    """

    def check(example: tuple[Array, ...]) -> None:
        img, bbox, label = example[:3]
        assert_is_image(img)
        assert_is_bbox(bbox, size=img.shape[1:] if within_image and within_photo else None)
        _check_labels(label, len(bbox), n_fg_class)

    _check_dataset(dataset, n_example, 3, check)


def assert_is_label_dataset(
    dataset: IndexableDataset[Any], n_class: int, n_example: int | None = None, color: bool = True
) -> None:
    """Asserts that examples begin with img and label, an int32 scalar in 0 .. n_class - 1."""

    def check(example: tuple[Array, ...]) -> None:
        assert_is_image(example[0], color=color)
        _check_scalar(example[1], n_class)

    _check_dataset(dataset, n_example, 2, check)


def assert_is_point_dataset(
    dataset: IndexableDataset[Any], n_point: int | None = None, n_example: int | None = None, no_visible: bool = False
) -> None:
    """Asserts that examples begin with img, point and optionally visible (never with no_visible)."""

    def check(example: tuple[Array, ...]) -> None:
        img, point = example[:2]
        assert_is_image(img)
        visible = None if no_visible or len(example) == 2 else example[2]
        assert_is_point(point, visible, img.shape[1:], n_point)

    _check_dataset(dataset, n_example, 2, check)


def assert_is_semantic_segmentation_dataset(
    dataset: IndexableDataset[Any], n_class: int, n_example: int | None = None
) -> None:
    """Asserts that examples begin with img and label, (H, W) int32 of the image's size in -1 .. n_class - 1."""

    def check(example: tuple[Array, ...]) -> None:
        img, label = example[:2]
        assert_is_image(img)
        _check_array("label", label, np.int32, ndim=2)
        _check(label.shape == img.shape[1:], "label and img differ in size", img.shape[1:], label.shape)
        low, high = int(label.min()), int(label.max())
        _check(
            low >= -1 and high < n_class, "label is outside of its range", f"-1 .. {n_class - 1}", f"{low} .. {high}"
        )

    _check_dataset(dataset, n_example, 2, check)


def assert_is_instance_segmentation_dataset(
    dataset: IndexableDataset[Any], n_fg_class: int, n_example: int | None = None
) -> None:
    """Asserts that examples begin with img, mask (R, H, W) bool and label (R,) int32 in 0 .. n_fg_class - 1."""

    def check(example: tuple[Array, ...]) -> None:
        img, mask, label = example[:3]
        assert_is_image(img)
        _check_array("mask", mask, np.bool_, ndim=3)
        _check(mask.shape[1:] == img.shape[1:], "mask and img differ in size", img.shape[1:], mask.shape[1:])
        _check_labels(label, len(mask), n_fg_class)

    _check_dataset(dataset, n_example, 3, check)


def _check_dataset(
    dataset: IndexableDataset[Any], n_example: int | None, n_value: int, check: Callable[[tuple[Array, ...]], None]
) -> None:
    n = len(dataset)
    indices = range(n) if n_example is None or n_example >= n else np.linspace(0, n - 1, n_example).astype(int).tolist()
    for index in indices:
        try:
            example = dataset[index]
            _check(isinstance(example, tuple), "an example must be a tuple", got=type(example).__name__)
            _check(len(example) >= n_value, "an example has too few values", f"at least {n_value}", len(example))
            check(example)
            if isinstance(dataset, AbstractSliceableDataset):
                _check_slices(dataset, index, example)
        except BrokenRuleError as error:
            name = dataset.name(index) if isinstance(dataset, AbstractSliceableDataset) else "a plain data set"
            raise BrokenRuleError(f"example {index} ({name}): {error}") from error


def _check_slices(dataset: AbstractSliceableDataset, index: int, example: tuple[Any, ...]) -> None:
    """Asserts that the other values are the same without the image; this also finds getters with misspelled keys."""
    keys = dataset.keys
    _check(isinstance(keys, tuple) and len(keys) == len(example), "examples need one value per key", keys, len(example))
    rest = dataset.slice[index : index + 1, keys[1:]][0]
    for key, value, again in zip(keys[1:], example[1:], rest):
        if isinstance(value, (np.ndarray, np.generic)):
            _check(np.array_equal(value, again), f"{key} differs when it is read without the image")


def _check_array(name: str, value: Any, dtype: npt.DTypeLike, *, ndim: int) -> None:
    _check(isinstance(value, np.ndarray), f"{name} is not a NumPy array", got=type(value).__name__)
    _check(value.dtype == dtype, f"{name} has the wrong dtype", np.dtype(dtype), value.dtype)
    _check(value.ndim == ndim, f"{name} has the wrong number of axes", ndim, value.shape)


def _check_labels(label: Label, n_instance: int, n_fg_class: int) -> None:
    _check_array("label", label, np.int32, ndim=1)
    _check(len(label) == n_instance, "label must have one value per instance", n_instance, len(label))
    if len(label):
        low, high = int(label.min()), int(label.max())
        _check(
            low >= 0 and high < n_fg_class,
            "label is outside of its range",
            f"0 .. {n_fg_class - 1}",
            f"{low} .. {high}",
        )


def _check_scalar(label: Any, n_class: int) -> None:
    _check(type(label) is np.int32 and np.ndim(label) == 0, "label is not an np.int32", got=type(label).__name__)
    _check(bool(0 <= label < n_class), "label is outside of its range", f"0 .. {n_class - 1}", int(label))


def _row(table: Array, rows: Array) -> str | None:
    return None if len(rows) == 0 else f"{table[rows[0]].tolist()} (instance {rows[0]})"


def _check(is_right: bool, what: str, expected: object | None = None, got: object | None = None) -> None:
    if not is_right:
        raise BrokenRuleError(what, expected=expected, got=got)
