"""Losses on a GPU, each in one or two launches, without synchronization.

A label out of range makes the loss and the gradient of its row NaN, and a loss that is one sum as a whole.
"""

import numpy as np
import numpy.typing as npt

from cvzoo.backends.cuda.elementwise import elementwise
from cvzoo.backends.cuda.layout import make_rows, sum_dtype
from cvzoo.backends.cupy.library import Cupy, cupy
from cvzoo.backends.gpu_kernels import KernelModule, blocks, suffix
from cvzoo.typing.aliases import Array

__all__ = [
    "binary_targets",
    "focal_loss",
    "focal_loss_grad",
    "huber_loss",
    "mean_factor",
    "sigmoid_cross_entropy",
    "sigmoid_focal_loss",
    "sigmoid_focal_loss_grad",
    "softmax_cross_entropy",
    "softmax_cross_entropy_grad",
]

_KERNELS = KernelModule("loss")
_THREADS = 256
_INT64 = np.dtype(np.int64)


def _integer_labels(xp: Cupy, t: Array) -> Array:
    """t in row-major order, as int32 or int64."""
    return xp.ascontiguousarray(t if t.dtype.name in ("int32", "int64") else t.astype(_INT64))


def _scores(xp: Cupy, x: Array) -> tuple[Array, int]:
    """x (B, C, ...) row-major, or with the classes innermost in memory, and the stride between classes.

    In both, pixels are in the row-major order of the labels (B, ...).
    """
    inner = 1
    for size in x.shape[2:]:
        inner *= size
    if inner == 1 or not x.flags.c_contiguous:
        return xp.ascontiguousarray(xp.moveaxis(x, 1, -1)), 1
    return x, inner


