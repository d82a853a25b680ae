"""SINGA's `tensor`: Tensors and differentiable functions of them."""

import builtins
import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from cvzoo.autodiff.variable import Variable
from cvzoo.backends.arrays import to_numpy as host_array
from cvzoo.config.randomness import random_generator
from cvzoo.errors.exceptions import DtypeError, ShapeError
from cvzoo.functions.array.concat import concat
from cvzoo.functions.math.matmul import matmul
from cvzoo.functions.math.power import square as _square
from cvzoo.functions.math.sum import mean
from cvzoo.functions.math.sum import sum as _sum
from cvzoo.singa.beside import beside, on_host
from cvzoo.singa.device import Device
from cvzoo.singa.operators import elementwise
from cvzoo.singa.operators.elementwise import abs, ceil, exp, log, sigmoid, sign, sqrt, tanh
from cvzoo.singa.tensor_class import (
    PlaceHolder,
    Tensor,
    apply,
    as_dtype,
    float16,
    float32,
    hold,
    int32,
)
from cvzoo.typing.aliases import Array

Value = Tensor | float


# --- to and from numpy ------------------------------------------------------------------------------------------------
def from_numpy(np_array: np.ndarray, dev: Device | None = None) -> Tensor:
    """A Tensor with a copy of the array; float64 becomes float32, other integers become int32."""
    if not isinstance(np_array, np.ndarray):
        raise DtypeError("from_numpy takes a numpy array", got=type(np_array).__name__)
    return Tensor(device=dev, data=np_array)


def to_numpy(t: Variable | Array) -> np.ndarray:
    """A copy of the values as a numpy array."""
    if isinstance(t, Tensor):
        t._report_read()
        return np.array(host_array(t._array))
    if isinstance(t, Variable | np.ndarray):
        return np.array(host_array(t.array) if isinstance(t, Variable) else t)
    raise DtypeError("to_numpy takes a Tensor", got=type(t).__name__)


def copy_from_numpy(data: Tensor, np_array: np.ndarray) -> None:
    """Copy an array with the same number of elements into a Tensor."""
    data.copy_from_numpy(np_array)


def copy_data_to_from(dst: Tensor, src: Tensor, size: int, dst_offset: int = 0, src_offset: int = 0) -> None:
    """Copy `size` elements from one Tensor into another, each counted from its offset in the order of its shape."""
    if builtins.min(size, dst_offset, src_offset) < 0 or (
        dst_offset + size > dst._array.size or src_offset + size > src._array.size
    ):
        raise ShapeError(
            "copy_data_to_from: out of range",
            got=f"{size} elements from {src_offset} of {src._array.size} to {dst_offset} of {dst._array.size}",
        )
    array = dst.array
    array.flat[dst_offset : dst_offset + size] = src._array.reshape(-1)[src_offset : src_offset + size]


def to_host(t: Tensor) -> Tensor:
    """A copy."""
    return t.clone()


def contiguous(tensor: Tensor) -> Tensor:
    """A copy."""
    return tensor.clone()


def sizeof(dtype: npt.DTypeLike) -> int:
    """The size of an element of `dtype` in bytes."""
    return as_dtype(dtype).itemsize


def product(shape: Sequence[int]) -> int:
    """The number of elements of a shape."""
    return math.prod(shape)


# --- new ones ---------------------------------------------------------------------------------------------------------
def zeros_like(t: Tensor) -> Tensor:
    """Zeros of t's shape and dtype."""
    with t.device.place:
        return hold(t.xp.zeros(t.shape, t.dtype))


def ones_like(t: Tensor) -> Tensor:
    """Ones of t's shape and dtype."""
    with t.device.place:
        return hold(t.xp.ones(t.shape, t.dtype))


def zeros(shape: Sequence[int], device: Device | None = None) -> Tensor:
    """Zeros, float32."""
    return Tensor(shape, device)


def ones(shape: Sequence[int], device: Device | None = None) -> Tensor:
    """Ones, float32."""
    return Tensor(shape, device).set_value(1.0)


def random(shape: Sequence[int], device: Device | None = None) -> Tensor:
    """Random values from [0, 1), float32."""
    return Tensor(shape, device, data=random_generator().random(tuple(shape), np.float32))


def bernoulli(p: float, t: Tensor) -> Tensor:
    """t, each element now 1 with probability p, else 0."""
    return t.bernoulli(p)


def gaussian(mean: float, std: float, t: Tensor) -> Tensor:
    """t, its elements now drawn from a normal distribution."""
    return t.gaussian(mean, std)


def uniform(low: float, high: float, t: Tensor) -> Tensor:
    """t, its elements now drawn from [low, high)."""
    return t.uniform(low, high)


# --- shapes -----------------------------------------------------------------------------------------------------------
def reshape(tensor: Tensor, shape: Sequence[int]) -> Tensor:
    """The same elements in another shape."""
    return tensor.reshape(shape)


def transpose(t: Tensor, axes: Sequence[int] | None = None) -> Tensor:
    """The axes in another order, by default the reverse."""
    return t.transpose(axes)


def repeat(t: Tensor, repeats: int | Sequence[int], axis: int | None = None) -> Tensor:
    """Each element repeated consecutively, along an axis or of the flattened Tensor."""
    return t.repeat(repeats, axis)


def concatenate(tensors: Sequence[Tensor], axis: int) -> Tensor:
    """The Tensors concatenated along the axis."""
    return apply(concat, tuple(tensors), axis)


