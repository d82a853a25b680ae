"""Layer normalization: of each sample's own values."""

from cvzoo.autodiff.function_node import FunctionNode
from cvzoo.autodiff.variable import Variable, as_variable, variables_of
from cvzoo.backends.dispatch import backend_of
from cvzoo.backends.float_types import is_float, is_half
from cvzoo.config.switches import switches
from cvzoo.errors.exceptions import DtypeError, GraphError, ShapeError, ValueRangeError
from cvzoo.functions.array.axes import reshape
from cvzoo.functions.array.broadcast import broadcast_to
from cvzoo.functions.array.dtypes import cast, widened
from cvzoo.functions.math.power import power
from cvzoo.functions.math.sum import mean, sum
from cvzoo.typing.aliases import Array


class LayerNormalization(FunctionNode):
    """x (N, I), gamma (I,), beta (I,) to y (N, I)."""

    def __init__(self, eps: float):
        self._eps = eps
        self._statistics: tuple[Array, ...] = ()

    def forward(self, inputs: tuple[Array, ...]) -> tuple[Array, ...]:
        x, gamma, beta = inputs
        self.retain_inputs((0, 1))
        y, *statistics = backend_of(x).layer_norm(x, gamma, beta, eps=self._eps)
        self._statistics = tuple(statistics)
        return (y,)

    def backward(self, indexes: tuple[int, ...], gys: tuple[Variable, ...]) -> tuple[Variable | None, ...]:
        x, gamma = self.get_retained_inputs()
        (gy,) = gys
        # double backprop differentiates the gradient, too; otherwise one pass of a kernel is enough
        if switches.enable_backprop:
            grads = _grads(gy, x, gamma, self._eps)
        else:
            kernel = backend_of(x.array).layer_norm_grad
            grads = variables_of(kernel(gy.array, x.array, gamma.array, *self._statistics, eps=self._eps))
        return tuple([grads[i] for i in indexes])


def _grads(gy: Variable, x: Variable, gamma: Variable, eps: float) -> tuple[Variable, ...]:
    """The gradients, made of differentiable functions."""

    def row_mean(v: Variable) -> Variable:
        return broadcast_to(mean(v, 1, keepdims=True), v.shape)

    narrow, x, gy = x, widened(x), widened(gy)
    centred = x - row_mean(x)
    inv_std = power(row_mean(centred * centred) + eps, -0.5)
    x_hat = centred * inv_std
    g = gy * broadcast_to(gamma, gy.shape)
    gx = inv_std * (g - row_mean(g) - x_hat * row_mean(g * x_hat))
    return cast(gx, narrow.dtype), sum(gy * x_hat, 0), sum(gy, 0)


def layer_normalization(
    x: Variable | Array, gamma: Variable | Array, beta: Variable | Array, eps: float = 1e-5
) -> Variable:
    """x with mean 0 and variance 1 along its last axis, times gamma, plus beta.

    x: (..., I); a channels-last map (B, C, H, W) transposed to (B, H, W, C) is not copied
    gamma, beta: (I,)
    eps: added to the variance
    Raises ShapeError if shapes do not fit, DtypeError if dtypes differ, ValueRangeError if eps is not positive.
    Source: Ba, Kiros and Hinton, "Layer Normalization", 2016.
    """
    x = as_variable(x)
    gamma = as_variable(gamma)
    beta = as_variable(beta)
    if eps <= 0:
        raise ValueRangeError("layer_normalization: eps must be positive", got=eps)
    if gamma.shape is None or beta.shape is None:
        raise GraphError("layer_normalization: a parameter has no value yet", hint="parameter.initialize(shape)")
    shape = x.shape
    if x.ndim < 2 or gamma.shape != shape[-1:] or beta.shape != shape[-1:]:
        raise ShapeError(
            "layer_normalization: gamma and beta need one number for each of a sample's values",
            expected="x (..., I), gamma (I,), beta (I,)",
            got=f"x {shape}, gamma {gamma.shape}, beta {beta.shape}",
        )
    if not is_float(x.dtype):
        raise DtypeError("layer_normalization: x must be floating", got=x.dtype, hint="x.astype('float32')")
    if not gamma.dtype == beta.dtype == ("float32" if is_half(x.dtype) else x.dtype):
        raise DtypeError(
            "layer_normalization: all arrays must have one dtype; gamma and beta float32 beside an x of 16 bits",
            got=f"x {x.dtype}, gamma {gamma.dtype}, beta {beta.dtype}",
        )
    if x.ndim != 2:
        n = 1
        for size in shape[:-1]:
            n *= size
        x = reshape(x, (n, shape[-1]))
    y = LayerNormalization(eps).apply((x, gamma, beta))[0]
    return y if len(shape) == 2 else reshape(y, shape)
