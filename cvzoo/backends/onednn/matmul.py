"""Matrix products, on the same threads as the convolutions (a BLAS of its own would compete with them)."""

from typing import Any, Literal

import numpy as np

from cvzoo.backends.float_types import in_float32
from cvzoo.backends.native.library import native
from cvzoo.backends.numpy.matmul import linear as numpy_linear
from cvzoo.backends.numpy.matmul import matmul as numpy_matmul
from cvzoo.backends.onednn.conv import conv_2d
from cvzoo.backends.onednn.memory import (
    AbstractCachedWeights,
    PackedWeights,
    is_plain,
    new_dense,
    with_plain_strides,
)
from cvzoo.backends.onednn.native_primitive import NativePrimitive
from cvzoo.backends.onednn.primitives import (
    BIAS,
    DST,
    F32,
    QUERY_WEIGHTS,
    SCALES,
    SRC,
    WEIGHTS,
    Handle,
    Primitive,
    attributes,
    dense_strides,
    describe,
    implementation,
    local,
    primitive_descriptor,
    queried,
    recall,
    strides_of,
)
from cvzoo.backends.onednn.rows import ReadingOrder, product_of_rows

__all__ = ["linear", "matmul"]

# multiplications; for fewer, NumPy is faster than a oneDNN call
_FEW = 1 << 15
_ADD = 0x1FFF0
_FIRST_POST_OP_SOURCE = 32768 | 2
_PIXELS = "pixels"  # instead of a matrix product: a 1x1 convolution


def _readable(a: np.ndarray) -> np.ndarray:
    """a itself if its matrices are contiguous or transposed, else a contiguous copy."""
    rows, columns = a.strides[-2:]
    is_matrix = (columns == 4 and rows >= 4 * a.shape[-1]) or (rows == 4 and columns >= 4 * a.shape[-2])
    return a if is_matrix and is_plain(a) else np.ascontiguousarray(a)


class _Product:
    __slots__ = ("run", "scales")
    run: Primitive
    scales: list[np.ndarray]


def _make_matmul(
    a: np.ndarray, b: np.ndarray, shape: tuple[int, ...], scale: float, add: np.ndarray | None
) -> _Product | Literal[False]:
    first, second = describe(a.shape, strides_of(a)), describe(b.shape, strides_of(b))
    target = describe(shape, dense_strides(shape))
    post_ops = []
    slots = [(SRC, first), (WEIGHTS, second), (DST, target)]
    if add is not None:
        third = describe(add.shape, strides_of(add))
        slots.append((_FIRST_POST_OP_SOURCE, third))
        post_ops.append(("binary", _ADD, third.address))
    product = _Product()
    product.scales = []
    if scale != 1:
        # a scale of an input costs nothing, as a post-op it would be another pass over the product
        slots.append((SCALES | SRC, describe((1,), (1,))))
        product.scales.append(np.array([scale], F32))
    attr = attributes(post_ops, [(SRC, 0)] if scale != 1 else [])
    descriptor = primitive_descriptor("matmul", first, second, None, target, attr)
    if descriptor is None or implementation(descriptor).startswith("ref"):
        return False
    product.run = Primitive(descriptor, slots)
    return product


@in_float32
def matmul(a: np.ndarray, b: np.ndarray, *, scale: float = 1.0, add: np.ndarray | None = None) -> np.ndarray:
    """See `AbstractBackend.matmul`."""
    few = a.size * b.shape[-1] < _FEW
    if few or a.dtype != F32 or b.dtype != F32 or a.shape[-1] != b.shape[-2] or b.size == 0:
        return numpy_matmul(a, b, scale=scale, add=add)
    if a.ndim != b.ndim:
        a = a.reshape((1,) * (b.ndim - a.ndim) + a.shape)
        b = b.reshape((1,) * (a.ndim - b.ndim) + b.shape)
    a, b = _readable(a), _readable(b)
    shape = (*np.broadcast_shapes(a.shape[:-2], b.shape[:-2]), a.shape[-2], b.shape[-1])
    # with broadcasting operands the library chooses slow kernels
    is_added = add is not None and add.dtype == F32 and add.shape == shape and add.flags.c_contiguous
    added = add if is_added else None
    key = ("matmul", a.shape, a.strides, b.shape, b.strides, scale, is_added)
    op = local.young.get(key)
    if op is None:
        op = recall(key, _make_matmul, a, b, shape, scale, added)
    if not op:
        return numpy_matmul(a, b, scale=scale, add=add)
    y = new_dense(shape)
    if is_added:
        op.run(a, b, y, add, *op.scales)
        return y
    op.run(a, b, y, *op.scales)
    return y if add is None else y + add


