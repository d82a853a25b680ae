"""Accuracy of classification and of binary classification, and the coefficient of determination of regression."""

from typing import Any, Literal

from cvzoo.autodiff.on_device_of_arguments import on_device_of_arguments
from cvzoo.autodiff.variable import Variable, as_array
from cvzoo.backends.dispatch import backend_of
from cvzoo.backends.float_types import is_float, is_half, widened
from cvzoo.backends.transfer import to_device_of
from cvzoo.errors.exceptions import DtypeError, ShapeError, ValueRangeError
from cvzoo.typing.aliases import Array


@on_device_of_arguments
def accuracy(y: Variable | Array, t: Variable | Array, ignore_label: int | None = None) -> Variable:
    """Classification accuracy: the fraction of labels whose class has the highest score, 0 to 1; no gradient.

    Of scores of 16 bits it is float32.
    y: (B, C, ...) scores; the first of equal ones wins
    t: (B, ...) integers; or soft labels, y's shape in floating-point numbers, of which the largest counts
    ignore_label: not counted where t is this number; 0 if nothing is left
    Raises ShapeError or DtypeError if y and t do not fit.
    """
    y = as_array(y)
    t = as_array(t)
    xp = backend_of(y).xp
    backend_of(t)
    t = to_device_of(t, y)
    if y.ndim >= 2 and t.shape == y.shape and is_float(t.dtype):
        t = t.argmax(axis=1)
    if y.ndim < 2 or t.shape != y.shape[:1] + y.shape[2:]:
        raise ShapeError("accuracy: t needs one label where y has C scores", got=f"y {y.shape}, t {t.shape}")
    if t.dtype.kind not in "iu" or not is_float(y.dtype):
        raise DtypeError("accuracy: y must be floating and t of integers", got=f"y {y.dtype}, t {t.dtype}")
    right: Array = widened(y).argmax(axis=1) == t
    counted: Array | Any = None if ignore_label is None else t != ignore_label
    count = xp.asarray(t.size) if counted is None else counted.sum()
    if counted is not None:
        right &= counted
    share = right.sum() / xp.maximum(count, 1)  # of integers: float64
    return Variable(xp.asarray(share, "float32" if is_half(y.dtype) else y.dtype), requires_grad=False)


@on_device_of_arguments
def binary_accuracy(y: Variable | Array, t: Variable | Array) -> Variable:
    """Binary accuracy: the fraction of correct predictions, 0 to 1, in y's dtype, float32 for 16 bits. No gradient.

    y: logits of any shape; 0 and above answers yes
    t: y's shape; integers 1 (yes), 0 (no) or -1, which is not counted; 0 if nothing is left
    Raises ShapeError or DtypeError if y and t do not fit.
    """
    y = as_array(y)
    xp = backend_of(y).xp
    t = as_array(t)
    backend_of(t)
    t = to_device_of(t, y)
    if t.shape != y.shape:
        raise ShapeError("binary_accuracy: y and t must have one shape", got=f"y {y.shape}, t {t.shape}")
    if t.dtype.kind not in "iu" or not is_float(y.dtype):
        raise DtypeError("binary_accuracy: y must be floating and t of integers", got=f"y {y.dtype}, t {t.dtype}")
    right = (widened(y) >= 0) == t
    share = right.sum() / xp.maximum((t != -1).sum(), 1)
    return Variable(xp.asarray(share, "float32" if is_half(y.dtype) else y.dtype), requires_grad=False)


@on_device_of_arguments
def r2_score(
    pred: Variable | Array,
    true: Variable | Array,
    *,
    multioutput: Literal["uniform_average", "raw_values"] = "uniform_average",
) -> Variable:
    """Coefficient of determination of regression, 1 - residual / total sum of squares: a scalar, or one per output.

    In pred's dtype, float32 for 16 bits. No gradient.
    pred: (N, ...) predictions
    true: (N, ...) target values
    multioutput: "uniform_average": the mean over outputs, a scalar; "raw_values": (...), of each output
    An output whose target values are all equal has the score 0, as in Chainer.
    Raises ShapeError or DtypeError if pred and true do not fit, ValueRangeError for another multioutput.
    Where we differ: Chainer's sample_weight, which it refuses unless it is None, is no argument.
    """
    pred, true = as_array(pred), as_array(true)
    xp = backend_of(pred).xp
    backend_of(true)
    true = to_device_of(true, pred)
    if true.shape != pred.shape or pred.ndim == 0:
        raise ShapeError("r2_score: pred and true must have one shape (N, ...)", got=f"{pred.shape}, {true.shape}")
    if not is_float(pred.dtype) or not is_float(true.dtype):
        raise DtypeError("r2_score: pred and true must be floating", got=f"pred {pred.dtype}, true {true.dtype}")
    if multioutput not in ("uniform_average", "raw_values"):
        raise ValueRangeError(
            f"r2_score: there is no multioutput {multioutput!r}", expected="'uniform_average' or 'raw_values'"
        )
    pred_64, true_64 = pred.astype("float64"), true.astype("float64")
    residual = ((pred_64 - true_64) ** 2).sum(axis=0)
    total = ((true_64 - true_64.mean(axis=0)) ** 2).sum(axis=0)
    # of equal values the mean may be another number, by rounding
    is_constant = (true == true[:1]).all(axis=0)
    score = xp.where(is_constant, 0.0, 1 - residual / xp.where(is_constant, 1.0, total))
    if multioutput == "uniform_average":
        score = score.mean()
    return Variable(xp.asarray(score, "float32" if is_half(pred.dtype) else pred.dtype), requires_grad=False)
