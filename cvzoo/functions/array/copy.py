"""Copies, also from one device to another."""

from cvzoo.autodiff.function_node import FunctionNode
from cvzoo.autodiff.variable import Variable
from cvzoo.backends.device import Device, device_of, get_device
from cvzoo.backends.dispatch import backend_of
from cvzoo.typing.aliases import Array


class Copy(FunctionNode):
    """x in memory of its own on `dst`, or on its own device if `dst` is None; the gradient goes the other way."""

    def __init__(self, dst: Device | None = None):
        self._dst = dst

    def forward(self, inputs: tuple[Array, ...]) -> tuple[Array, ...]:
        (x,) = inputs
        backend_of(x)
        self._src = device_of(x)
        if self._dst is None or self._dst == self._src:
            return (x.copy(order="K"),)
        return (self._dst.asarray(x),)

    def backward(self, indexes: tuple[int, ...], gys: tuple[Variable, ...]) -> tuple[Variable | None, ...]:
        if self._dst is None or self._dst == self._src:
            return gys
        return Copy(self._src).apply(gys)


def copy(x: Variable | Array, dst: str | int | Device | None = None) -> Variable:
    """The same values in memory of their own, laid out as x is; differentiable, so that a network may span devices.

    x: any shape and dtype, on any device
    dst: "cpu" or "gpu:0", the target device; None: the device of x
    Raises BackendError if there is no such device.
    Source: model parallelism as in Chainer's tutorial (Tokui et al., LearningSys 2015).
    """
    return Copy(None if dst is None else get_device(dst)).apply((x,))[0]
