"""Batch normalization with the mini-batch's statistics, and its gradient."""

from collections.abc import Sequence
from typing import Any

from cvzoo.autodiff.function_node import FunctionNode
from cvzoo.autodiff.variable import Variable, as_array, as_variable
from cvzoo.backends.dispatch import backend_of
from cvzoo.backends.float_types import is_float, is_half
from cvzoo.config.switches import switches
from cvzoo.errors.exceptions import DtypeError, GraphError, ShapeError, ValueRangeError
from cvzoo.functions.array.axes import reshape, transpose
from cvzoo.functions.array.dtypes import cast, widened
from cvzoo.functions.connection.channel_sum import ChannelSpread, ChannelSum
from cvzoo.functions.math.arithmetic import add, multiply
from cvzoo.functions.math.power import power
from cvzoo.typing.aliases import Array


class BatchNormalization(FunctionNode):
    """x (B, C, ...), gamma (C,), beta (C,) to y. `mean` and `var` (biased) are set by `apply`."""

    mean: Array
    var: Array

    def __init__(self, eps: float):
        self._eps = eps

    def forward(self, inputs: tuple[Array, ...]) -> tuple[Array, ...]:
        x, gamma, beta = inputs
        self.retain_inputs((0, 1))
        y, self.mean, self.var = backend_of(x).batch_norm_train(x, gamma, beta, eps=self._eps)
        return (y,)

    def backward(self, indexes: tuple[int, ...], gys: tuple[Variable, ...]) -> tuple[Variable | None, ...]:
        x, gamma = self.get_retained_inputs()
        grads = BatchNormalizationGrad(self._eps, self.mean, self.var).apply((x, gamma, gys[0]))
        return tuple([grads[i] for i in indexes])


class BatchNormalizationGrad(FunctionNode):
    """x, gamma, gy to gx, ggamma, gbeta; mean and var are x's own."""

    def __init__(self, eps: float, mean: Array, var: Array):
        self._eps = eps
        self._mean = mean
        self._var = var

    def forward(self, inputs: tuple[Array, ...]) -> tuple[Array, ...]:
        x, gamma, gy = inputs
        self.retain_inputs((0, 1, 2))
        return backend_of(x).batch_norm_grad(gy, x, gamma, self._mean, self._var, eps=self._eps)

    def backward(self, indexes: tuple[int, ...], gys: tuple[Variable | None, ...]) -> tuple[Variable | None, ...]:
        """With u = 1 / std, h the normalized x, m the count, M(v) = sum(v) / m over a channel, and

            gx = gamma * u * r,   r = gy - M(gy) - h * M(gy * h),   ggamma = sum(gy * h),   gbeta = sum(gy)

        the inner product L of these with ggx, gggamma, ggbeta is differentiated by hand: first through h and u, then
        through both to x. Everything is computed from x anew, so that it can be differentiated again.
        """
        narrow_x, gamma, narrow_gy = self.get_retained_inputs()
        x, gy = widened(narrow_x), widened(narrow_gy)
        shape = x.shape
        inverse_count = shape[1] / max(x.size, 1)

        def total(v: Variable) -> Variable:
            return ChannelSum().apply((v,))[0]

        def mean(v: Variable) -> Variable:
            return multiply(total(v), inverse_count)

        def spread(v: Variable) -> Variable:
            return ChannelSpread(shape, v.dtype).apply((v,))[0]

        def minus(a: Variable, b: Variable) -> Variable:
            return add(a, multiply(b, -1.0))

        centred = minus(x, spread(mean(x)))
        u = power(add(mean(multiply(centred, centred)), self._eps), -0.5)
        h = multiply(centred, spread(u))
        mean_gyh = mean(multiply(gy, h))
        ggx, gggamma, ggbeta = [None if each is None else widened(each) for each in gys]
        # the inner product of r with ggx is the one of gy with p
        g_h = g_gy = g_gamma = g_u_per_u = None
        if ggx is not None:
            mean_ph = mean(multiply(ggx, h))
            p = minus(minus(ggx, spread(mean(ggx))), multiply(h, spread(mean_ph)))
            scale = multiply(gamma, u)
            inner = total(multiply(gy, p))
            g_gy = multiply(spread(scale), p)
            g_gamma = multiply(u, inner)
            g_u_per_u = multiply(gamma, inner)  # dL/du times 1
            crossed = add(multiply(ggx, spread(mean_gyh)), multiply(gy, spread(mean_ph)))
            g_h = multiply(crossed, spread(multiply(scale, -1.0)))
        if gggamma is not None:
            part = multiply(h, spread(gggamma))
            g_gy = part if g_gy is None else add(g_gy, part)
            part = multiply(gy, spread(gggamma))
            g_h = part if g_h is None else add(g_h, part)
        if ggbeta is not None:
            part = spread(ggbeta)
            g_gy = part if g_gy is None else add(g_gy, part)
        g_x = None
        if g_h is not None and 0 in indexes:
            # h = centred * u with u = (var + eps) ** -0.5, du/dx = -u * u * h / m, dh/dx = u * (1 - M - h * M(h * .))
            toward = minus(minus(g_h, spread(mean(g_h))), multiply(h, spread(mean(multiply(g_h, h)))))
            g_x = multiply(toward, spread(u))
            if g_u_per_u is not None:
                through_u = multiply(multiply(u, u), multiply(g_u_per_u, -inverse_count))
                g_x = add(g_x, multiply(h, spread(through_u)))
        grads: list[Variable | Any] = [g_x, g_gamma, g_gy]
        for i, narrow in ((0, narrow_x), (2, narrow_gy)):
            if grads[i] is not None:
                grads[i] = cast(grads[i], narrow.dtype)
        return tuple([grads[i] for i in indexes])


