"""Snapshots of links' attributes, to detect what a call changed and to restore it."""

import collections
import functools
import operator
import random
from collections.abc import Callable, Collection, Iterable
from typing import Any

import numpy as np

from cvzoo.autodiff.changes import changes
from cvzoo.graph.guards import same_value

_RANDOM = np.random.Generator | np.random.RandomState | np.random.BitGenerator | random.Random


class Attributes:
    """A snapshot of a tree of links: attributes, and the contents of arrays, lists, dictionaries, sets and random
    generators. The values of parameters are not copied.

    states: the links' attributes; hidden: attribute names to ignore
    """

    def __init__(self, states: Iterable[dict[str, Any]], hidden: frozenset[str]):
        self._hidden = hidden
        self._changed: list[tuple[dict[str, Any], dict[str, Any]]] | None = None  # None before `changed`
        self._snapshot = [(state, _saved(state, hidden)) for state in states]

    def changed(self, effects: Collection[int] = ()) -> str | None:
        """The name of an attribute that was replaced or whose contents changed; None if there is none.

        effects: arrays that may have changed, by `id`
        """
        modified = []
        for state, saved in self._snapshot:
            is_unchanged = True
            for name in {**saved, **state}:
                if name in self._hidden:
                    continue
                if id(state.get(name)) in effects:
                    is_unchanged = False
                    continue
                if name not in saved or name not in state:
                    return name
                value, contents = saved[name]
                now = state[name]
                if now is value and (contents is None or (type(value) is dict and _same_items(value, contents))):
                    continue
                is_unchanged = False
                if not same_value(value, now) or not _same_contents(contents, _contents(now)):
                    return name
            if not is_unchanged:
                modified.append((state, saved))
        self._changed = modified
        return None

    def undo(self) -> None:
        """Restore the snapshot."""
        for state, saved in self._snapshot if self._changed is None else self._changed:
            for name in [name for name in state if name not in saved and name not in self._hidden]:
                del state[name]
            for name, (value, contents) in saved.items():
                state[name] = value
                if contents is not None and not (type(value) is dict and _same_items(value, contents)):
                    _put(value, contents)
        changes.tree = object()  # links that were added are removed again


@functools.lru_cache(1024)
def _copier(kind: type) -> Callable[[Any], Any] | None:
    """The function that copies the contents of an object of this type; None for immutable or unknown types."""
    if issubclass(kind, np.ndarray):
        return np.ndarray.copy
    if issubclass(kind, list | set | collections.deque):
        return tuple
    if issubclass(kind, dict):
        return dict
    return _state if issubclass(kind, _RANDOM) else None


def _saved(state: dict[str, Any], hidden: frozenset[str]) -> dict[str, tuple[Any, Any]]:
    """The attributes, each with a copy of its contents."""
    saved = {}
    for name, value in state.items():
        if name not in hidden:
            kind: Any = type(value)
            copy = _copier(kind)  # `_contents` inlined: this runs for thousands of attributes per capture
            saved[name] = value, None if copy is None else copy(value)
    return saved


def _contents(value: object) -> Any:
    kind: Any = type(value)
    copy = _copier(kind)
    return None if copy is None else copy(value)


def _state(generator: Any) -> Any:
    return generator.getstate() if isinstance(generator, random.Random) else _bits(generator).state


def _bits(generator: Any) -> Any:
    if isinstance(generator, np.random.RandomState):
        return generator._bit_generator
    return generator.bit_generator if isinstance(generator, np.random.Generator) else generator


def _same_contents(a: Any, b: Any) -> bool:
    if isinstance(a, np.ndarray) and isinstance(b, np.ndarray):
        return a.shape == b.shape and a.dtype == b.dtype and np.array_equal(a, b, equal_nan=a.dtype.kind in "fc")
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(_same_contents(a[name], b[name]) for name in a if a[name] is not b[name])
    if isinstance(a, tuple) and isinstance(b, tuple):
        return len(a) == len(b) and all(same_value(x, y) for x, y in zip(a, b) if x is not y)
    return same_value(a, b)


def _same_items(a: dict, b: dict) -> bool:
    """Whether two dictionaries hold the same objects under the same names in the same order."""
    return len(a) == len(b) and all(map(operator.is_, a, b)) and all(map(operator.is_, a.values(), b.values()))


def _put(value: Any, contents: Any) -> None:
    if isinstance(value, np.ndarray):
        if value.flags.writeable and not _same_contents(value, contents):
            value[...] = contents
    elif isinstance(value, _RANDOM):
        if isinstance(value, random.Random):
            value.setstate(contents)
        else:
            _bits(value).state = contents
    elif not _same_contents(_contents(value), contents):
        value.clear()
        value.update(contents) if isinstance(value, dict | set) else value.extend(contents)
