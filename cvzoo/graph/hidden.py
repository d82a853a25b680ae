"""Arrays in functions' attributes, read and replaced by path, such as "_mean" or "_kept.workspace"."""

import functools
from collections.abc import Mapping
from typing import Any

import numpy as np

from cvzoo.autodiff.function_node import FunctionNode
from cvzoo.backends.arrays import is_array
from cvzoo.typing.aliases import Array

_DEEPEST = 4
_plain = {bool, int, float, str, type(None), type}  # types without arrays; grows as further ones are encountered
_GRAPH = frozenset(("inputs", "outputs", "rank", "_retained_inputs", "_retained_outputs"))  # FunctionNode's attributes


def state_of(function: FunctionNode) -> dict[str, Any]:
    """The function's attributes without those that link it into the graph."""
    state = dict(vars(function))
    for name in _GRAPH.intersection(state):
        del state[name]
    return state


def arrays_in(state: Mapping[str, Any]) -> dict[str, np.ndarray]:
    """The arrays among a function's attributes, also within tuples, lists and objects with slots, by path.

    Attributes of `FunctionNode` itself are left out.
    """
    arrays: dict[str, np.ndarray] = {}
    for name, value in state.items():
        kind = type(value)
        if kind in _plain or name in _GRAPH or (kind is tuple and _plain.issuperset(map(type, value))):
            continue
        if kind is np.ndarray:
            arrays[name] = value
        else:
            _collect(name, value, arrays, _DEEPEST)
    return arrays


def _collect(path: str, value: object, arrays: dict[str, np.ndarray], depth: int) -> None:
    if is_array(value):
        arrays[path] = value
    elif depth and isinstance(value, tuple | list):
        for k, each in enumerate(value):
            if type(each) not in _plain:
                _collect(f"{path}.{k}", each, arrays, depth - 1)
    elif depth:
        kind: Any = type(value)
        slots = _slots(kind)
        if not slots:
            _plain.add(type(value))
        for name in slots:
            _collect(f"{path}.{name}", getattr(value, name), arrays, depth - 1)


@functools.lru_cache(1024)
def _slots(kind: type) -> tuple[str, ...]:
    """The attribute names of an object with slots, as the backends' state for gradients has."""
    slots = kind.__dict__.get("__slots__", ())
    return tuple([name for name in slots if not name.startswith("__")]) if isinstance(slots, tuple) else ()


def put_array(function: FunctionNode, path: str, array: Array | None) -> None:
    """Replace the array at `path`."""
    name, *rest = path.split(".")
    state = vars(function)
    state[name] = _with(state.get(name), rest, array)


def take_array(function: FunctionNode, path: str) -> Array:
    """The array at `path`."""
    name, *rest = path.split(".")
    value = vars(function)[name]
    for part in rest:
        value = value[int(part)] if isinstance(value, tuple | list) else getattr(value, part)
    return value


def _with(value: Any, rest: list[str], array: Array | None) -> Any:
    if not rest:
        return array
    if value is None:  # released already, with all its parts
        return None
    first, *rest = rest
    if isinstance(value, tuple | list):
        k = int(first)
        parts = [*value[:k], _with(value[k], rest, array), *value[k + 1 :]]
        return type(value)(parts)
    setattr(value, first, _with(getattr(value, first), rest, array) if rest else array)
    return value
