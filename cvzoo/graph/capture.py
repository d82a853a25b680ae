"""Recording one ordinary forward pass: each function with the arrays it read and made."""

import sys
import threading
import time
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np

from cvzoo.autodiff.function_hook import AbstractFunctionHook
from cvzoo.autodiff.function_node import FunctionNode
from cvzoo.autodiff.variable import Variable, make_output
from cvzoo.graph.memory import Area, Roots, address_of, root_of, view_at
from cvzoo.graph.records import Graph, Record
from cvzoo.graph.trees import flatten, unflatten

# who reads arrays there looks at their types, or computes the same from them again
_MAY_READ = ("cvzoo.functions.", "cvzoo.graph.", "cvzoo.backends.")
_PASSED_BY = "cvzoo.autodiff."


class _Reading(threading.local):
    capture: "Capture | None" = None


_reading = _Reading()


class _Watched(Variable):
    """A Variable that tells who reads its numbers: what Python does with them no replay would do again."""

    __slots__ = ()

    @property
    def array(self) -> Any:
        _note()
        return self._array

    @array.setter
    def array(self, array: Any) -> None:
        _note()
        Variable.array.fset(self, array)  # type: ignore[attr-defined]

    data = array

    def item(self) -> float | int | bool:
        _note()
        return Variable.item(self)


def _note() -> None:
    reader = reader_of_values()
    if reader is not None and _reading.capture is not None:
        _reading.capture.seen.append(reader)


def reader_of_values(*, in_functions: bool = True) -> str | None:
    """Who reads numbers now, in words: whoever called the caller's file; None if a replay would read them, too, or
    nobody records.

    in_functions: whether what a function's `forward` reads counts
    """
    capture = _reading.capture
    if capture is None or (capture._depth and not in_functions):
        return None
    frame = sys._getframe(1)
    own = frame.f_globals
    while frame is not None and (
        frame.f_globals is own or frame.f_globals.get("__name__", "").startswith((_PASSED_BY, "numpy."))
    ):
        frame = frame.f_back
    if frame is None or frame.f_globals.get("__name__", "").startswith(_MAY_READ):
        return None
    return f"{frame.f_code.co_name}, line {frame.f_lineno} of {frame.f_globals.get('__name__')}"


class SharedView(FunctionNode):
    """x to an array of the same memory that somebody made of it outside of all functions."""

    def __init__(self, offset: int, like: np.ndarray):
        self._offset = offset
        self._like = like.shape, like.strides, like.dtype.str

    def forward(self, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
        (x,) = inputs
        return (view_at(x, address_of(x) + self._offset, *self._like),)


class Capture(AbstractFunctionHook):
    """What a pass did. Enter it, call `follow`, and `graph` is there.

    seen: who read values in the midst of it, in words
    peak: how many bytes of the functions' results were alive at once
    """

    def __init__(self) -> None:
        self.graph = Graph()
        self.seen: list[str] = []
        self.peak = 0
        self._live = 0
        self._roots = Roots()
        self._values: dict[Area, int] = {}
        self._firsts: dict[int, tuple[int, int]] = {}  # of a memory that changes: its first value, and where that lies
        self._handles: list[weakref.ref[Variable]] = []
        self._held: list[Any] = []
        self._depth = 0

    def follow(self, call: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """What the call gives; its graph is `graph`, the arrays of `args` and `kwargs` in order are the inputs.

        Raises NotATreeError if arguments or results are other things than arrays.
        """
        leaves: list[Any] = []
        structure = flatten((args, kwargs), leaves)
        arrays = [x._array if isinstance(x, Variable) else x for x in leaves]
        numbers = []
        for array in arrays:
            self._held.append(array)
            numbers.append(self._new_value(array, "input"))
        self.graph.inputs = tuple(numbers)
        own_args, own_kwargs = unflatten(structure, iter(arrays), lambda array: self._watch(make_output(array, False)))
        before, _reading.capture = _reading.capture, self
        try:
            with self:
                result = call(*own_args, **own_kwargs)
        finally:
            _reading.capture = before
            for handle in self._handles:
                variable = handle()
                if variable is not None:
                    variable.__class__ = Variable
        outputs: list[Any] = []
        flatten(result, outputs)
        arrays = [x._array if isinstance(x, Variable) else x for x in outputs]
        self.graph.outputs = tuple([self._value_of(array) for array in arrays])
        self._held.clear()
        return result

    # --- as a hook --------------------------------------------------------------------------------------------------
    def forward_preprocess(self, function: FunctionNode, in_data: tuple[Any, ...]) -> None:
        self._depth += 1
        if self._depth == 1:
            self._settings = dict(vars(function))
            self._start = time.perf_counter()

    def forward_postprocess(self, function: FunctionNode, in_data: tuple[Any, ...]) -> None:
        self._depth -= 1
        if self._depth == 0:
            self._seconds = time.perf_counter() - self._start
            self._inputs = in_data

    def outputs_made(self, function: FunctionNode, outputs: tuple[Variable, ...]) -> None:
        if self._depth:
            return  # a function inside of a function
        reads = tuple([self._value_of(np.asarray(array)) for array in self._inputs])
        self._inputs = ()
        writes = tuple([self._new_value(y._array, function.label) for y in outputs])
        for y in outputs:
            self._watch(y)
        self.graph.records.append(Record(function, reads, writes, self._settings, self._seconds))

    # --- values -----------------------------------------------------------------------------------------------------
    def _watch(self, variable: Variable) -> Variable:
        if type(variable) is Variable:
            variable.__class__ = _Watched
            self._handles.append(weakref.ref(variable))
        return variable

    def _new_value(self, array: np.ndarray, name: str) -> int:
        number = self.graph.add_value(array, name)
        area = self._roots.area(array)
        self._values[area] = number
        if area.owner not in self._firsts:
            self._firsts[area.owner] = number, area.offset
            root = root_of(array)
            self._grow(array.nbytes)
            try:
                weakref.finalize(root, self._grow, -array.nbytes).atexit = False
            except TypeError:
                self._held.append(root)
        return number

    def _grow(self, nbytes: int) -> None:
        self._live += nbytes
        self.peak = max(self.peak, self._live)

    def _value_of(self, array: np.ndarray) -> int:
        area = self._roots.area(array)
        number = self._values.get(area)
        if number is None and area.owner in self._firsts:
            first, offset = self._firsts[area.owner]
            view = SharedView(area.offset - offset, array)
            number = self.graph.add_value(array, view.label)
            self.graph.records.append(Record(view, (first,), (number,), dict(vars(view))))
        elif number is None:
            number = self.graph.add_constant(array, "constant")
        self._values[area] = number
        return number
