"""A function hook that finds the first function with a NaN or infinite output."""

from collections.abc import Mapping, Sequence

import numpy as np

from cvzoo.autodiff.function_hook import AbstractFunctionHook
from cvzoo.autodiff.function_node import FunctionNode
from cvzoo.autodiff.variable import Variable
from cvzoo.links.link import Link
from cvzoo.training.non_number.all_finite import about, all_finite, kind_of, not_finite
from cvzoo.typing.aliases import Array


class NonNumberFound(Exception):
    """Raised at the first NaN, to skip the rest of the computation."""


class FirstNonNumber(AbstractFunctionHook):
    """`with FirstNonNumber(links) as hook: ...` checks all inputs and outputs of functions, and stops at NaN.

    links: links with the parameters that messages name
    story: lines on the origin of the first infinite value, if there was one (a mask may have one on purpose), and of
        the first NaN
    """

    def __init__(self, links: Sequence[Link]):
        self.story: list[str] = []
        self._names: dict[int, str] = {}  # id of a parameter's array -> its path
        self._held: list[Array | None] = []  # references that keep ids from being reused
        for link in links:
            for path, parameter in link.namedparams(include_uninit=False):
                self._names[id(parameter.array)] = path
                self._held.append(parameter.array)
        self._last_parameter: str | None = None
        self._forwards: list[tuple[Array, ...]] = []
        self._backwards: list[FunctionNode] = []
        self._in_data: tuple[Array, ...] = ()
        self._infinite = False

    # --- forward ----------------------------------------------------------------------------------------------------
    def forward_preprocess(self, function: FunctionNode, in_data: tuple[Array, ...]) -> None:
        self._forwards.append(in_data)
        for x in in_data:
            self._last_parameter = self._names.get(id(x), self._last_parameter)
        # outputs of functions were checked before: an invalid input is from outside of the graph
        for i, x in enumerate(in_data):
            if not all_finite(x):
                name = self._names.get(id(x))
                what = f"input {i} of {function.label}" if name is None else f"the parameter {name} itself"
                self._found(f"{what} is bad from the beginning{_where(x)}", x)

    def forward_postprocess(self, function: FunctionNode, in_data: tuple[Array, ...]) -> None:
        self._in_data = self._forwards.pop()

    def outputs_made(self, function: FunctionNode, outputs: tuple[Variable, ...]) -> None:
        for y in outputs:
            if not all_finite(y._array):
                inside = f", in the backward of {self._backwards[-1].label}" if self._backwards else ""
                self._found(f"{self._called(function)}{inside} gave {kind_of(y._array)}", y._array, self._in_data)

    # --- backward ---------------------------------------------------------------------------------------------------
    def backward_preprocess(
        self, function: FunctionNode, target_input_indexes: tuple[int, ...], grad_outputs: tuple[Variable | None, ...]
    ) -> None:
        for gy in grad_outputs:
            if gy is not None and not all_finite(gy._array):
                self._found(f"the gradients that arrive at {function.label} sum up to {kind_of(gy._array)}", gy._array)
        self._backwards.append(function)

    def backward_postprocess(
        self, function: FunctionNode, target_input_indexes: tuple[int, ...], grad_outputs: tuple[Variable | None, ...]
    ) -> None:
        self._backwards.pop()

    def gradients_made(self, function: FunctionNode, grad_inputs: tuple[Variable | None, ...]) -> None:
        for gx in grad_inputs:
            if gx is not None and not all_finite(gx._array):
                retained = function.retained_arrays()
                self._found(f"the backward of {function.label} gave {kind_of(gx._array)}", gx._array, retained)

    # --- the story --------------------------------------------------------------------------------------------------
    def _called(self, function: FunctionNode) -> str:
        own = [self._names[id(x)] for x in self._in_data if id(x) in self._names]
        if own:
            return f"{function.label} of {', '.join(own)}"
        after = "" if self._last_parameter is None else f" (after {self._last_parameter})"
        return f"{function.label}{after}"

    def _found(self, text: str, array: Array, inputs: Sequence[Array] = ()) -> None:
        given = "; ".join(about(x) for x in inputs)
        line = f"{text}; it was given {given}" if given else text
        if np.isnan(array).any():
            self.story.append(line)
            raise NonNumberFound(line)
        if not self._infinite:
            self._infinite = True
            self.story.append(line)


def _where(array: Array) -> str:
    """The examples of a batch with such values, unless all have them."""
    array = np.asarray(array)
    kind = kind_of(array)
    if array.ndim < 2:
        return f": {kind}"
    rows = np.flatnonzero(~np.isfinite(array.reshape(len(array), -1)).all(axis=1))
    shown = ", ".join(map(str, rows[:5].tolist())) + (" ..." if len(rows) > 5 else "")
    return f": {kind}, in example {shown} of {len(array)}" if len(rows) < len(array) else f": {kind}"


def names_of(arrays: Mapping[str, Array]) -> list[str]:
    """The names of the arrays with NaN or infinite values."""
    names = list(arrays)
    return [names[place] for place in not_finite(list(arrays.values()))]
