"""Signs and weights of labels for losses, for arrays of any device."""

from types import ModuleType

import numpy as np

from cvzoo.typing.aliases import Array


def known_and_weight(
    xp: ModuleType, t: Array, class_weight: Array | None, ignore_label: int, dtype: np.dtype, n_class: int
) -> tuple[Array, Array]:
    """The labels (B, ...) as int64 within 0 to n_class - 1, and their weights, NaN for labels out of range."""
    valid = t != ignore_label
    known = xp.where(valid, t, 0).astype("int64")
    weight = valid.astype(dtype)
    wrong = (known < 0) | (known >= n_class)
    known = xp.where(wrong, 0, known)
    weight = xp.where(wrong, xp.full((), float("nan"), dtype), weight)
    if class_weight is not None:
        weight *= class_weight.astype(dtype).take(known)
    return known, weight


def sign_and_weight(
    xp: ModuleType, t: Array, weights: tuple[float, float], ignore_label: int, dtype: np.dtype
) -> tuple[Array, Array]:
    """For labels 1 (positive), 0 (negative) or ignore_label: 1 for positives, else -1; and weights, 0 if ignored."""
    is_positive = t == 1
    sign = xp.where(is_positive, 1, -1).astype(dtype)
    weight = (t != ignore_label).astype(dtype)
    weight *= xp.where(is_positive, *weights).astype(dtype)
    return sign, weight
