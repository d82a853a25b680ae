"""Capture of one eager call, forward or forward and backward, as a graph of functions."""

import contextlib
import operator
import time
import weakref
from collections.abc import Callable, Collection
from typing import Any

import numpy as np

from cvzoo.autodiff.backprop import sweep
from cvzoo.autodiff.function_hook import AbstractFunctionHook, this_thread
from cvzoo.autodiff.function_node import FunctionNode
from cvzoo.autodiff.parameter import Parameter
from cvzoo.autodiff.variable import Variable, make_output
from cvzoo.autodiff.variable_node import VariableNode
from cvzoo.backends.device import device_of
from cvzoo.backends.memory_views import address_of, view_at
from cvzoo.config.randomness import get_random_state
from cvzoo.functions.math.arithmetic import Add
from cvzoo.functions.util.forget import Forget
from cvzoo.graph.gradient_of import GradientOf
from cvzoo.graph.hidden import arrays_in
from cvzoo.graph.idle_pass import idle_pass
from cvzoo.graph.memory import Area, Roots
from cvzoo.graph.readers import WatchedVariable, recording
from cvzoo.graph.records import Graph, Record
from cvzoo.graph.trees import flatten, unflatten
from cvzoo.typing.aliases import Array


class SharedView(FunctionNode):
    """A view of x that was created outside of the autodiff functions."""

    def __init__(self, offset: int, like: np.ndarray):
        self._offset = offset
        self._like = like.shape, like.strides, like.dtype

    def forward(self, inputs: tuple[Array, ...]) -> tuple[Array, ...]:
        (x,) = inputs
        return (view_at(x, address_of(x) + self._offset, *self._like),)


class _LiveBytes:
    """The current and the peak number of live bytes, tracked by weak references to the arrays."""

    def __init__(self) -> None:
        self.nbytes = self.peak = 0
        # weak references and sizes, by the reference's `id`: a reference to an array is not hashable
        self._sizes: dict[int, tuple[weakref.ref[Any], int]] = {}
        # references of arrays that were freed; handled at the next `grow`, as a callback may run at any moment
        self._dead: list[weakref.ref[Any]] = []

    def grow(self, root: object, nbytes: int) -> None:
        while self._dead:
            self.nbytes -= self._sizes.pop(id(self._dead.pop()))[1]
        self.nbytes += nbytes
        if self.nbytes > self.peak:
            self.peak = self.nbytes
        reference = weakref.ref(root, self._dead.append)
        self._sizes[id(reference)] = reference, nbytes