def batch_normalization(
    x: Variable | Array,
    gamma: Variable | Array,
    beta: Variable | Array,
    *,
    eps: float = 2e-5,
    running_mean: Variable | Array | None = None,
    running_var: Variable | Array | None = None,
    decay: float = 0.9,
    axis: int | Sequence[int] | None = None,
) -> Variable:
    """x brought to mean 0 and variance 1 over the mini-batch, times gamma, plus beta.

    x: (B, C) or (B, C, H, W) or any other number of axes from 2 on
    gamma, beta: (C,), of x's dtype, or float32 beside an x of 16 bits; with `axis` the shape of the axes not reduced
    eps: added to the variance
    running_mean, running_var: arrays like gamma, changed in place: running = decay * running + (1 - decay) * the
        batch's (the variance unbiased); not while `forget` computes for the second time. None: not tracked
    axis: the axes that statistics are taken over; None for all but the second
    Raises ShapeError if shapes do not fit, DtypeError if dtypes differ, ValueRangeError if eps is not positive.
    Source: Ioffe and Szegedy, "Batch Normalization", 2015. Where we differ from Chainer: axis=None keeps the second
    axis whatever the number of axes, where Chainer infers the axis from gamma.
    """
    x = as_variable(x)
    gamma = as_variable(gamma)
    beta = as_variable(beta)
    if axis is not None:
        return _over_axes(x, gamma, beta, eps, running_mean, running_var, decay, axis)
    check_statistics("batch_normalization", x, (gamma, beta), ("gamma", "beta"), eps)
    node = BatchNormalization(eps)
    y = node.apply((x, gamma, beta))[0]
    # gradient checkpointing computes the same batch a second time, which must not count twice
    if running_mean is not None and not switches.in_recomputing:
        _track(running_mean, node.mean, decay, 1.0, gamma.shape)
    if running_var is not None and not switches.in_recomputing:
        # the batch is normalized by its biased variance; the running estimate is unbiased, as in the paper
        count = x.size // max(x.shape[1], 1)
        _track(running_var, node.var, decay, count / max(count - 1, 1), gamma.shape)
    return y


