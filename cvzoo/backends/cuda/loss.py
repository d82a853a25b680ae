"""Losses on a GPU, each in one or two launches, without synchronization.

A label out of range makes the loss and the gradient of its row (of the whole, where the result is one sum) NaN.
"""

from typing import Any

import numpy as np

from cvzoo.backends.cuda.elementwise import elementwise
from cvzoo.backends.cuda.kernel_module import KernelModule, blocks, suffix
from cvzoo.backends.cuda.rows import make_rows
from cvzoo.backends.cupy.library import cupy

__all__ = [
    "binary_targets",
    "huber_loss",
    "mean_factor",
    "sigmoid_cross_entropy",
    "sigmoid_focal_loss",
    "sigmoid_focal_loss_grad",
    "softmax_cross_entropy",
    "softmax_cross_entropy_grad",
]

KERNELS = KernelModule("loss")
_THREADS = 256
_INT64 = np.dtype(np.int64)


def sum_dtype(dtype: Any) -> Any:
    """The dtype in which losses of scores of that dtype are summed."""
    return np.float64 if dtype == np.float64 else np.float32


def label_numbers(xp: Any, t: Any) -> Any:
    """t in row-major order, as int32 or int64."""
    return xp.ascontiguousarray(t if t.dtype.name in ("int32", "int64") else t.astype(_INT64))


def _scores(xp: Any, x: Any) -> tuple[Any, int]:
    """x (B, C, ...) with the C scores of a place next to each other or in row-major order, and how far apart they are.

    In both, the places follow each other as the labels (B, ...) in row-major order do.
    """
    inner = 1
    for size in x.shape[2:]:
        inner *= size
    if inner == 1 or not x.flags.c_contiguous:
        return xp.ascontiguousarray(xp.moveaxis(x, 1, -1)), 1
    return x, inner


def softmax_cross_entropy(x: Any, t: Any, class_weight: Any | None, *, ignore_label: int) -> tuple[Any, Any]:
    """See `AbstractBackend.softmax_cross_entropy`; in one launch, which also keeps as many log(sum(exp(x)))."""
    xp = cupy()
    loss = xp.empty(t.shape, x.dtype)
    log_sum = xp.empty(t.shape, sum_dtype(x.dtype))
    if not t.size:
        return loss, log_sum
    t = label_numbers(xp, t)
    lying, inner = _scores(xp, x)
    rows = make_rows(t.size, x.shape[1], inner)
    KERNELS.launch(
        f"softmax_cross_entropy_{rows.team}_{suffix(t.dtype)}_{suffix(x.dtype)}",
        rows.grid,
        rows.block,
        (
            lying,
            t,
            class_weight,
            np.int32(class_weight is not None),
            loss,
            log_sum,
            np.int64(rows.count),
            np.int32(rows.length),
            np.int64(inner),
            np.int64(ignore_label),
        ),
    )
    return loss, log_sum


def softmax_cross_entropy_grad(
    gy: Any, x: Any, t: Any, class_weight: Any | None, state: Any, *, ignore_label: int
) -> Any:
    """See `AbstractBackend.softmax_cross_entropy_grad`; in one launch."""
    xp = cupy()
    lying, inner = _scores(xp, x)
    gx = xp.empty_like(lying)
    if gx.size:
        t = label_numbers(xp, t)
        repeated = gy.size > 1 and not any(gy.strides[i] for i in range(gy.ndim) if gy.shape[i] > 1)
        KERNELS.launch(
            f"softmax_cross_entropy_grad_{suffix(t.dtype)}_{suffix(x.dtype)}",
            blocks(gx.size, most=2**31 - 1),
            (_THREADS, 1, 1),
            (
                gy if repeated else xp.ascontiguousarray(gy),
                np.int64(0 if repeated else 1),
                lying,
                t,
                class_weight,
                np.int32(class_weight is not None),
                state,
                gx,
                np.int64(gx.size),
                np.int32(x.shape[1]),
                np.int32(inner),
                np.int64(ignore_label),
            ),
        )
    return gx if lying is x else xp.moveaxis(gx, -1, 1)


