"""A function's application: a place in the graph between its inputs and its outputs."""

import contextlib
import itertools
import weakref
from collections.abc import Sequence
from typing import Any

import numpy as np

from cvzoo.autodiff.effects import effects
from cvzoo.autodiff.function_hook import AbstractFunctionHook, this_thread
from cvzoo.autodiff.variable import Variable, make_output, variable_of
from cvzoo.autodiff.variable_node import VariableNode
from cvzoo.backends.device import device_of, on_device_of
from cvzoo.backends.float_types import is_float, is_half, rounded, widened
from cvzoo.config.switches import switches
from cvzoo.errors.exceptions import DtypeError, GraphError

Variables = tuple[Variable, ...]
_NO_GRADIENTS = itertools.repeat(False)


class FunctionNode:
    """What every differentiable function derives from: write `forward` and `backward`, then call `apply`.

    `forward(inputs)` takes a tuple of arrays and returns a tuple of arrays. Nothing is kept for `backward` unless it
    says so by `retain_inputs` / `retain_outputs`: what is not retained dies as soon as the user drops it.

    `backward(target_input_indexes, grad_outputs)` takes and returns Variables and is made of differentiable functions,
    so that it can be differentiated again. It returns one gradient (or None) for each of `target_input_indexes`;
    a gradient in `grad_outputs` is None where the output had no part in the result.

    A node is applied once. Source: Chainer's contract (Tokui et al., KDD 2019, section 3.1).
    """

    inputs: tuple[VariableNode, ...] | None = None
    outputs: tuple["weakref.ref[VariableNode]", ...] | None = None
    rank = 0
    crosses_devices = False  # whether its inputs may lie on different devices
    effect: Any = None  # the array that `forward` changes in place, where it does: who records functions must know
    _retained_inputs: dict[int, Any] | None = None
    _retained_outputs: dict[int, Any] | None = None
    in_float32 = False  # `forward` knows no 16-bit floats: it is given float32 for them, and its results are rounded
    _input_indexes: Sequence[int] = ()
    _output_indexes: Sequence[int] = ()

    @property
    def label(self) -> str:
        """What graphs and error messages call it."""
        return type(self).__name__

    def forward(self, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
        """The outputs of the inputs; by default `forward_cpu` or `forward_gpu`, by where the arrays are."""
        if all(isinstance(x, np.ndarray) for x in inputs):
            return self.forward_cpu(inputs)
        return self.forward_gpu(inputs)

    def forward_cpu(self, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
        """The outputs of numpy.ndarray inputs."""
        raise GraphError(f"{self.label} has no forward", hint="write forward(self, inputs) -> tuple of arrays")

    def forward_gpu(self, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
        """The outputs of arrays of a GPU."""
        raise GraphError(f"{self.label} has no forward for GPU arrays")

    def backward(self, target_input_indexes: tuple[int, ...], grad_outputs: tuple[Any, ...]) -> tuple[Any, ...]:
        """The gradients of the inputs asked for."""
        raise GraphError(f"{self.label} is not differentiable", hint="write backward(self, indexes, grad_outputs)")

    def retain_inputs(self, indexes: Sequence[int]) -> None:
        """Called in `forward`: keep these inputs' arrays for `backward`."""
        self._input_indexes = indexes

    def retain_outputs(self, indexes: Sequence[int]) -> None:
        """Called in `forward`: keep these outputs' arrays for `backward`."""
        self._output_indexes = indexes

    def get_retained_inputs(self) -> Variables:
        """Called in `backward`: the retained inputs as Variables, in the order they were asked for."""
        if not switches.enable_backprop:  # nobody will differentiate what backward does: no place in the graph needed
            nodes, arrays = self.inputs, self._retained_inputs
            return tuple([make_output(arrays[i], nodes[i].requires_grad) for i in self._input_indexes])
        return tuple(variable_of(self.inputs[i], self._retained_inputs[i]) for i in self._input_indexes)

    def get_retained_outputs(self) -> Variables:
        """Called in `backward`: the retained outputs as Variables, in the order they were asked for."""
        if not switches.enable_backprop:
            return tuple([make_output(self._retained_outputs[i], True) for i in self._output_indexes])
        variables = []
        for i in self._output_indexes:
            node = self.outputs[i]()
            array = self._retained_outputs[i]
            if node is None:  # nobody held the output; give it a node again so that it can be differentiated
                variable = make_output(array, True)
                node = variable.node
                node.creator = self
                node.rank = self.rank + 1
                references = list(self.outputs)
                references[i] = weakref.ref(node)
                self.outputs = tuple(references)
                variables.append(variable)
            else:
                variables.append(variable_of(node, array))
        return tuple(variables)

    def apply(self, inputs: Sequence[Any]) -> Variables:
        """The outputs as Variables, and the graph behind them if config.enable_backprop and an input asks for it.

        inputs: Variables or arrays
        Raises GraphError if this node was applied before.
        """
        if self.inputs is not None:
            raise GraphError(f"{self.label} is applied twice", hint="make a new node for every application")
        requires_grad = False
        arrays = []
        all_on_cpu = True
        for x in inputs:
            if isinstance(x, Variable):
                if x._array is None:
                    raise GraphError(
                        f"{self.label}: the parameter {x.name or ''} has no value yet",
                        hint="call the layer once with a photo, or parameter.initialize(shape)",
                    )
                arrays.append(x._array)
                requires_grad = requires_grad or x._requires_grad
            else:
                arrays.append(x)
            all_on_cpu = all_on_cpu and type(arrays[-1]) is np.ndarray
        arrays = tuple(arrays)
        hooks = this_thread.hooks
        if all_on_cpu:
            if hooks:
                results = self._forward_between(hooks, arrays)
            else:  # without another call where there is nothing to widen: it is done for every function
                results = self.results_of(arrays) if self.in_float32 else self.forward(arrays)
        else:
            with self._on_device(arrays):
                results = self._forward_between(hooks, arrays) if hooks else self.results_of(arrays)
        if self.effect is not None:
            effects.count += 1
        if type(results) is not tuple:
            raise DtypeError(f"{self.label}.forward must return a tuple", got=type(results).__name__, hint="return y,")
        if not (requires_grad and switches.enable_backprop):
            variables = tuple(map(make_output, results, _NO_GRADIENTS))
            for hook in hooks:
                hook.outputs_made(self, variables)
            return variables

        nodes = []
        rank = 0
        for x, array in zip(inputs, arrays):
            if isinstance(x, Variable):
                node = x._node or x.node
            else:
                node = VariableNode(None, array.shape, array.dtype, False)
            if node.rank > rank:
                rank = node.rank
            nodes.append(node)
        self.inputs = tuple(nodes)
        self.rank = rank
        variables = tuple([make_output(y, y.dtype.kind == "f" or is_float(y.dtype)) for y in results])
        references = []
        for variable in variables:
            node = variable.node
            node.creator = self
            node.rank = rank + 1
            references.append(weakref.ref(node))
        self.outputs = tuple(references)
        if self._input_indexes:
            self._retained_inputs = {i: arrays[i] for i in self._input_indexes}
        if self._output_indexes:
            self._retained_outputs = {i: variables[i]._array for i in self._output_indexes}
        for hook in hooks:
            hook.outputs_made(self, variables)
        return variables

    def _on_device(self, arrays: tuple[Any, ...]) -> contextlib.AbstractContextManager:
        """Raises DtypeError if the arrays, of which one at least is no numpy.ndarray, lie on different devices."""
        devices = {device_of(array) for array in arrays if np.ndim(array)}
        if len(devices) > 1 and not self.crosses_devices:
            raise DtypeError(
                f"{self.label}: its inputs lie on different devices",
                got=", ".join(device_of(array).name for array in arrays),
                hint='model.to_device("gpu:0"), functions.copy(x, "gpu:0")',
            )
        return on_device_of(*arrays)

    def results_of(self, arrays: tuple[Any, ...]) -> Any:
        """What `forward` gives; of 16-bit floats, too, where it knows float32 only (`in_float32`)."""
        if not self.in_float32:
            return self.forward(arrays)
        try:
            halves = [x.dtype for x in arrays if is_half(x.dtype)]
        except AttributeError:  # something is no array, which `forward` says better
            halves = []
        if not halves:
            return self.forward(arrays)
        results = self.forward(tuple([widened(x) for x in arrays]))
        return tuple([rounded(y, halves[0]) if y.dtype == "float32" else y for y in results])

    def _forward_between(self, hooks: Sequence[AbstractFunctionHook], arrays: tuple[Any, ...]) -> Any:
        for hook in hooks:
            hook.forward_preprocess(self, arrays)
        try:
            return self.results_of(arrays) if self.in_float32 else self.forward(arrays)
        finally:
            for hook in reversed(hooks):
                hook.forward_postprocess(self, arrays)

    def retained_arrays(self) -> tuple[Any, ...]:
        """What it keeps for `backward`, inputs first."""
        inputs, outputs = self._retained_inputs or {}, self._retained_outputs or {}
        return (*inputs.values(), *outputs.values())

    def unchain(self) -> None:
        """Cut this node out of the graph and let go of what it retained."""
        if self.outputs is not None:
            for reference in self.outputs:
                node = reference()
                if node is not None:
                    node.unchain()
        self.inputs = ()
        self._retained_inputs = self._retained_outputs = None