def _track(running: Variable | Array, now: Array, decay: float, factor: float, shape: tuple[int, ...]) -> None:
    running = as_array(running)
    backend_of(running)
    if running.size != now.size:
        raise ShapeError(
            "batch_normalization: a running statistic must be like gamma", expected=shape, got=running.shape
        )
    RunningMean(running, decay, factor).apply((now,))


class RunningMean(FunctionNode):
    """now, to nothing: running = decay * running + (1 - decay) * factor * now, in place."""

    def __init__(self, running: Array, decay: float, factor: float):
        self.effect = running
        self._decay = decay
        self._factor = factor

    def forward(self, inputs: tuple[Array, ...]) -> tuple[Array, ...]:
        running: Any = self.effect
        now = inputs[0] if self._factor == 1 else inputs[0] * self._factor
        running *= self._decay
        running += (1 - self._decay) * now.reshape(running.shape)
        return ()


def check_statistics(function: str, x: Variable, values: Sequence[Variable], names: Sequence[str], eps: float) -> None:
    """Raise unless x is (B, C, ...) and each of `values` is (C,), their floating dtypes fit, and eps is positive."""
    if eps <= 0:
        raise ValueRangeError(f"{function}: eps must be positive", got=eps)
    x_shape, dtype = x.shape, x.dtype
    if len(x_shape) < 2:
        raise ShapeError(f"{function}: x has no channels", expected="(B, C, ...)", got=x_shape)
    expected_shape, expected_dtype = (x_shape[1],), "float32" if is_half(dtype) else dtype
    for value, name in zip(values, names):
        shape = value.shape
        if shape is None:
            raise GraphError(f"{function}: {name} has no value yet", hint="parameter.initialize(shape)")
        if shape != expected_shape:
            raise ShapeError(
                f"{function}: {name} needs one number for each of x's {expected_shape[0]} channels",
                expected=f"{name} {expected_shape}",
                got=f"x {x_shape}  B C ...\n            {name} {shape}",
            )
        if value.dtype != expected_dtype:
            raise DtypeError(
                f"{function}: x and {name} must have one dtype, float32 beside an x of 16 bits",
                got=f"x {dtype}, {name} {value.dtype}",
            )
    if not is_float(dtype):
        raise DtypeError(f"{function}: x must be floating", got=dtype, hint="x.astype('float32')")


def _over_axes(
    x: Variable,
    gamma: Variable,
    beta: Variable,
    eps: float,
    running_mean: Variable | Array | None,
    running_var: Variable | Array | None,
    decay: float,
    axis: int | Sequence[int],
) -> Variable:
    """`batch_normalization` over several axes: the axes not reduced are joined to one of channels."""
    axes = (axis,) if isinstance(axis, int) else tuple(axis)
    if not all(-x.ndim <= a < x.ndim for a in axes) or len({a % x.ndim for a in axes}) != len(axes):
        raise ValueRangeError("batch_normalization: axis must name different axes of x", got=f"{axis} of {x.ndim} axes")
    axes = tuple(sorted(a % x.ndim for a in axes))
    channel_axes = tuple([a for a in range(x.ndim) if a not in axes])
    channel_shape = tuple([x.shape[a] for a in channel_axes])
    if gamma.shape != channel_shape or beta.shape != channel_shape:
        raise ShapeError(
            f"batch_normalization: gamma and beta must have the shape of the axes of x that axis={axis} keeps",
            expected=channel_shape,
            got=f"x {x.shape}, gamma {gamma.shape}, beta {beta.shape}",
        )
    order = axes + channel_axes
    n_channel = gamma.size
    turned = transpose(x, order)
    flat = reshape(turned, (x.size // max(n_channel, 1), n_channel))
    y = batch_normalization(
        flat,
        reshape(gamma, (n_channel,)),
        reshape(beta, (n_channel,)),
        eps=eps,
        running_mean=running_mean,
        running_var=running_var,
        decay=decay,
    )
    back = tuple([order.index(a) for a in range(x.ndim)])
    return transpose(reshape(y, turned.shape), back)
