"""Validation of the ground truth of detectors."""

from collections.abc import Sequence

import numpy as np

from cvzoo.errors.exceptions import DtypeError, ShapeError, ValueRangeError
from cvzoo.transforms.sample.sample import Sample
from cvzoo.typing.aliases import BBox, Flags, Label


def objects_of(sample: Sample) -> tuple[BBox, Label, Flags]:
    """bbox, label and crowded of an augmented sample. Raises ShapeError if a transform has dropped one of them."""
    if sample.bbox is None or sample.label is None or sample.crowded is None:
        raise ShapeError("the augmented sample has no bbox, label or crowded flags")
    return sample.bbox, sample.label, sample.crowded


def check_objects(name: str, bboxes: Sequence[np.ndarray], labels: Sequence[np.ndarray], n_fg_class: int) -> None:
    """Validate the ground truth of a batch; faults would otherwise be trained as background, or fail later.

    name: of the loss, for errors, which also have the index of the image
    bboxes, labels: of each image (R, 4), finite, and (R,) integers, 0 .. n_fg_class - 1
    Raises ShapeError, DtypeError or ValueRangeError.
    """
    for i, (bbox, label) in enumerate(zip(bboxes, labels)):
        bbox, label = np.asarray(bbox), np.asarray(label)
        if label.ndim != 1 or bbox.shape != (len(label), 4):
            raise ShapeError(
                f"{name}: image {i}: bbox (R, 4) and label (R,) do not fit together", got=(bbox.shape, label.shape)
            )
        if len(label) and label.dtype.kind not in "iu":
            raise DtypeError(f"{name}: image {i}: labels must be integers", got=label.dtype)
        if not np.isfinite(bbox).all():
            raise ValueRangeError(
                f"{name}: image {i}: boxes must be finite", got=bbox[~np.isfinite(bbox).all(axis=1)][0]
            )
        wrong = label[(label < 0) | (label >= n_fg_class)]
        if len(wrong):
            raise ValueRangeError(
                f"{name}: image {i}: a label is no class", expected=f"0 to {n_fg_class - 1}", got=int(wrong[0])
            )
