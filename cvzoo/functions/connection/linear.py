"""Linear and bilinear transformations of rows."""

import numpy as np

from cvzoo.autodiff.function_node import FunctionNode
from cvzoo.autodiff.parameter import Parameter
from cvzoo.autodiff.prepared_weights import PreparedWeights
from cvzoo.autodiff.variable import Variable, as_variable
from cvzoo.backends.dispatch import backend_of
from cvzoo.backends.float_types import rounded
from cvzoo.errors.exceptions import DtypeError, GraphError, ShapeError, ValueRangeError
from cvzoo.functions.array.axes import reshape
from cvzoo.functions.array.dtypes import fits_weight, for_product, rounded_weight
from cvzoo.functions.connection.channel_sum import ChannelSum
from cvzoo.functions.math.arithmetic import add
from cvzoo.functions.math.einsum import einsum
from cvzoo.functions.math.matmul import matmul
from cvzoo.typing.aliases import Array


class Linear(FunctionNode):
    """x (N, I), W (O, I), perhaps b (O,), to x @ W.T + b (N, O).

    pack: where the backend may keep reordered copies of W
    W and b of float32 beside an x of 16 bits are rounded to its dtype; their gradients are float32 again.
    """

    def __init__(self, pack: PreparedWeights | None = None):
        self._pack = pack

    def forward(self, inputs: tuple[Array, ...]) -> tuple[Array, ...]:
        x = inputs[0]
        b = rounded(inputs[2], x.dtype) if len(inputs) == 3 else None
        self.retain_inputs((0, 1))
        W, pack = rounded_weight(inputs[1], x.dtype, self._pack)
        return (backend_of(x).linear(x, W, b, pack=pack),)

    def backward(self, indexes: tuple[int, ...], gys: tuple[Variable, ...]) -> tuple[Variable | None, ...]:
        x, W = self.get_retained_inputs()
        (gy,) = gys
        grads = []
        for i in indexes:
            if i == 0:
                grads.append(LinearInputGrad().apply((gy, W))[0])
            elif i == 1:
                grads.append(LinearWeightGrad(W.dtype).apply((x, gy))[0])
            else:
                grads.append(ChannelSum().apply((gy,))[0])
        return tuple(grads)


class LinearInputGrad(FunctionNode):
    """gy (N, O), W (O, I) to gy @ W (N, I)."""

    def forward(self, inputs: tuple[Array, ...]) -> tuple[Array, ...]:
        gy, W = inputs
        self.retain_inputs((0, 1))
        return (backend_of(gy).matmul(gy, rounded(W, gy.dtype)),)

    def backward(self, indexes: tuple[int, ...], gys: tuple[Variable, ...]) -> tuple[Variable | None, ...]:
        gy, W = self.get_retained_inputs()
        (ggx,) = gys
        return tuple(
            [Linear().apply((ggx, W))[0] if i == 0 else LinearWeightGrad(W.dtype).apply((ggx, gy))[0] for i in indexes]
        )


class LinearWeightGrad(FunctionNode):
    """x (N, I), gy (N, O) to gy.T @ x (O, I) of `dtype`."""

    def __init__(self, dtype: np.dtype):
        self._dtype = dtype

    def forward(self, inputs: tuple[Array, ...]) -> tuple[Array, ...]:
        x, gy = inputs
        self.retain_inputs((0, 1))
        return (rounded(backend_of(x).matmul(gy.T, x), self._dtype),)

    def backward(self, indexes: tuple[int, ...], gys: tuple[Variable, ...]) -> tuple[Variable | None, ...]:
        x, gy = self.get_retained_inputs()
        (ggW,) = gys
        return tuple(
            [LinearInputGrad().apply((gy, ggW))[0] if i == 0 else Linear().apply((x, ggW))[0] for i in indexes]
        )


