"""The rules that every data set of a kind keeps, as checks that anybody may run on their own.

Each raises BrokenRuleError, an AssertionError, that names the example and says what is wrong; none returns anything.
"""

import numpy as np

from cvzoo.datasets.sliceable.abstract import AbstractSliceableDataset
from cvzoo.errors.exceptions import BrokenRuleError


def assert_is_image(img, color=True, check_range=True):
    """img is (3, H, W) float32 (or (1, H, W) if color is false), not empty, finite and, if checked, in [0, 255]."""
    _check_array("img", img, np.float32, ndim=3)
    _check(len(img) == (3 if color else 1), "img has the wrong number of channels", 3 if color else 1, len(img))
    _check(img.size > 0, "img is empty", got=img.shape)
    _check(bool(np.isfinite(img).all()), "img holds NaN or infinite values")
    if check_range:
        low, high = float(img.min()), float(img.max())
        _check(low >= 0 and high <= 255, "img leaves its range", "0 .. 255", f"{low} .. {high}")
        # a photo that somebody divided by 255 passes every other check, and no detector finds a thing in it
        is_scaled = high <= 1 and bool(((img > 0) & (img < 1)).any())
        _check(not is_scaled, "img looks as if it were divided by 255", "0 .. 255", f"at most {high}")


def assert_is_bbox(bbox, size=None):
    """bbox is (R, 4) float32, y_min <= y_max, x_min <= x_max, and within the photo if its size (H, W) is given."""
    _check_array("bbox", bbox, np.float32, ndim=2)
    _check(bbox.shape[1] == 4, "bbox is not (R, 4)", got=bbox.shape)
    _check(bool(np.isfinite(bbox).all()), "bbox holds NaN or infinite values")
    turned = np.flatnonzero((bbox[:, :2] > bbox[:, 2:]).any(axis=1))
    _check(len(turned) == 0, "a box ends before it begins", "y_min x_min y_max x_max", _row(bbox, turned))
    if size is not None:
        outside = np.flatnonzero((bbox[:, :2] < 0).any(axis=1) | (bbox[:, 2:] > np.asarray(size)).any(axis=1))
        _check(len(outside) == 0, "a box leaves the photo", f"within (H, W) = {tuple(size)}", _row(bbox, outside))


def assert_is_point(point, visible=None, size=None, n_point=None):
    """point is (R, K, 2) float32; visible, if given, (R, K) bool; visible points lie within the photo of that size."""
    _check_array("point", point, np.float32, ndim=3)
    _check(point.shape[2] == 2, "point is not (R, K, 2)", got=point.shape)
    if n_point is not None:
        _check(point.shape[1] == n_point, "point has the wrong number of points", n_point, point.shape[1])
    if visible is not None:
        _check_array("visible", visible, np.bool_, ndim=2)
        _check(visible.shape == point.shape[:2], "visible does not fit point", point.shape[:2], visible.shape)
    seen = point.reshape(-1, 2) if visible is None else point[visible]
    _check(bool(np.isfinite(seen).all()), "point holds NaN or infinite values")
    if size is not None:
        outside = np.flatnonzero(((seen < 0) | (seen > np.asarray(size))).any(axis=1))
        _check(
            len(outside) == 0, "a visible point lies outside of the photo", f"within {tuple(size)}", _row(seen, outside)
        )


def assert_is_bbox_dataset(dataset, n_fg_class, n_example=None, *, within_photo=True):
    """Examples begin with img, bbox, label (R,) int32 in 0 .. n_fg_class - 1, and stay the same when cut by keys.

    n_example: how many examples are looked at, spread over the data set; None: all
    within_photo: boxes must lie within the photo
    """

    def check(example):
        img, bbox, label = example[:3]
        assert_is_image(img)
        assert_is_bbox(bbox, size=img.shape[1:] if within_photo else None)
        _check_labels(label, len(bbox), n_fg_class)

    _check_dataset(dataset, n_example, 3, check)


def assert_is_label_dataset(dataset, n_class, n_example=None, color=True):
    """Examples begin with img and label, an int32 scalar in 0 .. n_class - 1."""

    def check(example):
        assert_is_image(example[0], color=color)
        _check_scalar(example[1], n_class)

    _check_dataset(dataset, n_example, 2, check)


