"""Values in another dtype, and mixed precision: the floating dtype in which a function computes.

- Convolutions, linear layers and matrix products compute in the 16-bit dtype of config.dtype ("mixed_bf16",
  "mixed_fp16"), or in that of their input.
- Losses, softmax and functions of boxes are float32 (`widened`).
- Of two arrays, float32 takes precedence over 16 bits; but a parameter, which is float32 so that small updates are not
  lost, takes the dtype of the other array (`agreed`).
- All other functions keep the dtype of their input, compute in float32 and round once.
"""

from typing import Any, overload

import numpy as np
import numpy.typing as npt

from cvzoo.autodiff.function_node import FunctionNode
from cvzoo.autodiff.parameter import Parameter
from cvzoo.autodiff.prepared_weights import PreparedWeights
from cvzoo.autodiff.variable import Variable, as_variable
from cvzoo.backends import float_types
from cvzoo.backends.abstract import AbstractBackend
from cvzoo.backends.dispatch import backend_of
from cvzoo.backends.float_types import is_float, is_half, product_dtype
from cvzoo.errors.exceptions import DtypeError
from cvzoo.typing.aliases import Array


class Cast(FunctionNode):
    def __init__(self, dtype: npt.DTypeLike):
        self.dtype = dtype

    def forward(self, inputs: tuple[Array, ...]) -> tuple[Array, ...]:
        (x,) = inputs
        backend_of(x)
        return (x.astype(self.dtype, order="K"),)

    def backward(self, indexes: tuple[int, ...], gys: tuple[Variable, ...]) -> tuple[Variable | None, ...]:
        return Cast(self.inputs[0].dtype).apply(gys)


def cast(x: Variable | Array, typ: npt.DTypeLike) -> Variable:
    """x as `typ`; x itself where it is that already. Between floating dtypes the gradient is cast back."""
    x = as_variable(x)
    return x if x.dtype == typ else Cast(typ).apply((x,))[0]


_FLOAT32 = np.dtype("float32")


def floating_backend(x: Variable | Array, function: str) -> AbstractBackend:
    """The backend of a floating array.

    Raises DtypeError if x is something else.
    """
    backend = backend_of(x)
    if not is_float(x.dtype):
        raise DtypeError(f"{function}: needs a floating array", got=x.dtype, hint="functions.cast(x, 'float32')")
    return backend


def widened(x: Variable | Array) -> Variable:
    """x, in float32 if it has 16 bits; its gradient is rounded back."""
    x = as_variable(x)
    return Cast(_FLOAT32).apply((x,))[0] if x.shape is not None and is_half(x.dtype) else x


def agreed(*xs: Variable | Array) -> tuple[Variable | Any, ...]:
    """The arrays in one dtype where some have 16 bits and others float32; as they are where dtypes differ otherwise."""
    dtypes = {x.dtype for x in xs}
    halves = [dtype for dtype in dtypes if is_half(dtype)]
    if len(dtypes) != 2 or len(halves) != 1 or _FLOAT32 not in dtypes:
        return xs
    # float32 parameters are master weights: they follow the activations, not the other way round
    wide = any(x.dtype == _FLOAT32 and not isinstance(x, Parameter) for x in xs)
    dtype = _FLOAT32 if wide else halves[0]
    return tuple([x if x.dtype == dtype else Cast(dtype).apply((x,))[0] for x in xs])


def agreed_pair(a: Variable | Array, b: Variable | Array) -> tuple[Variable | Any, Variable | Any]:
    """`agreed` of two arrays, which most often have one dtype; other values are returned as they are."""
    try:
        same = a.dtype == b.dtype
    except AttributeError:
        return a, b
    if same:
        return a, b
    first, second = agreed(a, b)
    return first, second


@overload
def for_product(x: Variable) -> Variable: ...
@overload
def for_product(x: Array) -> Variable | Array: ...
def for_product(x: Variable | Array) -> Variable | Array:
    """float32 x in the dtype of products by config.dtype; other x as it is."""
    dtype = product_dtype()
    return x if dtype is None or x.dtype != _FLOAT32 else Cast(dtype).apply((x,))[0]


def fits_weight(x: np.dtype, weight: np.dtype) -> bool:
    """Whether weights of dtype `weight` may be used with an x of dtype `x`: the same, or 16 bits with float32."""
    return x == weight or (weight == _FLOAT32 and is_half(x))


def rounded_weight(W: Array, dtype: np.dtype, pack: PreparedWeights | None) -> tuple[Array, PreparedWeights | None]:
    """W as `dtype`, and the backend's cache of reordered copies of it.

    W: array of float32, or of `dtype` already
    pack: cache for the rounded copy; None: not cached
    """
    if W.dtype == dtype or not is_half(dtype):
        return W, pack
    if pack is None:
        return float_types.rounded(W, dtype), None
    cached = pack.made.get(dtype)
    if cached is None:
        own = W if pack.scale is None else float_types.scaled_filters(W, pack.scale)
        cached = pack.made[dtype] = (float_types.rounded(own, dtype), PreparedWeights())
    return cached
