"""Data flow between layers, traced while a network runs."""

import weakref
from typing import NamedTuple

import numpy as np

from cvzoo.autodiff.function_hook import AbstractFunctionHook
from cvzoo.autodiff.function_node import FunctionNode
from cvzoo.autodiff.variable import Variable, as_variable
from cvzoo.functions.pooling.pooling_2d import MaxPooling2D, keeps_bytes
from cvzoo.typing.aliases import Array


class _Value(NamedTuple):
    alive: "weakref.ref[Array]"
    behind: frozenset[str]  # layers that it was computed from since the last layers
    maker: str | None  # the layer whose output it is, or maxima of it


class Flow(AbstractFunctionHook):
    """Traces arrays through functions, from the outputs of layers to their inputs.

    read_by, added_by: layer -> the layers that read its output directly, or add it to theirs
    read_in_float: layers whose output is read by a function
    made_between: layers whose input is computed by a function, or is the image
        (here, max pooling is no function: it keeps int8)
    followed: layers that are followed by another one
    first: layers whose input does not depend on a layer
    """

    def __init__(self) -> None:
        self.read_by: dict[str, set[str]] = {}
        self.added_by: dict[str, set[str]] = {}
        self.read_in_float: set[str] = set()
        self.made_between: set[str] = set()
        self.followed: set[str] = set()
        self.first: set[str] = set()
        self._values: dict[int, _Value] = {}
        self._inputs: dict[int, tuple[frozenset[str], str | None]] = {}
        self._in_layer = False

    def _value(self, array: Array | None) -> _Value | None:
        value = self._values.get(id(array))
        return value if value is not None and value.alive() is array else None

    def _note(self, array: Array | None, behind: frozenset[str], maker: str | None) -> None:
        if behind and isinstance(array, np.ndarray):
            self._values[id(array)] = _Value(weakref.ref(array), behind, maker)

    def _read(self, array: Array | None) -> frozenset[str]:
        value = self._value(array)
        if value is None:
            return frozenset()
        if value.maker is not None:
            self.read_in_float.add(value.maker)
        return value.behind

    def _passed_on(self, function: FunctionNode, in_data: tuple[Array, ...]) -> _Value | None:
        """The value that a function reads and whose format it keeps; None if it reads, or makes, float32."""
        keeps = isinstance(function, MaxPooling2D) and keeps_bytes(function._window)
        return self._value(in_data[0]) if keeps else None

    # --- called by layers -------------------------------------------------------------------------------------------
    def enter(self, layer: str, x: Variable | Array) -> None:
        """A layer reads x; functions called before `leave` are its own."""
        self._in_layer = True
        value = self._value(as_variable(x)._array)
        if value is None:
            self.first.add(layer)
        else:
            self.followed |= value.behind
        if value is None or value.maker is None:
            self.made_between.add(layer)
        else:
            self.read_by.setdefault(value.maker, set()).add(layer)

    def leave(self, layer: str, add: Variable | Array | None, y: Variable) -> None:
        """The layer returns y, to which `add` (or None) was added."""
        self._in_layer = False
        value = None if add is None else self._value(as_variable(add)._array)
        if value is not None and value.maker is not None:
            self.added_by.setdefault(value.maker, set()).add(layer)
        behind = frozenset() if value is None else value.behind
        self._note(y._array, behind | {layer}, layer)

    # --- as a hook --------------------------------------------------------------------------------------------------
    def forward_preprocess(self, function: FunctionNode, in_data: tuple[Array, ...]) -> None:
        if not self._in_layer:
            value = self._passed_on(function, in_data)
            if value is not None:
                self._inputs[id(function)] = value.behind, value.maker
            else:
                self._inputs[id(function)] = frozenset().union(*map(self._read, in_data)), None

    def outputs_made(self, function: FunctionNode, outputs: tuple[Variable, ...]) -> None:
        if not self._in_layer:
            behind, maker = self._inputs.pop(id(function), (frozenset(), None))
            for y in outputs:
                self._note(y._array, behind, maker)
