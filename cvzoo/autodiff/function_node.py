"""The application of a function: the node of the graph between its inputs and its outputs."""

import contextlib
import itertools
import weakref
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from cvzoo.autodiff.changes import effects
from cvzoo.autodiff.function_hook import AbstractFunctionHook, this_thread
from cvzoo.autodiff.type_check import ArrayTypes, types_of
from cvzoo.autodiff.variable import Variable, make_output, variable_of
from cvzoo.autodiff.variable_node import VariableNode
from cvzoo.backends.arrays import of_device
from cvzoo.backends.device import device_of, on_device_of
from cvzoo.backends.float_types import is_float, is_half, rounded, widened
from cvzoo.config.switches import switches
from cvzoo.errors.exceptions import DtypeError, GraphError
from cvzoo.typing.aliases import Array

Variables = tuple[Variable, ...]
_NO_GRADIENTS = itertools.repeat(False)


class FunctionNode:
    """Base class of differentiable functions: implement `forward` and `backward`, then call `apply`.

    `forward(inputs)` takes a tuple of arrays and returns a tuple of arrays. No array is kept for `backward` unless
    `forward` calls `retain_inputs` / `retain_outputs`: other arrays are freed as soon as the user drops them.

    `backward(target_input_indexes, grad_outputs)` takes and returns Variables and is made of differentiable functions,
    so that it can be differentiated again. It returns one gradient (or None) for each of `target_input_indexes`;
    a gradient in `grad_outputs` is None where the output had no part in the result.

    A node is applied once. Source: Chainer's contract (Tokui et al., KDD 2019, section 3.1).
    """

    # None until `apply` records the graph; typed as it is there, where each backward pass reads it
    inputs: tuple[VariableNode, ...] = None  # type: ignore[assignment]
    outputs: tuple["weakref.ref[VariableNode]", ...] = None  # type: ignore[assignment]
    rank = 0
    crosses_devices = False  # whether its inputs may be on different devices
    # the array that `forward` changes in place, if any: recorded graphs must repeat the change
    effect: Array | None = None
    # checks the inputs' types before `forward`, where a class has it: Chainer's, see `type_check`
    check_type_forward: Callable[[ArrayTypes], None] | None = None
    _retained_inputs: dict[int, Array] = None  # type: ignore[assignment]
    _retained_outputs: dict[int, Array] = None  # type: ignore[assignment]
    in_float32 = False  # `forward` has no 16-bit kernel: its inputs are widened to float32 and its outputs rounded
    _input_indexes: Sequence[int] = ()
    _output_indexes: Sequence[int] = ()

    @property
    def label(self) -> str:
        """The name in graphs and error messages."""
        return type(self).__name__

    def forward(self, inputs: tuple[Array, ...]) -> tuple[Array, ...]:
        """The outputs of the inputs; by default `forward_cpu` or `forward_gpu`, by where the arrays are."""
        return of_device(inputs, self.forward_cpu, self.forward_gpu)(inputs)

    def forward_cpu(self, inputs: tuple[Array, ...]) -> tuple[Array, ...]:
        """The outputs of numpy.ndarray inputs."""
        raise GraphError(f"{self.label} has no forward", hint="write forward(self, inputs) -> tuple of arrays")

    def forward_gpu(self, inputs: tuple[Array, ...]) -> tuple[Array, ...]:
        """The outputs of arrays of a GPU."""
        raise GraphError(f"{self.label} has no forward for GPU arrays")

    def backward(
        self, target_input_indexes: tuple[int, ...], grad_outputs: tuple["Variable | Any", ...], /
    ) -> tuple[Variable | None, ...]:
        """The gradients of the inputs with these indexes."""
        raise GraphError(f"{self.label} is not differentiable", hint="write backward(self, indexes, grad_outputs)")

    def retain_inputs(self, indexes: Sequence[int]) -> None:
        """Called in `forward`: keep these inputs' arrays for `backward`."""
        self._input_indexes = indexes

    def retain_outputs(self, indexes: Sequence[int]) -> None:
        """Called in `forward`: keep these outputs' arrays for `backward`."""
        self._output_indexes = indexes

    def get_retained_inputs(self) -> Variables:
        """Called in `backward`: the retained inputs as Variables, in the order of `retain_inputs`."""
        if not switches.enable_backprop:  # backward itself will not be differentiated: its values need no graph nodes
            nodes, arrays = self.inputs, self._retained_inputs
            return tuple([make_output(arrays[i], nodes[i].requires_grad) for i in self._input_indexes])
        return tuple(variable_of(self.inputs[i], self._retained_inputs[i]) for i in self._input_indexes)

    def get_retained_outputs(self) -> Variables:
        """Called in `backward`: the retained outputs as Variables, in the order of `retain_outputs`."""
        if not switches.enable_backprop:
            return tuple([make_output(self._retained_outputs[i], True) for i in self._output_indexes])
        variables = []
        for i in self._output_indexes:
            node = self.outputs[i]()
            array = self._retained_outputs[i]
            if node is None:  # the user dropped the output: a new node, so that it can be differentiated
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

    def apply(self, inputs: Sequence["Variable | Array | Any"]) -> Variables:
        """The outputs as Variables; the graph is recorded if config.enable_backprop and an input requires a gradient.

        inputs: Variables or arrays
        Raises GraphError if this node was applied before.
        """
        if self.inputs is not None:
            raise GraphError(f"{self.label} is applied twice", hint="make a new node for every application")
        requires_grad = False
        values = []
        all_on_cpu = True
        for x in inputs:
            if isinstance(x, Variable):
                if x._array is None:
                    raise GraphError(
                        f"{self.label}: the parameter {x.name or ''} has no value yet",
                        hint="call the layer once with an input, or parameter.initialize(shape)",
                    )
                values.append(x._array)
                requires_grad = requires_grad or x._requires_grad
            else:
                values.append(x)
            all_on_cpu = all_on_cpu and type(values[-1]) is np.ndarray
        arrays = tuple(values)
        if self.check_type_forward is not None:
            self.check_type_forward(types_of(arrays))
        hooks = this_thread.hooks
        if all_on_cpu:
            if hooks:
                results = self._forward_between(hooks, arrays)
            else:  # inlined, since a further call costs every function half a microsecond
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
        outputs, references = [], []
        for y in results:
            variable = make_output(y, y.dtype.kind == "f" or is_float(y.dtype))
            outputs.append(variable)
            node = variable.node
            node.creator = self
            node.rank = rank + 1
            # weak, since the node references this function: a cycle would keep arrays until the garbage collector runs
            references.append(weakref.ref(node))
        variables = tuple(outputs)
        self.outputs = tuple(references)
        if self._input_indexes:
            retained = self._retained_inputs = {}
            for i in self._input_indexes:
                retained[i] = arrays[i]
        if self._output_indexes:
            retained = self._retained_outputs = {}
            for i in self._output_indexes:
                retained[i] = variables[i]._array
        for hook in hooks:
            hook.outputs_made(self, variables)
        return variables

    def _on_device(self, arrays: tuple[Array, ...]) -> contextlib.AbstractContextManager:
        """The device of the arrays, at least one of them on a GPU, as a context. Raises DtypeError if they differ."""
        devices = {device_of(array) for array in arrays if np.ndim(array)}
        if len(devices) > 1 and not self.crosses_devices:
            raise DtypeError(
                f"{self.label}: its inputs are on different devices",
                got=", ".join(device_of(array).name for array in arrays),
                hint='model.to_device("gpu:0"), functions.copy(x, "gpu:0")',
            )
        return on_device_of(*arrays)

    def results_of(self, arrays: tuple[Array, ...]) -> tuple[Array, ...]:
        """The results of `forward`; where it has only a float32 kernel (`in_float32`), of 16-bit floats, too."""
        if not self.in_float32:
            return self.forward(arrays)
        try:
            halves = [x.dtype for x in arrays if is_half(x.dtype)]
        except AttributeError:  # an argument is not an array: `forward` raises the better error
            halves = []
        if not halves:
            return self.forward(arrays)
        results = self.forward(tuple([widened(x) for x in arrays]))
        return tuple([rounded(y, halves[0]) if y.dtype == "float32" else y for y in results])

    def _forward_between(self, hooks: Sequence[AbstractFunctionHook], arrays: tuple[Array, ...]) -> tuple[Array, ...]:
        for hook in hooks:
            hook.forward_preprocess(self, arrays)
        try:
            return self.results_of(arrays) if self.in_float32 else self.forward(arrays)
        finally:
            for hook in reversed(hooks):
                hook.forward_postprocess(self, arrays)

    def retained_arrays(self) -> tuple[Array, ...]:
        """The arrays retained for `backward`, inputs first."""
        inputs, outputs = self._retained_inputs or {}, self._retained_outputs or {}
        return (*inputs.values(), *outputs.values())

    def unchain(self) -> None:
        """Cut this node out of the graph and drop the retained arrays."""
        if self.outputs is not None:
            for reference in self.outputs:
                node = reference()
                if node is not None:
                    node.unchain()
        self.inputs = ()
        self._retained_inputs = self._retained_outputs = None  # type: ignore[assignment]
