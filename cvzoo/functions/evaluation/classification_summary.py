"""Precision, recall and F-beta score of each class."""

from cvzoo.autodiff.on_device_of_arguments import on_device_of_arguments
from cvzoo.autodiff.variable import Variable, as_array
from cvzoo.backends.abstract import AbstractBackend
from cvzoo.backends.dispatch import backend_of
from cvzoo.backends.float_types import is_float, is_half, widened
from cvzoo.backends.transfer import to_device_of
from cvzoo.errors.exceptions import DtypeError, ShapeError, ValueRangeError
from cvzoo.typing.aliases import Array


@on_device_of_arguments
def classification_summary(
    y: Variable | Array, t: Variable | Array, label_num: int | None = None, beta: float = 1.0, ignore_label: int = -1
) -> tuple[Variable, Variable, Variable, Variable]:
    """Precision, recall, F-beta score and support of each class: four times (label_num,). No gradient.

    y: (B, C, ...) scores; the class with the highest one is predicted, the first of equals
    t: (B, ...) integers
    label_num: how many classes are looked at; None for C
    beta: how many times as much recall counts as precision in the F-beta score
    ignore_label: not counted where t is this number
    The scores are in y's dtype, float32 of 16 bits; 0 where nothing was predicted or nothing is true. The support, the
    number of examples of each class, is int64.
    Raises ShapeError or DtypeError if y and t do not fit, ValueRangeError if beta is not positive.
    Where we differ: Chainer takes the largest label of t for label_num, and gives NaN where a class does not come.
    """
    y, t = as_array(y), as_array(t)
    backend = backend_of(y)
    xp = backend.xp
    backend_of(t)
    t = to_device_of(t, y)
    if y.ndim < 2 or t.shape != y.shape[:1] + y.shape[2:]:
        raise ShapeError(
            "classification_summary: t needs one label where y has C scores", got=f"y {y.shape}, t {t.shape}"
        )
    if t.dtype.kind not in "iu" or not is_float(y.dtype):
        raise DtypeError("classification_summary: y must be floating, t of integers", got=f"y {y.dtype}, t {t.dtype}")
    if not beta > 0:
        raise ValueRangeError("classification_summary: beta must be positive", got=beta)
    n = y.shape[1] if label_num is None else label_num
    counted = t != ignore_label
    # ignored labels count as class n, which `_count` drops; boolean indexing would synchronize with a GPU
    predicted = xp.where(counted, widened(y).argmax(axis=1), n)
    true = xp.where(counted, t, n)
    n_predicted, n_true, n_right = [
        _count(backend, labels, n) for labels in (predicted, true, xp.where(predicted == true, true, n))
    ]
    precision = n_right / xp.maximum(n_predicted, 1)
    recall = n_right / xp.maximum(n_true, 1)
    below = beta * beta * precision + recall
    f_beta = (1 + beta * beta) * precision * recall / xp.where(below > 0, below, 1)
    dtype = "float32" if is_half(y.dtype) else y.dtype
    scores = [Variable(each.astype(dtype), requires_grad=False) for each in (precision, recall, f_beta)]
    return scores[0], scores[1], scores[2], Variable(n_true.astype("int64"), requires_grad=False)


def _count(backend: AbstractBackend, labels: Array, n: int) -> Array:
    """(n,) float64: how often each of the labels 0 to n - 1 comes; others are not counted."""
    counts = backend.zeros((n + 1,), "float64")
    place = backend.xp.where((labels >= 0) & (labels < n), labels, n).reshape(-1)
    backend.add_at(counts, (place,), backend.xp.ones(place.shape, "float64"))
    return counts[:n]


def precision(
    y: Variable | Array, t: Variable | Array, label_num: int | None = None, ignore_label: int = -1
) -> tuple[Variable, Variable]:
    """The precision and the support of each class, as `classification_summary` gives them. No gradient."""
    summary = classification_summary(y, t, label_num, 1.0, ignore_label)
    return summary[0], summary[3]


def recall(
    y: Variable | Array, t: Variable | Array, label_num: int | None = None, ignore_label: int = -1
) -> tuple[Variable, Variable]:
    """The recall and the support of each class, as `classification_summary` gives them. No gradient."""
    summary = classification_summary(y, t, label_num, 1.0, ignore_label)
    return summary[1], summary[3]


def f1_score(
    y: Variable | Array, t: Variable | Array, label_num: int | None = None, ignore_label: int = -1
) -> tuple[Variable, Variable]:
    """The F1 score and the support of each class, as `classification_summary` gives them. No gradient."""
    return fbeta_score(y, t, label_num, 1.0, ignore_label)


def fbeta_score(
    y: Variable | Array, t: Variable | Array, label_num: int | None = None, beta: float = 1.0, ignore_label: int = -1
) -> tuple[Variable, Variable]:
    """The F-beta score and the support of each class, as `classification_summary` gives them. No gradient."""
    summary = classification_summary(y, t, label_num, beta, ignore_label)
    return summary[2], summary[3]
