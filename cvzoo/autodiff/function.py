"""Functions in the style of 2015: `backward` on plain arrays, differentiable once."""

from collections.abc import Callable
from typing import Any

from cvzoo.autodiff.function_node import FunctionNode
from cvzoo.autodiff.type_check import ArrayTypes
from cvzoo.autodiff.variable import Variable, make_output
from cvzoo.backends.arrays import of_device
from cvzoo.config.switches import switches
from cvzoo.errors.exceptions import DtypeError, GraphError
from cvzoo.typing.aliases import Array


class Function:
    """A function of arrays with a hand-written derivative: write `forward_cpu` and `backward_cpu`, then call it.

    `forward_cpu(inputs)` and `backward_cpu(inputs, grad_outputs)` take and return tuples of arrays. All inputs are
    kept until the backward is done. For second derivatives derive from FunctionNode instead.
    """

    def __call__(self, *inputs: Variable | Array) -> Variable | tuple[Variable, ...]:
        """The output as a Variable, or a tuple of Variables if there are several."""
        outputs = _Adapter(self).apply(inputs)
        return outputs[0] if len(outputs) == 1 else outputs

    def forward(self, inputs: tuple[Array, ...]) -> tuple[Array, ...]:
        """The outputs; by default `forward_cpu`."""
        return of_device(inputs, self.forward_cpu, self.forward_gpu)(inputs)

    def backward(self, inputs: tuple[Array, ...], grad_outputs: tuple[Array | Any, ...]) -> tuple[Array | Any, ...]:
        """The gradients of all inputs (None where there is none); by default `backward_cpu`."""
        return of_device(inputs, self.backward_cpu, self.backward_gpu)(inputs, grad_outputs)

    def forward_cpu(self, inputs: tuple[Array, ...]) -> tuple[Array, ...]:
        raise GraphError(f"{type(self).__name__} has no forward_cpu", hint="write forward_cpu(self, inputs)")

    def backward_cpu(self, inputs: tuple[Array, ...], grad_outputs: tuple[Array | Any, ...]) -> tuple[Array | Any, ...]:
        raise GraphError(f"{type(self).__name__} has no backward_cpu", hint="write backward_cpu(self, inputs, grads)")

    def forward_gpu(self, inputs: tuple[Array, ...]) -> tuple[Array, ...]:
        raise GraphError(f"{type(self).__name__} has no forward_gpu")

    def backward_gpu(self, inputs: tuple[Array, ...], grad_outputs: tuple[Array | Any, ...]) -> tuple[Array | Any, ...]:
        raise GraphError(f"{type(self).__name__} has no backward_gpu")

    # checks the inputs' types before `forward`, where a class has it: see `type_check`
    check_type_forward: Callable[[ArrayTypes], None] | None = None


class _Adapter(FunctionNode):
    def __init__(self, function: Function):
        self.function = function
        if function.check_type_forward is not None:
            self.check_type_forward = function.check_type_forward

    @property
    def label(self) -> str:
        return type(self.function).__name__

    def forward(self, inputs: tuple[Array, ...]) -> tuple[Array, ...]:
        self.retain_inputs(range(len(inputs)))
        return self.function.forward(inputs)

    def backward(
        self, target_input_indexes: tuple[int, ...], grad_outputs: tuple[Variable | None, ...]
    ) -> tuple[Variable | None, ...]:
        if switches.enable_backprop:
            raise GraphError(
                f"{self.label} is written with arrays and cannot be differentiated twice",
                hint="derive from cvzoo.FunctionNode and write backward with cvzoo.functions",
            )
        inputs = tuple(x.array for x in self.get_retained_inputs())
        gys = tuple(None if gy is None else gy.array for gy in grad_outputs)
        gxs = self.function.backward(inputs, gys)
        if not isinstance(gxs, tuple) or len(gxs) != len(inputs):
            raise DtypeError(
                f"{self.label}: backward must return a tuple with one gradient for each input, or None for some",
                expected=f"{len(inputs)} gradients",
                got=f"{len(gxs)} gradients" if isinstance(gxs, tuple) else type(gxs).__name__,
            )
        return tuple(None if gxs[i] is None else make_output(gxs[i], False) for i in target_input_indexes)
