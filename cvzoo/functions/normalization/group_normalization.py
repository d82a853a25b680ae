"""Group normalization: of each sample's channels, by group."""

import numpy as np

from cvzoo.autodiff.function_node import FunctionNode
from cvzoo.autodiff.variable import Variable, as_variable
from cvzoo.backends.dispatch import backend_of
from cvzoo.config.switches import switches
from cvzoo.errors.exceptions import ShapeError
from cvzoo.functions.array.axes import reshape
from cvzoo.functions.array.broadcast import broadcast_to
from cvzoo.functions.array.dtypes import cast, widened
from cvzoo.functions.connection.channel_sum import ChannelSum
from cvzoo.functions.math.arithmetic import add, multiply, subtract
from cvzoo.functions.math.power import power
from cvzoo.functions.math.sum import sum
from cvzoo.functions.normalization.batch_normalization import BatchNormalization, check_statistics
from cvzoo.typing.aliases import Array, ArrayModule


class GroupNormalization(FunctionNode):
    """x (B, C, H, W), gamma (C,), beta (C,) to y, by the kernels of batch normalization, sample by sample.

    A sample alone is a batch of one whose channels have statistics; those of a group follow from its channels'. So
    images stay channels-last, where groups of channels do not lie together.
    """

    def __init__(self, groups: int, eps: float):
        self._groups = groups
        self._eps = eps

    def forward(self, inputs: tuple[Array, ...]) -> tuple[Array, ...]:
        x, gamma, beta = inputs
        self.retain_inputs((0, 1))
        backend = backend_of(x)
        x = backend.channels_last(x)
        n_strip = backend.n_strip(x)
        n = n_strip * len(gamma)
        self._statistics = []
        parts = []
        for i in range(len(x)):
            sample = x[i : i + 1]
            strips = sample.transpose(0, 2, 3, 1).reshape(1, -1, 1, n).transpose(0, 3, 1, 2)
            mean, var = backend.batch_norm_statistics(strips)
            mean, var = self._of_groups(backend.xp, mean.reshape(n_strip, -1), var.reshape(n_strip, -1))
            self._statistics.append((mean, var))
            parts.append(backend.batch_norm_fixed(sample, gamma, beta, mean, var, eps=self._eps))
        return (backend.concat(parts, axis=0) if len(parts) > 1 else parts[0],)

    def _of_groups(self, xp: ArrayModule, mean: Array, var: Array) -> tuple[Array, Array]:
        """(C,), (C,): for each channel its group's mean and variance, of those of its strips (K, C). No difference of
        large numbers is taken."""
        means = mean.reshape(len(mean), self._groups, -1)
        middle = means.mean(axis=(0, 2), keepdims=True, dtype=np.float64)
        spread = (var.reshape(means.shape) + (means - middle) ** 2).mean(axis=(0, 2))
        return tuple([xp.repeat(v.reshape(-1).astype(mean.dtype), means.shape[2]) for v in (middle, spread)])

    def backward(self, indexes: tuple[int, ...], gys: tuple[Variable, ...]) -> tuple[Variable | None, ...]:
        x, gamma = self.get_retained_inputs()
        if switches.enable_backprop:
            grads = _differentiable_grads(x, gamma, gys[0], self._groups, self._eps)
        else:
            grads = GroupNormalizationGrad(self._groups, self._eps, self._statistics).apply((x, gamma, gys[0]))
        return tuple([grads[i] for i in indexes])