def assert_is_point_dataset(dataset, n_point=None, n_example=None, no_visible=False):
    """Examples begin with img, point and perhaps visible; no_visible: a third value is something else."""

    def check(example):
        img, point = example[:2]
        assert_is_image(img)
        visible = None if no_visible or len(example) == 2 else example[2]
        assert_is_point(point, visible, img.shape[1:], n_point)

    _check_dataset(dataset, n_example, 2, check)


def assert_is_semantic_segmentation_dataset(dataset, n_class, n_example=None):
    """Examples begin with img and label, (H, W) int32 of the photo's size in -1 .. n_class - 1."""

    def check(example):
        img, label = example[:2]
        assert_is_image(img)
        _check_array("label", label, np.int32, ndim=2)
        _check(label.shape == img.shape[1:], "label is not of the photo's size", img.shape[1:], label.shape)
        low, high = int(label.min()), int(label.max())
        _check(low >= -1 and high < n_class, "label leaves its range", f"-1 .. {n_class - 1}", f"{low} .. {high}")

    _check_dataset(dataset, n_example, 2, check)


def assert_is_instance_segmentation_dataset(dataset, n_fg_class, n_example=None):
    """Examples begin with img, mask (R, H, W) bool of the photo's size, label (R,) int32 in 0 .. n_fg_class - 1."""

    def check(example):
        img, mask, label = example[:3]
        assert_is_image(img)
        _check_array("mask", mask, np.bool_, ndim=3)
        _check(mask.shape[1:] == img.shape[1:], "mask is not of the photo's size", img.shape[1:], mask.shape[1:])
        _check_labels(label, len(mask), n_fg_class)

    _check_dataset(dataset, n_example, 3, check)


def _check_dataset(dataset, n_example, n_value, check):
    n = len(dataset)
    indices = range(n) if n_example is None or n_example >= n else np.linspace(0, n - 1, n_example).astype(int).tolist()
    for index in indices:
        try:
            example = dataset[index]
            _check(isinstance(example, tuple), "an example is no tuple", got=type(example).__name__)
            _check(len(example) >= n_value, "an example has too few values", f"at least {n_value}", len(example))
            check(example)
            if isinstance(dataset, AbstractSliceableDataset):
                _check_slices(dataset, index, example)
        except BrokenRuleError as error:
            name = dataset.name(index) if isinstance(dataset, AbstractSliceableDataset) else "a plain data set"
            raise BrokenRuleError(f"example {index} ({name}): {error}") from error


def _check_slices(dataset, index, example):
    """Without the photo, the other values are the same; this also finds getters under misspelt keys."""
    keys = dataset.keys
    _check(isinstance(keys, tuple) and len(keys) == len(example), "keys do not fit the examples", keys, len(example))
    rest = dataset.slice[index : index + 1, keys[1:]][0]
    for key, value, again in zip(keys[1:], example[1:], rest):
        if isinstance(value, (np.ndarray, np.generic)):
            _check(np.array_equal(value, again), f"{key} differs when it is asked for without the photo")


def _check_array(name, value, dtype, *, ndim):
    _check(isinstance(value, np.ndarray), f"{name} is no NumPy array", got=type(value).__name__)
    _check(value.dtype == dtype, f"{name} has the wrong dtype", np.dtype(dtype), value.dtype)
    _check(value.ndim == ndim, f"{name} has the wrong number of axes", ndim, value.shape)


def _check_labels(label, n_instance, n_fg_class):
    _check_array("label", label, np.int32, ndim=1)
    _check(len(label) == n_instance, "label is not one an instance", n_instance, len(label))
    if len(label):
        low, high = int(label.min()), int(label.max())
        _check(low >= 0 and high < n_fg_class, "label leaves its range", f"0 .. {n_fg_class - 1}", f"{low} .. {high}")


def _check_scalar(label, n_class):
    _check(isinstance(label, np.int32) and np.ndim(label) == 0, "label is no np.int32", got=type(label).__name__)
    _check(0 <= label < n_class, "label leaves its range", f"0 .. {n_class - 1}", int(label))


def _row(table, rows):
    return None if len(rows) == 0 else f"{table[rows[0]].tolist()} (instance {rows[0]})"


def _check(is_right, what, expected=None, got=None):
    if not is_right:
        raise BrokenRuleError(what, expected=expected, got=got)
