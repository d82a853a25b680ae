"""Validation of the ground truth of detectors, and of the examples that their transforms are given."""

from collections.abc import Sequence

import numpy as np

from cvzoo.errors.exceptions import DtypeError, ShapeError, ValueRangeError
from cvzoo.transforms.sample.sample import Sample
from cvzoo.typing.aliases import ArrayLike, BBox, Flags, Image, Label


def objects_of(sample: Sample) -> tuple[BBox, Label, Flags]:
    """bbox, label and crowded of an augmented sample. Raises ShapeError if a transform has dropped one of them."""
    if sample.bbox is None or sample.label is None or sample.crowded is None:
        raise ShapeError("the augmented sample has no bbox, label or crowded flags")
    return sample.bbox, sample.label, sample.crowded


_NTH = {3: "fourth", 4: "fifth", 5: "sixth"}


def ignored_of(
    flags: Sequence[ArrayLike], n: int, *, transform: str, values: tuple[str, ...], what: str = "ignored boxes"
) -> Flags:
    """(n,) bool, True for instances to be ignored: the only value of flags, or all False if flags is empty.

    transform, values: for the error: who was given an example, and the names of its values before the flags
    Raises ShapeError for flags of another shape or dtype.
    """
    ignored = np.asarray(flags[0]) if flags else np.zeros(n, bool)
    if ignored.shape != (n,) or ignored.dtype != bool:
        raise ShapeError(
            f"{transform}: an example's {_NTH[len(values)]} value must be the mask of {what}",
            expected=f"({n},) bool",
            got=f"{ignored.shape} {ignored.dtype}",
            hint=f"dataset.slice[:, {values}] leaves other values out",
        )
    return ignored


def as_uint8(img: np.ndarray) -> Image:
    """An image in [0, 255], rounded to uint8: as such it is resized and changed several times as fast."""
    img = np.asarray(img)
    return img if img.dtype == np.uint8 else np.clip(np.rint(img), 0, 255).astype(np.uint8)


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