# --- arithmetic -------------------------------------------------------------------------------------------------------
def _into(result: Tensor, ret: Tensor | None) -> Tensor:
    if ret is None:
        return result
    ret.copy_from(result)
    return ret


def add(lhs: Value, rhs: Value, ret: Tensor | None = None) -> Tensor:
    """lhs + rhs; written into `ret` if given."""
    return _into(elementwise.add(lhs, rhs), ret)


def sub(lhs: Value, rhs: Value, ret: Tensor | None = None) -> Tensor:
    """lhs - rhs; written into `ret` if given."""
    return _into(elementwise.sub(lhs, rhs), ret)


def eltwise_mult(lhs: Value, rhs: Value, ret: Tensor | None = None) -> Tensor:
    """lhs * rhs; written into `ret` if given."""
    return _into(elementwise.mul(lhs, rhs), ret)


def div(lhs: Value, rhs: Value, ret: Tensor | None = None) -> Tensor:
    """lhs / rhs; written into `ret` if given."""
    return _into(elementwise.div(lhs, rhs), ret)


def pow(t: Tensor, x: Value, out: Tensor | None = None) -> Tensor:
    """t to the power of x; written into `out` if given."""
    return _into(elementwise.pow(t, x), out)


def axpy(alpha: float, x: Tensor, y: Tensor) -> Tensor:
    """y, now y + alpha x."""
    with x.device.place:
        y += x._array * np.float32(alpha)
    return y


def mult(A: Tensor, B: Tensor, C: Tensor | None = None, alpha: float = 1.0, beta: float = 0.0) -> Tensor:
    """A @ B, with NumPy's broadcasting of the axes before the last two; with C, C, now alpha A @ B + beta C."""
    product = apply(matmul, A, B)
    if C is None:
        return product
    with C.device.place:
        C.copy_from(product._array * np.float32(alpha) + C._array * np.float32(beta))
    return C


def einsum(ops: str, *args: Tensor) -> Tensor:
    """`numpy.einsum` of the Tensors' values; no gradient."""
    for each in args:
        each._report_read()
    return hold(beside(args[0], np.einsum(ops, *[on_host(each) for each in args]).astype(np.float32)))


def tensordot(A: Tensor, B: Tensor, axes: int | tuple[int | Sequence[int], int | Sequence[int]] = 2) -> Tensor:
    """`numpy.tensordot` of the Tensors' values, (1,) if no axis remains; no gradient."""
    for each in (A, B):
        each._report_read()
    product = np.tensordot(on_host(A), on_host(B), axes).astype(np.float32)
    return hold(beside(A, product.reshape(product.shape or (1,))))


def square(t: Tensor) -> Tensor:
    """t * t."""
    return apply(_square, t)


def softmax(t: Tensor, out: Tensor | None = None) -> Tensor:
    """exp(t), divided by its sum over the last axis; written into `out` if given."""
    return _into(elementwise.softmax(t, axis=len(t.shape) - 1), out)


# --- sums -------------------------------------------------------------------------------------------------------------
def sum(t: Tensor, axis: int | tuple[int, ...] | None = None, out: Tensor | None = None) -> Tensor:
    """The sum over an axis, or several; (1,) over all. Written into `out` if given."""
    total = apply(_sum, t, axis)
    return _into(total if total.shape else total.reshape((1,)), out)


def average(t: Tensor, axis: int | None = None) -> Tensor | float:
    """The mean of all elements, a number, or over the axis 0 (each column's) or 1 (each row's)."""
    return float(to_numpy(t).mean(dtype=np.float64)) if axis is None else apply(mean, t, axis)


def sum_columns(M: Tensor) -> Tensor:
    """(N,): the sum of all columns of M (N, C)."""
    return sum(M, 1)


def sum_rows(M: Tensor) -> Tensor:
    """(C,): the sum of all rows of M (N, C)."""
    return sum(M, 0)


# --- comparisons ------------------------------------------------------------------------------------------------------
def lt(t: Tensor, x: Value) -> Tensor:
    """1 where t < x, else 0."""
    return t < x


def le(t: Tensor, x: Value) -> Tensor:
    """1 where t <= x, else 0."""
    return t <= x


def gt(t: Tensor, x: Value) -> Tensor:
    """1 where t > x, else 0."""
    return t > x


def ge(t: Tensor, x: Value) -> Tensor:
    """1 where t >= x, else 0."""
    return t >= x


def eq(t: Tensor, x: Value) -> Tensor:
    """1 where t = x, else 0."""
    return t._compare(np.equal, x)


__all__ = [
    "abs",
    "add",
    "average",
    "axpy",
    "bernoulli",
    "ceil",
    "concatenate",
    "contiguous",
    "copy_data_to_from",
    "copy_from_numpy",
    "div",
    "einsum",
    "eltwise_mult",
    "eq",
    "exp",
    "float16",
    "float32",
    "from_numpy",
    "gaussian",
    "ge",
    "gt",
    "int32",
    "le",
    "log",
    "lt",
    "mult",
    "ones",
    "ones_like",
    "PlaceHolder",
    "pow",
    "product",
    "random",
    "repeat",
    "reshape",
    "sigmoid",
    "sign",
    "sizeof",
    "softmax",
    "sqrt",
    "square",
    "sub",
    "sum",
    "sum_columns",
    "sum_rows",
    "tanh",
    "Tensor",
    "tensordot",
    "to_host",
    "to_numpy",
    "transpose",
    "uniform",
    "zeros",
    "zeros_like",
]