def linear(
    x: Variable | Array, W: Variable | Array, b: Variable | Array | None = None, n_batch_axes: int = 1
) -> Variable:
    """x @ W.T + b: (N, O), or the first n_batch_axes of x and then O.

    x: (N, ...): all axes after the first n_batch_axes are flattened to I numbers
    W: (O, I)
    b: (O,) or None
    Raises ShapeError if the sizes do not fit, DtypeError if dtypes differ.
    """
    x = for_product(as_variable(x))
    W = as_variable(W)
    if b is not None:
        b = as_variable(b)
    x_shape, w_shape = x.shape, W.shape
    if w_shape is None:
        raise GraphError("linear: W has no value yet", hint="parameter.initialize(shape)")
    plain = len(x_shape) == 2 and n_batch_axes == 1
    if not plain:
        x = _flattened(x, n_batch_axes)
    if (
        len(w_shape) != 2
        or x.shape[1] != w_shape[1]
        or not fits_weight(x.dtype, W.dtype)
        or (b is not None and (b.shape != w_shape[:1] or b.dtype != W.dtype))
    ):
        _refuse(x_shape, x, W, b)
    node = Linear(W.packs() if isinstance(W, Parameter) else None)
    y = node.apply((x, W) if b is None else (x, W, b))[0]
    return y if plain or n_batch_axes == 1 else reshape(y, x_shape[:n_batch_axes] + (w_shape[0],))


def _flattened(x: Variable, n_batch_axes: int) -> Variable:
    if not 1 <= n_batch_axes < x.ndim:
        raise ValueRangeError(
            "linear: n_batch_axes must leave at least one axis of x", expected=f"1 to {x.ndim - 1}", got=n_batch_axes
        )
    n = i = 1
    for size in x.shape[:n_batch_axes]:
        n *= size
    for size in x.shape[n_batch_axes:]:
        i *= size
    return reshape(x, (n, i))


def _refuse(x_shape: tuple[int, ...], x: Variable, W: Variable, b: Variable | None) -> None:
    got = f"x {x_shape}  N ...\n            W {W.shape}  O I"
    if W.ndim != 2:
        raise ShapeError("linear: W must be (O, I)", got=got)
    if x.shape[1] != W.shape[1]:
        raise ShapeError(
            f"linear: x has {x.shape[1]} values per row, W takes {W.shape[1]}",
            expected=f"x (N, {W.shape[1]})",
            got=got,
            hint="W.T" if x.shape[1] == W.shape[0] else None,
        )
    if b is not None and b.shape != W.shape[:1]:
        raise ShapeError("linear: b needs one number for each output", expected=W.shape[:1], got=b.shape)
    raise DtypeError(
        "linear: x, W and b must have one dtype",
        got=f"x {x.dtype}, W {W.dtype}" + ("" if b is None else f", b {b.dtype}"),
        hint=f"x.astype('{W.dtype}')",
    )


def bilinear(
    e1: Variable | Array,
    e2: Variable | Array,
    W: Variable | Array,
    V1: Variable | Array | None = None,
    V2: Variable | Array | None = None,
    b: Variable | Array | None = None,
) -> Variable:
    """e1 W[:, :, k] e2 of each pair of rows and each k, plus e1 V1 + e2 V2 + b where these are given: (B, K).

    e1: (B, I); e2: (B, J)
    W: (I, J, K)
    V1, V2, b: (I, K), (J, K) and (K,), all three or none
    Raises ShapeError if the shapes do not fit, DtypeError if dtypes differ.
    """
    e1, e2, W = as_variable(e1), as_variable(e2), as_variable(W)
    if (e1.ndim, e2.ndim, W.ndim) != (2, 2, 3) or W.shape[:2] != (e1.shape[1], e2.shape[1]) or len(e1) != len(e2):
        raise ShapeError(
            "bilinear: e1, e2 and W do not fit",
            expected="e1 (B, I), e2 (B, J), W (I, J, K)",
            got=f"e1 {e1.shape}, e2 {e2.shape}, W {W.shape}",
        )
    given = [each is not None for each in (V1, V2, b)]
    if any(given) and not all(given):
        raise ShapeError("bilinear: V1, V2 and b come together", got=f"given: {given}")
    y = einsum("bi,bj,ijk->bk", e1, e2, W)
    if V1 is None or V2 is None or b is None:
        return y
    return add(add(y, matmul(e1, V1)), add(matmul(e2, V2), b))