# sign and weight of a score x0 with label x1: n0 and n1 are the weights of yes and no, n2 is gamma, n3 the label to
# be ignored; labels that are none of these make NaN
_SIGN = (
    "T sign = x1 == 1 ? T(1) : T(-1);"
    "T weight = x1 == (i64)n3 ? T(0) : x1 == 1 ? n0 : x1 == 0 ? n1 : infinity<T>() - infinity<T>();"
    "T z = {score} * sign; T cost = ew_softplus(-z), log_q = -ew_softplus(z);"
)
_SIGMOID_FOCAL = _SIGN.format(score="x0") + "y = weight * exp(n2 * log_q) * cost; if (x1 == (i64)n3) y = T(0);"
_SIGMOID_FOCAL_GRAD = (
    _SIGN.format(score="x0") + "T slope = exp(n2 * log_q) * (n2 * exp(-cost) * cost + exp(log_q));"
    "y = x1 == (i64)n3 ? T(0) : -x2 * sign * weight * slope;"
)
_SIGMOID = "y = (x0 < T(0) ? T(0) : x0) - x0 * x1 + log1p(exp(-fabs(x0)));"
_SIGMOID_WHERE = f"if (x2) {{ {_SIGMOID} }} else {{ y = T(0); }}"
_PROBABILITIES = "y = x0 >= T(0) && x0 <= T(1) ? x0 : infinity<T>() - infinity<T>();"
_LABELS = "y = x0 == 0 || x0 == 1 ? T(x0) : infinity<T>() - infinity<T>();"
_HUBER = "T size = fabs(x0); T near = size > n0 ? n0 : size; y = near * (size - near / T(2));"


def sigmoid_focal_loss(x: Any, t: Any, *, weights: tuple[float, float], gamma: float, ignore_label: int) -> Any:
    """See `AbstractBackend.sigmoid_focal_loss`."""
    numbers = (*weights, gamma, ignore_label)
    return elementwise("sigmoid_focal_loss", _SIGMOID_FOCAL, (x, t), numbers=numbers, dtype=x.dtype, order=x)


def sigmoid_focal_loss_grad(
    gy: Any, x: Any, t: Any, *, weights: tuple[float, float], gamma: float, ignore_label: int
) -> Any:
    """See `AbstractBackend.sigmoid_focal_loss_grad`."""
    numbers = (*weights, gamma, ignore_label)
    return elementwise(
        "sigmoid_focal_loss_grad", _SIGMOID_FOCAL_GRAD, (x, t, gy), numbers=numbers, dtype=x.dtype, order=x
    )


def binary_targets(t: Any, dtype: Any) -> Any:
    """See `AbstractBackend.binary_targets`: NaN where they are neither."""
    if t.dtype.kind in "iub":
        return elementwise("binary_labels", _LABELS, (t,), dtype=dtype)
    return elementwise("probabilities", _PROBABILITIES, (t,), dtype=dtype)


def sigmoid_cross_entropy(x: Any, t: Any, valid: Any | None) -> Any:
    """See `AbstractBackend.sigmoid_cross_entropy`."""
    inputs = (x, t) if valid is None else (x, t, valid)
    body = _SIGMOID if valid is None else _SIGMOID_WHERE
    return elementwise("sigmoid_cross_entropy", body, inputs, dtype=x.dtype, order=x)


def huber_loss(d: Any, *, delta: float) -> Any:
    """See `AbstractBackend.huber_loss`."""
    return elementwise("huber_loss", _HUBER, (d,), numbers=(delta,))


def mean_factor(valid: Any, dtype: Any) -> Any:
    """See `AbstractBackend.mean_factor`: () of `dtype`."""
    xp = cupy()
    return (1 / xp.maximum(valid.sum(), 1)).astype(dtype)
