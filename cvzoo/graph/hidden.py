"""Arrays in functions' attributes, read and replaced by path, such as "_mean" or "_kept.workspace"."""

import functools
from collections.abc import Mapping
from typing import Any

import numpy as np

from cvzoo.backends.arrays import is_array

_DEEPEST = 4
_plain = {bool, int, float, str, type(None), type}  # types that hold no arrays, with all that were found to hold none
_GRAPH = frozenset(("inputs", "outputs", "rank", "_retained_inputs", "_retained_outputs"))  # not a function's own


def state_of(function: Any) -> dict[str, Any]:
    """The function's attributes, but for its place in the graph."""
    state = dict(vars(function))
    for name in _GRAPH.intersection(state):
        del state[name]
    return state


def arrays_in(state: Mapping[str, Any]) -> dict[str, np.ndarray]:
    """The arrays among a function's attributes, in tuples, lists and small objects among them, too, by path; not those
    of its place in the graph."""
    found: dict[str, np.ndarray] = {}
    for name, value in state.items():
        kind = type(value)
        if kind in _plain or name in _GRAPH or (kind is tuple and _plain.issuperset(map(type, value))):
            continue
        if kind is np.ndarray:
            found[name] = value
        else:
            _collect(name, value, found, _DEEPEST)
    return found


def _collect(path: str, value: Any, found: dict[str, np.ndarray], depth: int) -> None:
    if is_array(value):
        found[path] = value
    elif depth and isinstance(value, tuple | list):
        for k, each in enumerate(value):
            if type(each) not in _plain:
                _collect(f"{path}.{k}", each, found, depth - 1)
    elif depth:
        kind: Any = type(value)
        slots = _slots(kind)
        if not slots:
            _plain.add(type(value))
        for name in slots:
            _collect(f"{path}.{name}", getattr(value, name), found, depth - 1)


@functools.lru_cache(1024)
def _slots(kind: type) -> tuple[str, ...]:
    """The names of a small object's parts: a backend's notes have slots."""
    slots = kind.__dict__.get("__slots__", ())
    return tuple([name for name in slots if not name.startswith("__")]) if isinstance(slots, tuple) else ()


def put_array(function: Any, path: str, array: Any) -> None:
    """Replace the array at `path`."""
    name, *rest = path.split(".")
    state = vars(function)
    state[name] = _with(state.get(name), rest, array)


def take_array(function: Any, path: str) -> Any:
    """The array at `path`."""
    name, *rest = path.split(".")
    value = vars(function)[name]
    for part in rest:
        value = value[int(part)] if isinstance(value, tuple | list) else getattr(value, part)
    return value


def _with(value: Any, rest: list[str], array: Any) -> Any:
    if not rest:
        return array
    if value is None:  # let go of already, with all that it held
        return None
    first, *rest = rest
    if isinstance(value, tuple | list):
        k = int(first)
        parts = [*value[:k], _with(value[k], rest, array), *value[k + 1 :]]
        return type(value)(parts)
    setattr(value, first, _with(getattr(value, first), rest, array) if rest else array)
    return value
