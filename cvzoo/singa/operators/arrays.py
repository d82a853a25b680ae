"""`autograd`'s array functions: reshaping, indexing, concatenation, reductions."""

import builtins
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from cvzoo.autodiff.variable import Variable
from cvzoo.errors.exceptions import ShapeError, ValueRangeError
from cvzoo.functions.array.axes import expand_dims
from cvzoo.functions.array.axes import reshape as _reshape
from cvzoo.functions.array.axes import squeeze as _squeeze
from cvzoo.functions.array.axes import transpose as _transpose
from cvzoo.functions.array.concat import concat, split_axis
from cvzoo.functions.array.dtypes import cast as _cast
from cvzoo.functions.array.indexing import get_item
from cvzoo.functions.array.indexing import tile as _tile
from cvzoo.functions.array.indexing import where as _where
from cvzoo.functions.connection.embed_id import embed_id
from cvzoo.functions.math.matmul import matmul as _matmul
from cvzoo.functions.math.sum import mean, sum
from cvzoo.functions.pooling.pooling_2d import global_average_pooling_2d
from cvzoo.singa.beside import beside, on_host
from cvzoo.singa.operators.elementwise import add, div, mul, sqrt
from cvzoo.singa.tensor_class import Tensor, apply, as_dtype
from cvzoo.typing.aliases import ArrayLike


# --- products ---------------------------------------------------------------------------------------------------------
def matmul(x: Tensor, w: Tensor) -> Tensor:
    """x @ w, with NumPy's broadcasting of the axes before the last two."""
    return apply(_matmul, x, w)


def gemm(
    A: Tensor,
    B: Tensor,
    C: Tensor | None = None,
    alpha: float = 1.0,
    beta: float = 1.0,
    transA: int | bool = 0,
    transB: int | bool = 0,
) -> Tensor:
    """alpha A' B' + beta C, where ' may transpose."""
    product = apply(_matmul, A, B, bool(transA), bool(transB))
    if alpha != 1:
        product = mul(product, alpha)
    return product if C is None else add(product, C if beta == 1 else mul(C, beta))


def cossim(a: Tensor, b: Tensor) -> Tensor:
    """(B,): the cosine of the angle between the rows of a and b (B, C)."""
    if a.shape != b.shape or len(a.shape) != 2:
        raise ShapeError("cossim: both have one shape of two axes", got=f"{a.shape} and {b.shape}")

    def dot(x: Tensor, y: Tensor) -> Tensor:
        return apply(sum, mul(x, y), 1)

    return div(dot(a, b), mul(sqrt(dot(a, a)), sqrt(dot(b, b))))


def embedding(x: Tensor, w: Tensor) -> Tensor:
    """The rows of w (L, C) at the indices x: (..., C)."""
    return apply(embed_id, beside(w, on_host(x).astype(np.int32)), w)


# --- shapes -----------------------------------------------------------------------------------------------------------
def reshape(x: Tensor, shape: Sequence[int]) -> Tensor:
    """The same elements in another shape."""
    return apply(_reshape, x, tuple(shape))


def flatten(x: Tensor, axis: int = 1) -> Tensor:
    """x as a matrix: the axes before `axis` flattened to rows, the others to columns."""
    n = len(x.shape)
    if not -n <= axis <= n:
        raise ValueRangeError("flatten: no such axis", expected=f"{-n} to {n}", got=axis)
    rows = int(np.prod(x.shape[: axis + n if axis < 0 else axis]))
    return apply(_reshape, x, (rows, x._array.size // rows if rows else 0))


def transpose(x: Tensor, shape: Sequence[int]) -> Tensor:
    """The axes in the order of `shape`."""
    return apply(_transpose, x, tuple(shape))


def unsqueeze(x: Tensor, axis: int | Sequence[int] = -1) -> Tensor:
    """x with a new axis of size 1, or several."""
    for each in sorted((axis,) if isinstance(axis, int) else axis):
        x = apply(expand_dims, x, each)
    return x


def squeeze(x: Tensor, axis: int | Sequence[int] = ()) -> Tensor:
    """x without these axes of size 1; without all of them by default."""
    axes = (axis,) if isinstance(axis, int) else tuple(axis)
    return apply(_squeeze, x, axes or None)


def tile(x: Tensor, repeats: int | Sequence[int]) -> Tensor:
    """x repeated along each axis."""
    return apply(_tile, x, repeats if isinstance(repeats, int) else tuple(repeats))


def cast(x: Tensor, to: npt.DTypeLike) -> Tensor:
    """x as `tensor.float32`, `tensor.float16` or `tensor.int32`."""
    return apply(_cast, x, as_dtype(to))


# --- parts ------------------------------------------------------------------------------------------------------------
def cat(xs: Sequence[Tensor], axis: int = 0) -> Tensor:
    """The Tensors concatenated along the axis."""
    return apply(concat, tuple(xs), axis)


def split(x: Tensor, axis: int, parts: Sequence[int] | None, num_output: int | None = None) -> tuple[Tensor, ...]:
    """x cut along the axis into parts of these sizes, or into `num_output` equal ones."""
    if parts is None:
        return apply(split_axis, x, num_output, axis)
    if builtins.sum(parts) != x.shape[axis]:
        raise ShapeError(f"split: the parts do not make up axis {axis}", expected=x.shape[axis], got=tuple(parts))
    return apply(split_axis, x, [int(n) for n in np.cumsum(parts)[:-1]], axis)


def slice(
    x: Tensor,
    starts: Sequence[int],
    ends: Sequence[int],
    axes: Sequence[int] | None = None,
    steps: Sequence[int] | None = None,
) -> Tensor:
    """The part of x from `starts` to before `ends`, by `steps`, along the axes (the first ones by default)."""
    index = [builtins.slice(None)] * len(x.shape)
    for k, (start, end) in enumerate(zip(starts, ends)):
        index[k if axes is None else axes[k]] = builtins.slice(
            int(start), int(end), None if steps is None else int(steps[k])
        )
    return apply(get_item, x, tuple(index))


def gather(x: Tensor, axis: int, indices: Variable | ArrayLike) -> Tensor:
    """The slices of x at the indices along the axis."""
    index = (builtins.slice(None),) * (axis % len(x.shape)) + (beside(x, on_host(indices).astype(np.int32)),)
    return apply(get_item, x, index)


def where(x: Tensor, y: Tensor, condition: Variable | ArrayLike) -> Tensor:
    """x where the condition is not 0, else y."""
    return apply(_where, beside(x, on_host(condition).astype(bool)), x, y)


# --- sums -------------------------------------------------------------------------------------------------------------
def reduce_sum(x: Tensor, axes: Sequence[int] | None = None, keepdims: int | bool = 1) -> Tensor:
    """The sum over the axes, over all by default."""
    return apply(sum, x, None if axes is None else tuple(axes), bool(keepdims))


def reduce_mean(x: Tensor, axes: Sequence[int] | None = None, keepdims: int | bool = 1) -> Tensor:
    """The mean over the axes, over all by default."""
    return apply(mean, x, None if axes is None else tuple(axes), bool(keepdims))


def globalaveragepool(x: Tensor, data_format: str = "channels_first") -> Tensor:
    """(B, C, 1, 1): the mean over each channel of x (B, C, H, W)."""
    if data_format != "channels_first":
        raise ValueRangeError(f"globalaveragepool: unsupported data_format {data_format!r}", expected="channels_first")
    pooled = apply(global_average_pooling_2d, x)
    return pooled.reshape((*x.shape[:2], 1, 1))