class GroupNormalizationGrad(FunctionNode):
    """x, gamma, gy to gx, ggamma, gbeta, without second derivatives.

    statistics: for each sample (C,) mean and variance of each channel's group
    """

    def __init__(self, groups: int, eps: float, statistics: list[tuple[Array, Array]]):
        self._groups = groups
        self._eps = eps
        self._statistics = statistics

    def forward(self, inputs: tuple[Array, ...]) -> tuple[Array, ...]:
        """The kernel subtracts its channel's own means of gy and gy * h (h: x normalized); what the group's means
        differ from these by is one more affine function of h, which is batch_norm_fixed."""
        x, gamma, gy = inputs
        backend = backend_of(x)
        xp = backend.xp
        x, gy = backend.channels_last(x), backend.channels_last(gy)
        ggamma, gbeta = xp.zeros(len(gamma), gamma.dtype), xp.zeros(len(gamma), gamma.dtype)
        count = gamma.dtype.type(x.shape[2] * x.shape[3])
        parts = []
        for i, (mean, var) in enumerate(self._statistics):
            sample, gy_sample = x[i : i + 1], gy[i : i + 1]
            gx, gamma_part, beta_part = backend.batch_norm_grad(gy_sample, sample, gamma, mean, var, eps=self._eps)
            ggamma += gamma_part
            gbeta += beta_part
            root = 1 / xp.sqrt(var + gamma.dtype.type(self._eps))
            slope, shift = (root / count * self._off_mean(gamma * part) for part in (gamma_part, beta_part))
            rest = backend.batch_norm_fixed(sample, slope, shift, mean, var, eps=self._eps)
            parts.append(backend.add(gx, rest, out=gx))
        return (backend.concat(parts, axis=0) if len(parts) > 1 else parts[0]), ggamma, gbeta

    def _off_mean(self, v: Array) -> Array:
        """(C,) less the mean over each group."""
        grouped = v.reshape(self._groups, -1)
        return (grouped - grouped.mean(axis=1, keepdims=True)).reshape(-1)


def _differentiable_grads(x: Variable, gamma: Variable, gy: Variable, groups: int, eps: float) -> tuple[Variable, ...]:
    """gx, ggamma, gbeta, of functions that can be differentiated again."""
    narrow, x, gy = x, widened(x), widened(gy)
    b, c = x.shape[:2]
    rows = (b * groups, x.size // (b * groups))

    def mean(v: Variable) -> Variable:
        return broadcast_to(multiply(sum(v, axis=1, keepdims=True), 1.0 / rows[1]), rows)

    flat = reshape(x, rows)
    centred = subtract(flat, mean(flat))
    u = power(add(mean(multiply(centred, centred)), eps), -0.5)
    h = multiply(centred, u)
    gh = reshape(multiply(gy, reshape(gamma, (c, 1, 1))), rows)
    gx = multiply(subtract(subtract(gh, mean(gh)), multiply(h, mean(multiply(gh, h)))), u)
    ggamma = ChannelSum().apply((multiply(gy, reshape(h, x.shape)),))[0]
    return cast(reshape(gx, x.shape), narrow.dtype), ggamma, ChannelSum().apply((gy,))[0]


def group_normalization(
    x: Variable | Array, groups: int, gamma: Variable | Array, beta: Variable | Array, eps: float = 1e-5
) -> Variable:
    """x with mean 0 and variance 1 over each sample's groups of channels, times gamma, plus beta.

    x: (B, C, ...)
    groups: how many groups the channels are split into; groups = C is instance normalization
    gamma, beta: (C,)
    eps: added to the variance
    Raises ShapeError if shapes do not fit, DtypeError if dtypes differ, ValueRangeError if eps is not positive.
    Source: Wu and He, "Group Normalization", 2018.
    """
    x = as_variable(x)
    gamma = as_variable(gamma)
    beta = as_variable(beta)
    check_statistics("group_normalization", x, (gamma, beta), ("gamma", "beta"), eps)
    c = x.shape[1]
    if groups < 1 or c % groups:
        raise ShapeError(
            f"group_normalization: {c} channels cannot be split into {groups} groups",
            got=x.shape,
            hint="a number of groups that divides the channels",
        )
    if x.ndim == 4 and x.size:
        return GroupNormalization(groups, eps).apply((x, gamma, beta))[0]
    y = normalize_groups(widened(x), x.shape[0] * groups, eps)
    across = (c,) + (1,) * (x.ndim - 2)
    return cast(add(multiply(y, reshape(gamma, across)), reshape(beta, across)), x.dtype)


def normalize_groups(x: Variable, n_group: int, eps: float) -> Variable:
    """x's shape; each n_group-th part of its values, in row-major order, has mean 0 and variance 1.

    A group is a channel of a batch of one, so the kernel and its derivatives are batch normalization's.
    """
    xp = backend_of(x.array).xp
    flat = reshape(x, (1, n_group, x.size // max(n_group, 1)))
    ones, zeros = xp.ones(n_group, x.dtype), xp.zeros(n_group, x.dtype)
    return reshape(BatchNormalization(eps).apply((flat, ones, zeros))[0], x.shape)