def softmax_cross_entropy(x: Array, t: Array, class_weight: Array | None, *, ignore_label: int) -> tuple[Array, Array]:
    """See `AbstractBackend.softmax_cross_entropy`; in one launch; the state is log(sum(exp(x))) per label."""
    xp = cupy()
    loss = xp.empty(t.shape, x.dtype)
    log_sum = xp.empty(t.shape, sum_dtype(x.dtype))
    if not t.size:
        return loss, log_sum
    t = _integer_labels(xp, t)
    logits, inner = _scores(xp, x)
    rows = make_rows(t.size, x.shape[1], inner)
    _KERNELS.launch(
        f"softmax_cross_entropy_{rows.team}_{suffix(t.dtype)}_{suffix(x.dtype)}",
        rows.grid,
        rows.block,
        (
            logits,
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
    gy: Array, x: Array, t: Array, class_weight: Array | None, state: Array, *, ignore_label: int
) -> Array:
    """See `AbstractBackend.softmax_cross_entropy_grad`; in one launch."""
    xp = cupy()
    logits, inner = _scores(xp, x)
    gx = xp.empty_like(logits)
    if gx.size:
        t = _integer_labels(xp, t)
        # the gradient of a mean is one number broadcast to all labels: it is not copied to an array of their shape
        repeated = gy.size > 1 and not any(gy.strides[i] for i in range(gy.ndim) if gy.shape[i] > 1)
        _KERNELS.launch(
            f"softmax_cross_entropy_grad_{suffix(t.dtype)}_{suffix(x.dtype)}",
            blocks(gx.size, most=2**31 - 1),
            (_THREADS, 1, 1),
            (
                gy if repeated else xp.ascontiguousarray(gy),
                np.int64(0 if repeated else 1),
                logits,
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
    return gx if logits is x else xp.moveaxis(gx, -1, 1)


# sign and weight of a logit x0 with label x1: n0 and n1 are the weights of positives and negatives, n2 is gamma, n3
# ignore_label; other labels give NaN, infinity - infinity, since a kernel cannot raise
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


def sigmoid_focal_loss(x: Array, t: Array, *, weights: tuple[float, float], gamma: float, ignore_label: int) -> Array:
    """See `AbstractBackend.sigmoid_focal_loss`."""
    numbers = (*weights, gamma, ignore_label)
    return elementwise("sigmoid_focal_loss", _SIGMOID_FOCAL, (x, t), numbers=numbers, dtype=x.dtype, order=x)


def sigmoid_focal_loss_grad(
    gy: Array, x: Array, t: Array, *, weights: tuple[float, float], gamma: float, ignore_label: int
) -> Array:
    """See `AbstractBackend.sigmoid_focal_loss_grad`."""
    numbers = (*weights, gamma, ignore_label)
    return elementwise(
        "sigmoid_focal_loss_grad", _SIGMOID_FOCAL_GRAD, (x, t, gy), numbers=numbers, dtype=x.dtype, order=x
    )


def binary_targets(t: Array, dtype: npt.DTypeLike) -> Array:
    """See `AbstractBackend.binary_targets`: NaN where they are neither."""
    if t.dtype.kind in "iub":
        return elementwise("binary_labels", _LABELS, (t,), dtype=dtype)
    return elementwise("probabilities", _PROBABILITIES, (t,), dtype=dtype)


def sigmoid_cross_entropy(x: Array, t: Array, valid: Array | None) -> Array:
    """See `AbstractBackend.sigmoid_cross_entropy`."""
    inputs = (x, t) if valid is None else (x, t, valid)
    body = _SIGMOID if valid is None else _SIGMOID_WHERE
    return elementwise("sigmoid_cross_entropy", body, inputs, dtype=x.dtype, order=x)


def huber_loss(d: Array, *, delta: float) -> Array:
    """See `AbstractBackend.huber_loss`."""
    return elementwise("huber_loss", _HUBER, (d,), numbers=(delta,))


def mean_factor(valid: Array, dtype: npt.DTypeLike) -> Array:
    """See `AbstractBackend.mean_factor`: () of `dtype`."""
    xp = cupy()
    return (1 / xp.maximum(valid.sum(), 1)).astype(dtype)


_BLOCKS = 1024  # at most, each with a partial sum


def focal_loss(x: Array, t: Array, *, weights: tuple[float, float], gamma: float) -> Array:
    """See `AbstractBackend.focal_loss`."""
    xp = cupy()
    y = xp.empty((), x.dtype)
    if not x.size:
        y.fill(0)
        return y
    x, t = xp.ascontiguousarray(x), _integer_labels(xp, t)
    wide = sum_dtype(x.dtype)
    # a fixed number of partial sums, added up by one block, keeps the result deterministic
    grid = blocks(x.size, _THREADS, _BLOCKS)
    partial = xp.empty(grid[0], wide)
    numbers = [wide.type(number) for number in (*weights, gamma)]
    _KERNELS.launch(
        f"focal_loss_{suffix(t.dtype)}_{suffix(x.dtype)}",
        grid,
        (_THREADS, 1, 1),
        (x, t, partial, np.int64(x.size), np.int32(x.shape[-1]), *numbers),
    )
    _KERNELS.launch(
        f"sum_of_partial_{suffix(x.dtype)}", (1, 1, 1), (_THREADS, 1, 1), (partial, y, np.int32(partial.size))
    )
    return y


def focal_loss_grad(gy: Array, x: Array, t: Array, *, weights: tuple[float, float], gamma: float) -> Array:
    """See `AbstractBackend.focal_loss_grad`."""
    xp = cupy()
    logits, t = xp.ascontiguousarray(x), _integer_labels(xp, t)
    gx = xp.empty_like(logits)
    if gx.size:
        wide = sum_dtype(x.dtype)
        _KERNELS.launch(
            f"focal_loss_grad_{suffix(t.dtype)}_{suffix(x.dtype)}",
            blocks(gx.size, most=2**31 - 1),
            (_THREADS, 1, 1),
            (
                gy,
                logits,
                t,
                gx,
                np.int64(gx.size),
                np.int32(x.shape[-1]),
                *[wide.type(number) for number in (*weights, gamma)],
            ),
        )
    return gx