class Capture(AbstractFunctionHook):
    """A function hook that captures a call in `graph`: `follow` the forward pass, `capture_training` both passes.

    reasons: why the call cannot be replayed, such as reads of values by Python code
    peak: the peak memory of the functions' results, bytes
    leaves: the parameters that have gradients, in the order of the graph's last outputs
    grad_arguments: indexes of the argument arrays that have gradients; these come before the parameters'
    differentiable: indexes of the result arrays that depend on parameters or on such arguments
    seeds: indexes of the results that backpropagation starts from; seed_gradients: their gradients
    is_random: whether random numbers were drawn
    depth: the current nesting depth of the functions' `forward`
    overwritten: arrays that functions changed in place, with copies of their previous values, by `id`
    trains: whether both passes are captured; in_backward: whether gradients are being computed
    is_idle: to be set before the capture: heavy kernels do not run, so that values are undefined (see `idle_pass`)
    """

    def __init__(self) -> None:
        self.is_idle = False
        self.graph = Graph()
        self.reasons: list[str] = []
        self._alive = _LiveBytes()
        self._roots = Roots()
        self._values: dict[Area, int] = {}
        self._areas_by_id: dict[
            int, tuple[weakref.ref[Array], Area]
        ] = {}  # memory areas of functions' arrays, by `id`, with a weak reference
        self._firsts: dict[int, tuple[int, int]] = {}  # by the memory's owner: its first value, and that one's offset
        self._handles: list[weakref.ref[Variable]] = []
        self._held: list[object] = []
        self.depth = 0
        self.leaves: list[Parameter] = []
        self.grad_arguments: list[int] = []
        self.differentiable: list[int] = []
        self.seeds: list[int] = []
        self.seed_gradients: list[np.ndarray] = []
        self.is_random = False
        self.trains = False
        self.in_backward = False
        self._backward_depth = 0
        self._stripped: set[int] = set()  # records, by `id`, whose functions hold no arrays any more
        # by `id` of the records of the current backward: arrays among their functions' attributes before they ran
        self._arrays_before: dict[int, dict[str, np.ndarray]] = {}
        self._records: dict[int, Record] = {}  # by the `id` of the function, which the record keeps alive
        self.overwritten: dict[int, tuple[np.ndarray, np.ndarray]] = {}

    def follow(self, call: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Returns the result of the call; the inputs of `graph` are the arrays of `args` and `kwargs`, in order.

        Raises NotATreeError if arguments or results contain unsupported types.
        """
        with idle_pass(self) if self.is_idle else contextlib.nullcontext():
            result, outputs, _ = self._forward(call, args, kwargs)
        self.graph.outputs = tuple([self._value_of(_array_of(y)) for y in outputs])
        self._held.clear()
        return result

    def capture_training(
        self,
        call: Callable[..., Any],
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        *,
        without: frozenset[int] = frozenset(),
    ) -> tuple[Any, list[np.ndarray]]:
        """Returns the result of the call and its gradients, for random gradients of the results.

        without: indexes of the results that get no gradients

        The graph's inputs are the arrays of `args` and `kwargs`, then the random gradients (`seeds`); its outputs are
        the results, then the gradients of argument Variables that require them (`grad_arguments`), then those of
        parameters (`leaves`).
        Raises NotATreeError if arguments or results contain unsupported types.
        """
        with idle_pass(self) if self.is_idle else contextlib.nullcontext():
            return self._capture_training(call, args, kwargs, without)

    def _capture_training(
        self, call: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any], without: frozenset[int]
    ) -> tuple[Any, list[np.ndarray]]:
        graph = self.graph
        self.trains = True
        random_state = get_random_state()
        result, outputs, sources = self._forward(call, args, kwargs)
        self.is_random = random_state != get_random_state()
        graph.n_input, graph.n_output = len(graph.inputs), len(outputs)
        values = [self._value_of(_array_of(y)) for y in outputs]
        seeds: dict[VariableNode, Variable] = {}
        generator = np.random.default_rng(0)
        for k, y in enumerate(outputs):
            if not isinstance(y, Variable) or not y.requires_grad:
                continue
            if y.creator is None:
                self.reasons.append("what returns its argument, or a parameter, unchanged")
                continue
            self.differentiable.append(k)
            if k in without:
                continue
            # in the memory format of its result, which is that of most losses' gradients
            gy = _drawn_like(y._array, generator)
            self.seed_gradients.append(gy)
            self.seeds.append(k)
            graph.inputs += (self._new_value(gy),)
            self.in_backward = True
            if y.node in seeds:  # one value returned twice
                first = seeds[y.node]._array
                total = first + gy
                self._held.append(total)
                self.gradients_added(first, gy, total)
                seeds[y.node] = make_output(total, False)
            else:
                seeds[y.node] = make_output(gy, False)
            self.in_backward = False
        gradients = self._backward(seeds)
        arguments = {variable.node: k for k, variable in sources.items() if variable.requires_grad}
        of_arguments = {}
        for node, gradient in gradients.items():
            leaf = node.variable()
            if node in arguments:
                of_arguments[arguments[node]] = gradient
            elif isinstance(leaf, Parameter):
                self.leaves.append(leaf)
            elif leaf is not None:
                self.reasons.append("what takes gradients of a Variable that is no parameter")
        self.grad_arguments = sorted(of_arguments)
        arrays = [of_arguments[k]._array for k in self.grad_arguments]
        arrays += [gradients[leaf.node]._array for leaf in self.leaves]
        graph.outputs = (*values, *[self._value_of(array) for array in arrays])
        self._held.clear()
        return result, arrays

    @property
    def peak(self) -> int:
        return self._alive.peak

    def undo(self) -> None:
        """Restore the arrays that functions changed in place."""
        for array, values in self.overwritten.values():
            array[...] = values

    def _forward(
        self, call: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> tuple[Any, list[Variable | Array], dict[int, Variable]]:
        """The result of the call, the arrays and Variables in it, and the arguments' Variables by index."""
        leaves: list[Variable | Array] = []
        structure = flatten((args, kwargs), leaves)
        arrays = [_array_of(x) for x in leaves]
        numbers = []
        for array in arrays:
            self._held.append(array)
            numbers.append(self._new_value(array))
        self.graph.inputs = tuple(numbers)
        sources = {
            k: make_output(x._array, x.requires_grad and self.trains)
            for k, x in enumerate(leaves)
            if isinstance(x, Variable)
        }
        watched = [self._watch(sources[k]) if k in sources else array for k, array in enumerate(arrays)]
        watched_args, watched_kwargs = unflatten(structure, iter(watched), lambda variable: variable)
        outer, recording.capture = recording.capture, self
        outputs: list[Variable | Array] = []
        hooks = this_thread.hooks
        try:
            this_thread.hooks = (*hooks, self)  # Ctrl-C inside of `with self` would leave it active for good
            result = call(*watched_args, **watched_kwargs)
            flatten(result, outputs)
            # quantized Variables compute their float values on access, by a function that must be recorded
            self._held += [each._array for each in outputs if isinstance(each, Variable)]
        finally:
            this_thread.hooks = hooks
            recording.capture = outer
            for handle in self._handles:
                variable = handle()
                if variable is not None:
                    variable.__class__ = Variable
        return result, outputs, sources

    def _backward(self, seeds: dict[VariableNode, Variable]) -> dict[VariableNode, Variable]:
        """The gradients of all leaves."""
        gradients: dict[VariableNode, Variable] = {}

        def finish(node: VariableNode, gradient: Variable) -> None:
            if node.creator is None and node not in seeds and node.requires_grad:
                gradients[node] = gradient

        self.in_backward = True
        hooks = this_thread.hooks
        try:
            this_thread.hooks = (*hooks, self)
            release = not _has_dependencies(seeds)
            sweep(list(seeds.items()), finish=finish, double=False, make=make_output, release=release)
        finally:
            this_thread.hooks = hooks
        for record in self.graph.records:  # functions that backpropagation did not reach hold arrays, too
            if id(record) not in self._stripped:
                self._strip(record)
        return gradients

    # --- as a hook --------------------------------------------------------------------------------------------------
    def forward_preprocess(self, function: FunctionNode, in_data: tuple[Array, ...]) -> None:
        self.depth += 1
        if self.depth == 1:
            self._settings = dict(vars(function))
            effect = function.effect
            if effect is not None and id(effect) not in self.overwritten:
                self.overwritten[id(effect)] = effect, effect.copy()
            self._start = time.perf_counter()

    def forward_postprocess(self, function: FunctionNode, in_data: tuple[Array, ...]) -> None:
        self.depth -= 1
        if self.depth == 0:
            self._seconds = time.perf_counter() - self._start
            self._inputs = in_data

    def outputs_made(self, function: FunctionNode, outputs: tuple[Variable, ...]) -> None:
        if self.depth:
            return  # called by another function's `forward`
        reads = []
        for x in self._inputs:  # mostly outputs of earlier functions, whose areas are known
            known = self._areas_by_id.get(id(x))
            number = None
            # `id`s are reused: the weak reference shows that it is the same array, and its layout may be set anew
            if known is not None and known[0]() is x and known[1][2:4] == (x.shape, x.strides):
                number = self._values.get(known[1])
            reads.append(self._value_of(x) if number is None else number)
        self._inputs = ()
        record = Record(function, tuple(reads), (), self._settings, self._seconds, in_backward=self.in_backward)
        before: dict[str, np.ndarray] = {}
        after: dict[str, np.ndarray] = {}
        if self.trains:
            settings, now = self._settings, vars(function)
            after = arrays_in(now)
            if not all(map(operator.is_, settings.values(), now.values())):
                before = arrays_in(settings)
            elif after:  # the forward only added attributes
                before = {path: array for path, array in after.items() if path.split(".")[0] in settings}
            if before:
                record.hidden_reads = self._known_arrays(before)
                if self.in_backward:
                    self._arrays_before[id(record)] = before
        writes = []
        for y in outputs:
            writes.append(self._new_value(y._array))
            if not self.in_backward and type(y) is Variable:
                self._watch(y)
        record.writes = tuple(writes)
        if self.trains:
            if after:
                record.hidden_writes = self._new_arrays(record, before, after)
            if isinstance(function, Forget):
                self.reasons.append("gradient checkpointing")
        self.graph.records.append(record)
        self._records[id(function)] = record

    def backward_preprocess(
        self, function: FunctionNode, target_input_indexes: tuple[int, ...], grad_outputs: tuple[Variable | None, ...]
    ) -> None:
        if not self.in_backward:
            self.reasons.append("what takes gradients on the way")
        self._backward_depth += 1
        if self._backward_depth == 1:
            self._mark = len(self.graph.records), len(self.graph.constants)
            self._requested = target_input_indexes, grad_outputs
            self._arrays_before.clear()
            self._start_backward = time.perf_counter()

    def backward_postprocess(
        self, function: FunctionNode, target_input_indexes: tuple[int, ...], grad_outputs: tuple[Variable | None, ...]
    ) -> None:
        self._backward_depth -= 1

    def gradients_made(self, function: FunctionNode, grad_inputs: tuple[Variable | None, ...]) -> None:
        if self._backward_depth or not self.in_backward:
            return
        seconds = time.perf_counter() - self._start_backward
        new_records = self.graph.records[self._mark[0] :]
        if not self._is_complete(new_records, function, grad_inputs):
            self._replace_by_opaque(function, grad_inputs, seconds)
        self._requested = (), ()
        self._arrays_before.clear()
        for record in self.graph.records[self._mark[0] :]:
            self._strip(record)
        if id(function) in self._records:
            self._strip(self._records[id(function)])

    def gradients_added(self, a: Array, b: Array, total: Array) -> None:
        reads = self._value_of(a), self._value_of(b)
        function = Add()
        record = Record(function, reads, (), dict(vars(function)), in_backward=self.in_backward)
        record.writes = (self._new_value(total),)
        self.graph.records.append(record)

    # --- backward ---------------------------------------------------------------------------------------------------
    def _is_complete(self, new_records: list[Record], function: FunctionNode, gxs: tuple[Variable | None, ...]) -> bool:
        """Whether the records cover the whole backward: they read nothing that was computed outside of functions."""
        if len(self.graph.constants) != self._mark[1]:
            return False
        own_arrays: set[int] | None = None
        for record in new_records:
            for path, array in self._arrays_before.get(id(record), {}).items():
                if path not in record.hidden_reads:
                    if own_arrays is None:
                        own_arrays = {id(each) for each in arrays_in(vars(function)).values()}
                    if id(array) not in own_arrays:
                        return False
        areas = set()
        for gx in gxs:
            if gx is not None:
                areas.add(self._roots.locate(gx._array)[0])
        return areas <= self._values.keys()

    def _replace_by_opaque(self, function: FunctionNode, gxs: tuple[Variable | None, ...], seconds: float) -> None:
        """Replace the records of a backward by a single opaque record."""
        graph = self.graph
        removed = {*list(graph.constants)[self._mark[1] :]}  # dictionaries keep the order of insertion
        for record in graph.records[self._mark[0] :]:
            removed.update(record.all_writes)
        if removed:
            del graph.records[self._mark[0] :]
            graph.constants = {k: array for k, array in graph.constants.items() if k not in removed}
            self._values = {area: number for area, number in self._values.items() if number not in removed}
            self._firsts = {owner: first for owner, first in self._firsts.items() if first[0] not in removed}
        indexes, gys = self._requested
        node = GradientOf(function, indexes, tuple([gy is not None for gy in gys]))
        arrays = [*function.retained_arrays(), *[gy._array for gy in gys if gy is not None]]
        reads = tuple([self._value_of(array) for array in arrays])
        hidden = self._known_arrays({f"of.{k}": array for k, array in arrays_in(vars(function)).items()})
        # without `of`: the function has a record of its own, with its settings
        settings = {name: value for name, value in vars(node).items() if name != "of"}
        record = Record(node, reads, (), settings, seconds, hidden, in_backward=True)
        record.writes = tuple([self._new_value(gx._array) for gx in gxs if gx is not None])
        graph.records.append(record)

    def _strip(self, record: Record) -> None:
        """Release the arrays that a record's function holds."""
        function = record.function
        self._stripped.add(id(record))
        if record.hidden_reads or record.hidden_writes:
            record.release_arrays()
            for path in (*record.hidden_reads, *record.hidden_writes):
                name = path.split(".")[0]
                if name in record.settings:
                    record.settings[name] = vars(function)[name]
        function._retained_inputs = function._retained_outputs = None  # type: ignore[assignment]
        if function.inputs:
            # shapes and dtypes of its inputs remain, without references to the Variables and their graph
            function.inputs = tuple([VariableNode(None, x.shape, x.dtype, x.requires_grad) for x in function.inputs])

    # --- values -----------------------------------------------------------------------------------------------------
    def _watch(self, variable: Variable) -> Variable:
        if type(variable) is Variable:
            variable.__class__ = WatchedVariable
            self._handles.append(weakref.ref(variable))
        return variable

    def _new_value(self, array: np.ndarray) -> int:
        number = self.graph.add_value(array)
        area, reference, _ = self._roots.locate(array)
        self._values[area] = number
        self._areas_by_id[id(array)] = weakref.ref(array), area
        if area.owner not in self._firsts:
            self._firsts[area.owner] = number, area.offset
            if self.is_idle:  # a dry run's peak memory is not reported
                return number
            root = reference()
            try:
                self._alive.grow(root, array.nbytes)
            except TypeError:  # an object without weak references
                self._held.append(root)
        return number

    def _value_of(self, array: np.ndarray) -> int:
        if isinstance(array, np.generic):
            array = np.asarray(array)
        area = self._roots.locate(array)[0]
        self._areas_by_id[id(array)] = weakref.ref(array), area
        number = self._values.get(area)
        if number is None and area.owner in self._firsts:
            first, offset = self._firsts[area.owner]
            view = SharedView(area.offset - offset, array)
            number = self.graph.add_value(array)
            self.graph.records.append(Record(view, (first,), (number,), dict(vars(view))))
        elif number is None:
            number = self.graph.add_constant(array)
        self._values[area] = number
        return number

    def _known_arrays(self, arrays: dict[str, np.ndarray]) -> dict[str, int]:
        """The arrays whose memory belongs to an input or to a record's output."""
        known = {}
        for path, array in arrays.items():
            area = self._roots.area(array)
            if area.owner in self._firsts:
                known[path] = self._value_of(array)
        return known

    def _new_arrays(
        self, record: Record, before: dict[str, np.ndarray], after: dict[str, np.ndarray]
    ) -> dict[str, int]:
        """The arrays among a function's attributes that its forward assigned."""
        known = {*map(id, before.values())}
        return {
            path: self._new_value(array)
            for path, array in after.items()
            if id(array) not in known and self._roots.area(array).owner not in self._firsts
        }


def _drawn_like(y: Array, generator: np.random.Generator) -> Array:
    gy = np.empty_like(y, order="K" if all(y.strides) else "C")
    gy[...] = device_of(y).asarray(generator.normal(size=gy.shape).astype(gy.dtype))
    return gy


def _array_of(x: Variable | Array) -> Array:
    return x._array if isinstance(x, Variable) else x


def _has_dependencies(nodes: Collection[VariableNode]) -> bool:
    """Whether one of the nodes depends on another."""
    visited: set[VariableNode] = set()
    stack = [x for node in nodes if node.creator is not None for x in node.creator.inputs]
    while stack:
        node = stack.pop()
        if node in nodes:
            return True
        if node not in visited:
            visited.add(node)
            stack += node.creator.inputs if node.creator is not None else ()
    return False
