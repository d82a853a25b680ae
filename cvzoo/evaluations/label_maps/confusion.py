"""Confusion matrix of semantic segmentation."""

from collections.abc import Iterable

import numpy as np

from cvzoo.errors.exceptions import DtypeError, ShapeError, ValueRangeError
from cvzoo.evaluations.instances import as_array, zip_images
from cvzoo.typing.aliases import Array, ArrayLike


def calc_semantic_segmentation_confusion(
    pred_labels: Iterable[ArrayLike], gt_labels: Iterable[ArrayLike], *, n_class: int | None = None
) -> Array:
    """Confusion matrix, (L, L) int64: pixels of class i (row) that are predicted as class j (column).

    pred_labels: iterable of (H, W) int, one an image
    gt_labels: iterable of (H, W) int, likewise; pixels below 0 are left out
    n_class: L; None: up to the highest label
    Raises ShapeError or DtypeError with the image's index if two maps differ in size or hold no integers,
    ValueRangeError if a pixel that counts was given a negative class or a class is beyond n_class.
    """
    confusion = np.zeros((n_class or 0,) * 2, np.int64)
    for image, (pred, gt) in enumerate(zip_images({"pred_labels": pred_labels, "gt_labels": gt_labels})):
        pred, gt = as_array(pred, f"pred_labels of image {image}"), as_array(gt, f"gt_labels of image {image}")
        part = _of_image(pred, gt, image, n_class)
        confusion = add_confusions(confusion, part)
    return confusion


def add_confusions(a: Array, b: Array) -> Array:
    """The sum of two confusion matrices, of the size of the larger one."""
    if len(a) < len(b):
        a, b = b, a
    total = a.copy()
    total[: len(b), : len(b)] += b
    return total


def _of_image(pred: Array, gt: Array, image: int, n_class: int | None) -> Array:
    for array, name in ((pred, "pred_labels"), (gt, "gt_labels")):
        if array.ndim != 2:
            raise ShapeError(f"{name} of image {image} must be (H, W)", got=array.shape)
        if array.dtype.kind not in "iu":
            raise DtypeError(f"{name} of image {image} must be integers", got=array.dtype)
    if pred.shape != gt.shape:
        raise ShapeError(f"the label maps of image {image} differ in size", expected=gt.shape, got=pred.shape)
    if gt.size and gt.min() < 0:
        counts = gt >= 0
        pred, gt = pred[counts], gt[counts]
    if gt.size == 0:
        return np.zeros((0, 0), np.int64)
    if pred.min() < 0:
        raise ValueRangeError(f"pred_labels of image {image} gives a negative class to a pixel", got=pred.min())
    n = int(max(pred.max(), gt.max())) + 1
    if n_class is not None and n > n_class:
        name = "pred_labels" if pred.max() >= n_class else "gt_labels"
        raise ValueRangeError(
            f"{name} of image {image} has a label out of range", expected=f"0 .. {n_class - 1}", got=n - 1
        )
    if n > 1 << 13:
        raise ValueRangeError(f"a label map of image {image} has an implausible class", got=n - 1)
    cells = gt.ravel().astype(np.int64) * n + pred.ravel().astype(np.int64)
    return np.bincount(cells, minlength=n * n).reshape(n, n)
