"""Which class the pixels of each class were taken for."""

import numpy as np

from cvzoo.errors.exceptions import DtypeError, ShapeError, ValueRangeError
from cvzoo.evaluations.photos import as_array, photos_in_step


def calc_semantic_segmentation_confusion(pred_labels, gt_labels, *, n_class=None):
    """(L, L) int64: pixels of class i (row) that were given class j (column).

    pred_labels: iterable of (H, W) int, one a photo
    gt_labels: iterable of (H, W) int, likewise; pixels below 0 are left out
    n_class: L; None: as many as the highest class seen needs
    Raises ShapeError or DtypeError with the photo's index if two maps differ in size or hold no integers,
    ValueRangeError if a pixel that counts was given a negative class or a class is beyond n_class.
    """
    confusion = np.zeros((n_class or 0,) * 2, np.int64)
    for photo, (pred, gt) in enumerate(photos_in_step({"pred_labels": pred_labels, "gt_labels": gt_labels})):
        maps = (as_array(each, f"{name} of photo {photo}") for each, name in ((pred, "pred_labels"), (gt, "gt_labels")))
        part = _of_photo(*maps, photo, n_class)
        confusion = add_confusions(confusion, part)
    return confusion


def add_confusions(a, b):
    """The sum of two confusion matrices, as large as the larger one."""
    if len(a) < len(b):
        a, b = b, a
    total = a.copy()
    total[: len(b), : len(b)] += b
    return total


def _of_photo(pred, gt, photo, n_class):
    for array, name in ((pred, "pred_labels"), (gt, "gt_labels")):
        if array.ndim != 2:
            raise ShapeError(f"{name} of photo {photo} must be (H, W)", got=array.shape)
        if array.dtype.kind not in "iu":
            raise DtypeError(f"{name} of photo {photo} must be integers", got=array.dtype)
    if pred.shape != gt.shape:
        raise ShapeError(f"the label maps of photo {photo} differ in size", expected=gt.shape, got=pred.shape)
    if gt.size and gt.min() < 0:
        counts = gt >= 0
        pred, gt = pred[counts], gt[counts]
    if gt.size == 0:
        return np.zeros((0, 0), np.int64)
    if pred.min() < 0:
        raise ValueRangeError(f"pred_labels of photo {photo} gives a negative class to a pixel", got=pred.min())
    n = int(max(pred.max(), gt.max())) + 1
    if n_class is not None and n > n_class:
        name = "pred_labels" if pred.max() >= n_class else "gt_labels"
        raise ValueRangeError(
            f"{name} of photo {photo} has a class beyond the last", expected=f"0 .. {n_class - 1}", got=n - 1
        )
    if n > 1 << 13:
        raise ValueRangeError(f"a label map of photo {photo} has an implausible class", got=n - 1)
    cells = gt.ravel().astype(np.int64) * n + pred.ravel().astype(np.int64)
    return np.bincount(cells, minlength=n * n).reshape(n, n)
