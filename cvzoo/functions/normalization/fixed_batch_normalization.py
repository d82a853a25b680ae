"""Batch normalization with fixed statistics, as in inference."""

from typing import Any

from cvzoo.autodiff.function_node import FunctionNode
from cvzoo.autodiff.variable import Variable, as_variable
from cvzoo.backends.dispatch import backend_of
from cvzoo.functions.connection.channel_sum import ChannelSpread, ChannelSum
from cvzoo.functions.math.arithmetic import add, multiply
from cvzoo.functions.math.power import power
from cvzoo.functions.normalization.batch_normalization import check_statistics
from cvzoo.typing.aliases import Array


class FixedBatchNormalization(FunctionNode):
    """x (B, C, ...) and gamma, beta, mean, var (C,) to y."""

    def __init__(self, eps: float):
        self._eps = eps

    def forward(self, inputs: tuple[Array, ...]) -> tuple[Array, ...]:
        x, gamma, beta, mean, var = inputs
        self.retain_inputs((0, 1, 3, 4))
        return (backend_of(x).batch_norm_fixed(x, gamma, beta, mean, var, eps=self._eps),)

    def backward(self, indexes: tuple[int, ...], gys: tuple[Variable, ...]) -> tuple[Variable | None, ...]:
        x, gamma, mean, var = self.get_retained_inputs()
        (gy,) = gys
        u = power(add(var, self._eps), -0.5)  # 1 / std
        scale = multiply(gamma, u)
        gbeta: Variable | Any = None
        ggamma: Variable | Any = None
        # frozen parameters, as in fine-tuning, need neither sum
        if indexes != (0,):
            gbeta = ChannelSum().apply((gy,))[0]
        if 1 in indexes or 4 in indexes:
            centred_gy = add(ChannelSum().apply((multiply(x, gy),))[0], multiply(multiply(mean, gbeta), -1.0))
            ggamma = multiply(centred_gy, u)
        grads: list[Variable | None] = []
        for i in indexes:
            if i == 0:
                grads.append(multiply(gy, ChannelSpread(gy.shape, gy.dtype).apply((scale,))[0]))
            elif i == 1:
                grads.append(ggamma)
            elif i == 2:
                grads.append(gbeta)
            elif i == 3:
                grads.append(multiply(multiply(gbeta, scale), -1.0))
            else:
                grads.append(multiply(multiply(ggamma, scale), multiply(u, -0.5)))
        return tuple(grads)


def fixed_batch_normalization(
    x: Variable | Array,
    gamma: Variable | Array,
    beta: Variable | Array,
    mean: Variable | Array,
    var: Variable | Array,
    *,
    eps: float = 2e-5,
) -> Variable:
    """gamma * (x - mean) / sqrt(var + eps) + beta, channel by channel.

    x: (B, C, ...)
    gamma, beta, mean, var: (C,); all may have gradients
    Raises ShapeError if shapes do not fit, DtypeError if dtypes differ, ValueRangeError if eps is not positive.
    """
    x = as_variable(x)
    values = (as_variable(gamma), as_variable(beta), as_variable(mean), as_variable(var))
    check_statistics("fixed_batch_normalization", x, values, ("gamma", "beta", "mean", "var"), eps)
    return FixedBatchNormalization(eps).apply((x, *values))[0]