class _Linear:
    __slots__ = ("run", "shape", "weights")
    run: Primitive | NativePrimitive
    shape: tuple[int, int]
    weights: AbstractCachedWeights


def _depends_on_batch(descriptor: Handle) -> bool:
    """Whether a row's bits depend on the batch with this kernel, but not with that of convolutions.

    This is so with AVX2; with AVX-512 neither kernel's do, before AVX2 both.
    """
    return local.library.isa.startswith("AVX2") and implementation(descriptor).startswith("gemm")


def _by_pixels(x: np.ndarray, w: np.ndarray, b: np.ndarray | None, pack: dict | None) -> np.ndarray:
    """The product as a 1x1 convolution with the rows as pixels; with packed weights, it is as fast."""
    n, i = x.shape
    pixels = x.reshape(1, n, 1, i).transpose(0, 3, 1, 2)
    window: dict[str, Any] = {"stride": (1, 1), "pad": (0, 0, 0, 0), "dilate": (1, 1), "groups": 1}
    y = conv_2d(pixels, w[:, :, None, None], b, pack=pack, **window)
    return y.transpose(0, 2, 3, 1).reshape(n, len(w))


def _by_rows(product: _Linear, x: np.ndarray, w: np.ndarray, has_bias: bool) -> _Linear:
    product.run = product_of_rows("matmul", x.shape[0], strides_of(x), w.shape, has_bias)
    product.weights = ReadingOrder(w)
    return product


def _make_linear(x: np.ndarray, w: np.ndarray, has_bias: bool, is_packed: bool) -> _Linear | Literal[False] | str:
    n, o = x.shape[0], w.shape[0]
    product = _Linear()
    product.shape = (n, o)
    if native() is not None and is_packed:
        return _by_rows(product, x, w, has_bias)
    source = describe(x.shape, strides_of(x))
    plain = describe(w.shape[::-1], strides_of(w)[::-1])
    target = describe((n, o), (o, 1))
    bias = describe((1, o), (o, 1)) if has_bias else None
    wanted = describe(w.shape[::-1], None) if is_packed else plain
    descriptor = primitive_descriptor("matmul", source, wanted, bias, target, attributes())
    if descriptor is None:
        return False
    if _depends_on_batch(descriptor):
        return _PIXELS if native() is None else _by_rows(product, x, w, has_bias)
    chosen = queried(descriptor, QUERY_WEIGHTS)
    product.weights = PackedWeights(plain, chosen)
    slots: list[tuple[int, Handle | int]] = [(SRC, source), (WEIGHTS, chosen), (DST, target)]
    if bias is not None:
        slots.append((BIAS, bias))
    product.run = Primitive(descriptor, slots)
    return product


@in_float32
def linear(x: np.ndarray, w: np.ndarray, b: np.ndarray | None, *, pack: dict | None = None) -> np.ndarray:
    """See `AbstractBackend.linear`; `pack` holds reordered weights by the name of their order."""
    # also for few elements: BLAS's bits of a row depend on the batch, oneDNN's do not
    if x.dtype != F32 or w.dtype != F32 or x.size == 0 or w.size == 0:
        return numpy_linear(x, w, b)
    x, w = _readable(x), with_plain_strides(w)
    has_bias, is_packed = b is not None, pack is not None
    key = ("linear", x.shape, x.strides, w.shape, w.strides, has_bias, is_packed)
    op = local.young.get(key)
    if op is None:
        op = recall(key, _make_linear, x, w, has_bias, is_packed)
    if not op:
        return numpy_linear(x, w, b)
    if op is _PIXELS:
        return _by_pixels(x, w, b, pack)
    y = new_dense(op.shape)
    if has_bias:
        op.run(x, op.weights(w, pack), y, np.ascontiguousarray(b, F32))
    else:
        op.run(x, op.weights(w, pack), y)
    return y
