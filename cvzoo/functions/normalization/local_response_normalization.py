"""Local response normalization: by neighboring channels."""

from typing import Any

from cvzoo.autodiff.function_node import FunctionNode
from cvzoo.autodiff.variable import Variable, as_variable
from cvzoo.backends.dispatch import backend_of
from cvzoo.backends.float_types import is_float
from cvzoo.errors.exceptions import DtypeError, ShapeError, ValueRangeError
from cvzoo.functions.math.arithmetic import add, multiply
from cvzoo.functions.math.power import power
from cvzoo.typing.aliases import Array


class LocalResponseNormalization(FunctionNode):
    def __init__(self, n: int, k: float, alpha: float, beta: float):
        self._settings: dict[str, Any] = {"n": n, "k": k, "alpha": alpha, "beta": beta}

    def forward(self, inputs: tuple[Array, ...]) -> tuple[Array, ...]:
        (x,) = inputs
        self.retain_inputs((0,))
        return (backend_of(x).local_response_norm(x, **self._settings),)

    def backward(self, indexes: tuple[int, ...], gys: tuple[Variable, ...]) -> tuple[Variable | None, ...]:
        (x,) = self.get_retained_inputs()
        return LocalResponseNormalizationGrad(self._settings).apply((x, gys[0]))


class LocalResponseNormalizationGrad(FunctionNode):
    """x, gy to gx."""

    def __init__(self, settings: dict[str, Any]):
        self._settings = settings

    def forward(self, inputs: tuple[Array, ...]) -> tuple[Array, ...]:
        x, gy = inputs
        self.retain_inputs((0, 1))
        return (backend_of(x).local_response_norm_grad(gy, x, **self._settings),)

    def backward(self, indexes: tuple[int, ...], gys: tuple[Variable, ...]) -> tuple[Variable | None, ...]:
        """With s = k + alpha * W(x * x), W the sum over channels around, W' its transpose and c = 2 * alpha * beta,

            gx = gy * s**-beta - c * x * W'(gy * x * s**(-beta - 1))

        and the inner product of that with ggx is differentiated by hand.
        """
        x, gy = self.get_retained_inputs()
        (ggx,) = gys
        n, k, alpha, beta = (self._settings[name] for name in ("n", "k", "alpha", "beta"))
        below, above = n // 2, n - 1 - n // 2
        c = 2 * alpha * beta

        def around(v: Variable) -> Variable:
            return ChannelWindowSum(below, above).apply((v,))[0]

        def around_turned(v: Variable) -> Variable:
            # the transpose of a window that is not centered, if n is even, extends to the other side
            return ChannelWindowSum(above, below).apply((v,))[0]

        s = add(multiply(around(multiply(x, x)), alpha), k)
        s0, s1 = power(s, -beta), power(s, -beta - 1)
        q = around(multiply(x, ggx))
        grads = []
        for i in indexes:
            if i == 1:
                grads.append(add(multiply(ggx, s0), multiply(multiply(multiply(q, x), s1), -c)))
                continue
            direct = add(multiply(ggx, around_turned(multiply(multiply(gy, x), s1))), multiply(multiply(q, gy), s1))
            s2 = power(s, -beta - 2)
            g_s = add(
                multiply(multiply(multiply(ggx, gy), s1), -beta),
                multiply(multiply(multiply(multiply(q, gy), x), s2), c * (beta + 1)),
            )
            through_s = multiply(multiply(x, around_turned(g_s)), 2 * alpha)
            grads.append(add(multiply(direct, -c), through_s))
        return tuple(grads)


class ChannelWindowSum(FunctionNode):
    """For each channel the sum of x (B, C, H, W) over the channels from `below` under it to `above` over it."""

    in_float32 = True

    def __init__(self, below: int, above: int):
        self._below = below
        self._above = above

    def forward(self, inputs: tuple[Array, ...]) -> tuple[Array, ...]:
        (x,) = inputs
        y = backend_of(x).empty(x.shape, x.dtype)
        y[...] = x
        for d in range(1, min(self._below, x.shape[1] - 1) + 1):
            y[:, d:] += x[:, :-d]
        for d in range(1, min(self._above, x.shape[1] - 1) + 1):
            y[:, :-d] += x[:, d:]
        return (y,)

    def backward(self, indexes: tuple[int, ...], gys: tuple[Variable, ...]) -> tuple[Variable | None, ...]:
        return ChannelWindowSum(self._above, self._below).apply(gys)


def local_response_normalization(
    x: Variable | Array, n: int = 5, k: float = 2, alpha: float = 1e-4, beta: float = 0.75
) -> Variable:
    """x / (k + alpha * s) ** beta, where s is the sum of squares over the n channels around.

    x: (B, C, H, W)
    n: an even n takes one more channel below than above
    Raises ShapeError if x is not 4-D, DtypeError if it is not floating, ValueRangeError if n or k is not positive.
    Source: Krizhevsky, Sutskever and Hinton, "ImageNet Classification with Deep Convolutional Neural Networks", 2012;
    alpha is not divided by n, as in the paper (Caffe divides).
    """
    x = as_variable(x)
    if x.ndim != 4:
        raise ShapeError("local_response_normalization: x must be 4-D", expected="(B, C, H, W)", got=x.shape)
    if not is_float(x.dtype):
        raise DtypeError("local_response_normalization: x must be floating", got=x.dtype, hint="x.astype('float32')")
    if n < 1 or k <= 0:
        raise ValueRangeError("local_response_normalization: n and k must be positive", got=f"n={n}, k={k}")
    return LocalResponseNormalization(n, k, alpha, beta).apply((x,))[0]
