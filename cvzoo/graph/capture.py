"""Capture of one eager call, forward or forward and backward, as a graph of functions."""

import contextlib
import operator
import time
import weakref
from collections.abc import Callable, Collection
from typing import Any

import numpy as np

from cvzoo.autodiff.backprop import sweep
from cvzoo.autodiff.function_hook import AbstractFunctionHook
from cvzoo.autodiff.function_node import FunctionNode
from cvzoo.autodiff.parameter import Parameter
from cvzoo.autodiff.variable import Variable, make_output
from cvzoo.autodiff.variable_node import VariableNode
from cvzoo.backends.device import device_of
from cvzoo.config.randomness import get_random_state
from cvzoo.functions.math.add import Add
from cvzoo.functions.util.forget import Forget
from cvzoo.graph.gradient_of import GradientOf
from cvzoo.graph.hidden import arrays_in
from cvzoo.graph.idle_pass import idle_pass
from cvzoo.graph.memory import Area, Roots, address_of, view_at
from cvzoo.graph.readers import WatchedVariable, recording
from cvzoo.graph.records import Graph, Record
from cvzoo.graph.trees import flatten, unflatten


class SharedView(FunctionNode):
    """A view of x that was created outside of the autodiff functions."""

    def __init__(self, offset: int, like: np.ndarray):
        self._offset = offset
        self._like = like.shape, like.strides, like.dtype

    def forward(self, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
        (x,) = inputs
        return (view_at(x, address_of(x) + self._offset, *self._like),)


class _Alive:
    """The current and the peak number of live bytes, tracked by weak references to the arrays."""

    def __init__(self) -> None:
        self.nbytes = self.peak = 0
        self._seen: dict[int, tuple[Any, int]] = {}  # weak references, which know not what they hash, and sizes
        self._dead: list[Any] = []  # the references of arrays that went since the last one came

    def grow(self, root: Any, nbytes: int) -> None:
        while self._dead:
            self.nbytes -= self._seen.pop(id(self._dead.pop()))[1]
        self.nbytes += nbytes
        if self.nbytes > self.peak:
            self.peak = self.nbytes
        reference = weakref.ref(root, self._dead.append)
        self._seen[id(reference)] = reference, nbytes


class Capture(AbstractFunctionHook):
    """A function hook that captures a call in `graph`: `follow` the forward pass, `learn` forward and backward.

    seen: reasons why the call cannot be replayed, such as reads of values by Python code
    peak: the peak memory of the functions' results, bytes
    leaves: the parameters whose gradients `learn` computed, in the order of the graph's last outputs
    wanted: indexes of the argument arrays whose gradients it computed; these come before the parameters'
    differentiable: indexes of the result arrays that depend on parameters or on such arguments
    seeds: indexes of those whose gradients were given; given: these gradients
    is_random: whether random numbers were drawn
    depth: the nesting depth of the functions' `forward` at the moment
    before: arrays that functions changed in place, with copies of their previous values, by `id`
    in_backward: whether gradients are being computed at the moment
    is_idle: to be set before `learn`: kernels do not run, so that all values are undefined (see `idle_pass`)
    """

    def __init__(self) -> None:
        self.is_idle = False
        self.graph = Graph()
        self.seen: list[str] = []
        self._alive = _Alive()
        self._roots = Roots()
        self._values: dict[Area, int] = {}
        self._seen_arrays: dict[
            int, tuple[Any, Area]
        ] = {}  # by `id`, with a weak reference: where functions' arrays lie
        self._firsts: dict[int, tuple[int, int]] = {}  # of a memory that changes: its first value, and where that lies
        self._handles: list[weakref.ref[Variable]] = []
        self._held: list[Any] = []
        self.depth = 0
        self.leaves: list[Parameter] = []
        self.wanted: list[int] = []
        self.differentiable: list[int] = []
        self.seeds: list[int] = []
        self.given: list[np.ndarray] = []
        self.is_random = False
        self._learns = False
        self.in_backward = False
        self._backward_depth = 0
        self._stripped: set[int] = set()  # records, by `id`, whose functions keep no arrays alive any more
        # by `id` of the records of the backward at hand: the arrays that their functions had before they ran
        self._given_arrays: dict[int, dict[str, np.ndarray]] = {}
        self._records: dict[int, Record] = {}  # by the function's id, which lives as long as the record
        self.before: dict[int, tuple[np.ndarray, np.ndarray]] = {}  # arrays that functions changed, as they were

    def follow(self, call: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Returns the result of the call; the inputs of `graph` are the arrays of `args` and `kwargs`, in order.

        Raises NotATreeError if arguments or results contain unsupported types.
        """
        result, outputs, _ = self._forward(call, args, kwargs)
        self.graph.outputs = tuple([self._value_of(_array_of(y)) for y in outputs])
        self._held.clear()
        return result

    def learn(
        self,
        call: Callable[..., Any],
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        *,
        without: frozenset[int] = frozenset(),
    ) -> tuple[Any, list[np.ndarray]]:
        """Returns the result of the call and its gradients, for random output gradients.

        without: indexes of the results that get no gradients

        The graph's inputs are the arrays of `args` and `kwargs`, then the gradients that were drawn (`seeds`); its
        outputs the results, then the gradients of those Variables among the arguments that ask for them (`wanted`),
        then those of parameters (`leaves`).
        Raises NotATreeError if arguments or results contain unsupported types.
        """
        with idle_pass(self) if self.is_idle else contextlib.nullcontext():
            return self._learn(call, args, kwargs, without)

    def _learn(
        self, call: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any], without: frozenset[int]
    ) -> tuple[Any, list[np.ndarray]]:
        graph = self.graph
        self._learns = True
        before = get_random_state()
        result, outputs, sources = self._forward(call, args, kwargs)
        self.is_random = before != get_random_state()
        graph.n_input, graph.n_output = len(graph.inputs), len(outputs)
        values = [self._value_of(_array_of(y)) for y in outputs]
        seeds: dict[VariableNode, Variable] = {}
        generator = np.random.default_rng(0)
        for k, y in enumerate(outputs):
            if not isinstance(y, Variable) or not y.requires_grad:
                continue
            if y.creator is None:
                self.seen.append("what gives back its argument, or a parameter, as it is")
                continue
            self.differentiable.append(k)
            if k in without:
                continue
            # in the order of what it belongs to, as most losses give it
            gy = _drawn_like(y._array, generator)
            self.given.append(gy)
            self.seeds.append(k)
            graph.inputs += (self._new_value(gy),)
            self.in_backward = True
            if y.node in seeds:  # one value given back twice
                before = seeds[y.node]._array
                total = before + gy
                self._held.append(total)
                self.gradients_added(before, gy, total)
                seeds[y.node] = make_output(total, False)
            else:
                seeds[y.node] = make_output(gy, False)
            self.in_backward = False
        gradients = self._backward(seeds)
        places = {variable.node: k for k, variable in sources.items() if variable.requires_grad}
        found = {}
        for node, gradient in gradients.items():
            leaf = node.variable()
            if node in places:
                found[places[node]] = gradient
            elif isinstance(leaf, Parameter):
                self.leaves.append(leaf)
            elif leaf is not None:
                self.seen.append("what takes gradients of a Variable that is no parameter")
        self.wanted = sorted(found)
        arrays = [found[k]._array for k in self.wanted] + [gradients[leaf.node]._array for leaf in self.leaves]
        graph.outputs = (*values, *[self._value_of(array) for array in arrays])
        self._held.clear()
        return result, arrays

    @property
    def peak(self) -> int:
        return self._alive.peak

    def undo(self) -> None:
        """Restore the arrays that functions changed in place."""
        for array, before in self.before.values():
            array[...] = before

    def _forward(
        self, call: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> tuple[Any, list[Any], dict[int, Variable]]:
        """The result of the call, its arrays and Variables, and the arguments' Variables by index."""
        leaves: list[Any] = []
        structure = flatten((args, kwargs), leaves)
        arrays = [_array_of(x) for x in leaves]
        numbers = []
        for array in arrays:
            self._held.append(array)
            numbers.append(self._new_value(array))
        self.graph.inputs = tuple(numbers)
        sources = {
            k: make_output(x._array, x.requires_grad and self._learns)
            for k, x in enumerate(leaves)
            if isinstance(x, Variable)
        }
        own = [self._watch(sources[k]) if k in sources else array for k, array in enumerate(arrays)]
        own_args, own_kwargs = unflatten(structure, iter(own), lambda variable: variable)
        before, recording.capture = recording.capture, self
        outputs: list[Any] = []
        try:
            with self:
                result = call(*own_args, **own_kwargs)
                flatten(result, outputs)
                # numbers that are held in fewer bits are made now, by a function that is recorded, too
                self._held += [each._array for each in outputs if isinstance(each, Variable)]
        finally:
            recording.capture = before
            for handle in self._handles:
                variable = handle()
                if variable is not None:
                    variable.__class__ = Variable
        return result, outputs, sources

    def _backward(self, seeds: dict[VariableNode, Variable]) -> dict[VariableNode, Variable]:
        """The gradients of all leaves."""
        found: dict[VariableNode, Variable] = {}

        def finish(node: VariableNode, gradient: Variable) -> None:
            if node.creator is None and node not in seeds and node.requires_grad:
                found[node] = gradient

        self.in_backward = True
        with self:
            release = not _lie_behind_others(seeds)
            sweep(list(seeds.items()), finish=finish, double=False, make=make_output, release=release)
        for record in self.graph.records:  # what was not reached keeps nothing alive, either
            if id(record) not in self._stripped:
                self._strip(record)
        return found

    # --- as a hook --------------------------------------------------------------------------------------------------
    def forward_preprocess(self, function: FunctionNode, in_data: tuple[Any, ...]) -> None:
        self.depth += 1
        if self.depth == 1:
            self._settings = dict(vars(function))
            effect = function.effect
            if effect is not None and id(effect) not in self.before:
                self.before[id(effect)] = effect, effect.copy()
            self._start = time.perf_counter()

    def forward_postprocess(self, function: FunctionNode, in_data: tuple[Any, ...]) -> None:
        self.depth -= 1
        if self.depth == 0:
            self._seconds = time.perf_counter() - self._start
            self._inputs = in_data

    def outputs_made(self, function: FunctionNode, outputs: tuple[Variable, ...]) -> None:
        if self.depth:
            return  # a function inside of a function
        reads = []
        for x in self._inputs:  # mostly what a function before has made: known without another look at its memory
            seen = self._seen_arrays.get(id(x))
            number = None
            if seen is not None and seen[0]() is x and seen[1][2:4] == (x.shape, x.strides):
                number = self._values.get(seen[1])
            reads.append(self._value_of(x) if number is None else number)
        self._inputs = ()
        record = Record(function, tuple(reads), (), self._settings, self._seconds, in_backward=self.in_backward)
        before: dict[str, np.ndarray] = {}
        after: dict[str, np.ndarray] = {}
        if self._learns:
            settings, now = self._settings, vars(function)
            after = arrays_in(now)
            if not all(map(operator.is_, settings.values(), now.values())):
                before = arrays_in(settings)
            elif after:  # the forward only added attributes
                before = {path: array for path, array in after.items() if path.split(".")[0] in settings}
            if before:
                record.hidden_reads = self._known_arrays(before)
                if self.in_backward:
                    self._given_arrays[id(record)] = before
        writes = []
        for y in outputs:
            writes.append(self._new_value(y._array))
            if not self.in_backward and type(y) is Variable:
                self._watch(y)
        record.writes = tuple(writes)
        if self._learns:
            if after:
                record.hidden_writes = self._new_arrays(record, before, after)
            if isinstance(function, Forget):
                self.seen.append("gradient checkpointing")
        self.graph.records.append(record)
        self._records[id(function)] = record

    def backward_preprocess(self, function: FunctionNode, target_input_indexes: Any, grad_outputs: Any) -> None:
        if not self.in_backward:
            self.seen.append("what takes gradients on the way")
        self._backward_depth += 1
        if self._backward_depth == 1:
            self._mark = len(self.graph.records), len(self.graph.constants)
            self._asked = target_input_indexes, grad_outputs
            self._given_arrays.clear()
            self._start_backward = time.perf_counter()

    def backward_postprocess(self, function: FunctionNode, target_input_indexes: Any, grad_outputs: Any) -> None:
        self._backward_depth -= 1

    def gradients_made(self, function: FunctionNode, grad_inputs: tuple[Variable | None, ...]) -> None:
        if self._backward_depth or not self.in_backward:
            return
        seconds = time.perf_counter() - self._start_backward
        made = self.graph.records[self._mark[0] :]
        if not self._is_whole(made, function, grad_inputs):
            self._as_one(function, grad_inputs, seconds)
        self._asked = (), ()
        self._given_arrays.clear()
        for record in self.graph.records[self._mark[0] :]:
            self._strip(record)
        if id(function) in self._records:
            self._strip(self._records[id(function)])

    def gradients_added(self, a: Any, b: Any, total: Any) -> None:
        reads = self._value_of(a), self._value_of(b)
        function = Add()
        record = Record(function, reads, (), dict(vars(function)), in_backward=self.in_backward)
        record.writes = (self._new_value(total),)
        self.graph.records.append(record)

    # --- backward ---------------------------------------------------------------------------------------------------
    def _is_whole(self, made: list[Record], function: FunctionNode, gxs: tuple[Variable | None, ...]) -> bool:
        """Whether the records cover the whole backward: they read nothing that was computed outside of functions."""
        if len(self.graph.constants) != self._mark[1]:
            return False
        own: set[int] | None = None
        for record in made:
            for path, array in self._given_arrays.get(id(record), {}).items():
                if path not in record.hidden_reads:
                    if own is None:
                        own = {id(each) for each in arrays_in(vars(function)).values()}
                    if id(array) not in own:
                        return False
        found = set()
        for gx in gxs:
            if gx is not None:
                found.add(self._roots.look(gx._array)[0])
        return found <= self._values.keys()

    def _as_one(self, function: FunctionNode, gxs: tuple[Variable | None, ...], seconds: float) -> None:
        """Replace the records of a backward by a single opaque record."""
        graph = self.graph
        forgotten = {*list(graph.constants)[self._mark[1] :]}  # they stand in the order in which they came
        for record in graph.records[self._mark[0] :]:
            forgotten.update(record.all_writes)
        if forgotten:
            del graph.records[self._mark[0] :]
            graph.constants = {k: array for k, array in graph.constants.items() if k not in forgotten}
            self._values = {area: number for area, number in self._values.items() if number not in forgotten}
            self._firsts = {owner: first for owner, first in self._firsts.items() if first[0] not in forgotten}
        indexes, gys = self._asked
        node = GradientOf(function, indexes, tuple([gy is not None for gy in gys]))
        arrays = [*function.retained_arrays(), *[gy._array for gy in gys if gy is not None]]
        reads = tuple([self._value_of(array) for array in arrays])
        hidden = self._known_arrays({f"of.{k}": array for k, array in arrays_in(vars(function)).items()})
        settings = {name: value for name, value in vars(node).items() if name != "of"}  # a record of its own says more
        record = Record(node, reads, (), settings, seconds, hidden, in_backward=True)
        record.writes = tuple([self._new_value(gx._array) for gx in gxs if gx is not None])
        graph.records.append(record)

    def _strip(self, record: Record) -> None:
        """Release the arrays that a record's function holds."""
        function = record.function
        self._stripped.add(id(record))
        if record.hidden_reads or record.hidden_writes:
            record.let_go()
            for path in (*record.hidden_reads, *record.hidden_writes):
                name = path.split(".")[0]
                if name in record.settings:
                    record.settings[name] = vars(function)[name]
        function._retained_inputs = function._retained_outputs = None  # type: ignore[assignment]
        if function.inputs:
            # it may know what its inputs looked like, and no longer who they are
            function.inputs = tuple([VariableNode(None, x.shape, x.dtype, x.requires_grad) for x in function.inputs])

    # --- values -----------------------------------------------------------------------------------------------------
    def _watch(self, variable: Variable) -> Variable:
        if type(variable) is Variable:
            variable.__class__ = WatchedVariable
            self._handles.append(weakref.ref(variable))
        return variable

    def _new_value(self, array: np.ndarray) -> int:
        number = self.graph.add_value(array)
        area, reference, _ = self._roots.look(array)
        self._values[area] = number
        self._seen_arrays[id(array)] = weakref.ref(array), area
        if area.owner not in self._firsts:
            self._firsts[area.owner] = number, area.offset
            if self.is_idle:  # nobody asks how much memory a pass takes that does not compute
                return number
            root = reference()
            try:
                self._alive.grow(root, array.nbytes)
            except TypeError:  # what cannot be referred to weakly
                self._held.append(root)
        return number

    def _value_of(self, array: np.ndarray) -> int:
        if isinstance(array, np.generic):
            array = np.asarray(array)
        area = self._roots.look(array)[0]
        self._seen_arrays[id(array)] = weakref.ref(array), area
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
        found = {}
        for path, array in arrays.items():
            area = self._roots.area(array)
            if area.owner in self._firsts:
                found[path] = self._value_of(array)
        return found

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


def _drawn_like(y: Any, generator: np.random.Generator) -> Any:
    gy = np.empty_like(y, order="K" if all(y.strides) else "C")
    gy[...] = device_of(y).asarray(generator.normal(size=gy.shape).astype(gy.dtype))
    return gy


def _array_of(x: Any) -> Any:
    return x._array if isinstance(x, Variable) else x


def _lie_behind_others(nodes: Collection[VariableNode]) -> bool:
    """Whether one of the nodes depends on another."""
    seen: set[VariableNode] = set()
    found = [x for node in nodes if node.creator is not None for x in node.creator.inputs]
    while found:
        node = found.pop()
        if node in nodes:
            return True
        if node not in seen:
            seen.add(node)
            found += node.creator.inputs if node.creator is not None else ()
    return False
