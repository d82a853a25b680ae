"""Guards: whether what a graph treats as constant is unchanged."""

from collections.abc import Iterable
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from cvzoo.autodiff.changes import changes, effects
from cvzoo.autodiff.parameter import Parameter
from cvzoo.autodiff.prepared_weights import PreparedWeights
from cvzoo.backends.arrays import is_array, is_device_array
from cvzoo.typing.aliases import Array

_PLAIN = (bool, int, float, str, type(None))
_SMALL = 1 << 16  # elements; smaller parameters are compared by value before their graphs are discarded


LinkAbove: TypeAlias = Any  # a cvzoo.links.Link, whose room is above this one


class Fingerprint:
    """The settings of a tree of links: plain values by value, everything else by identity."""

    __slots__ = ("_items",)

    def __init__(self, states: Iterable[dict[str, Any]], hidden: frozenset[str]):
        items: list[object] = []
        for state in states:
            items.append(state)
            for name, value in state.items():
                if name not in hidden:
                    items += (name, tuple(value) if type(value) is list else value)
        self._items = items

    def same(self, other: "Fingerprint") -> bool:
        """Whether nothing differs."""
        if len(self._items) != len(other._items):
            return False
        return all(same_value(a, b) for a, b in zip(self._items, other._items) if a is not b)


def same_value(a: Any, b: Any) -> bool:
    """Whether two attributes are the same: plain values by value, tuples of such, everything else by identity."""
    if a is b:
        return True
    if type(a) is not type(b):
        return False
    if isinstance(a, tuple):
        return len(a) == len(b) and all(map(same_value, a, b))
    return isinstance(a, _PLAIN) and a == b


class _Observed(NamedTuple):
    parameter: Parameter
    array: np.ndarray
    packs: PreparedWeights | None
    copy: np.ndarray | None


class ParameterGuard:
    """A guard on the values of parameters and persistent arrays.

    A parameter is locked by its packs (see `Parameter`): each access to `array` may write and is detected. Persistent
    values are small and are compared; those on a GPU only after some array has changed (`autodiff.effects`).
    """

    def __init__(self, parameters: Iterable[Parameter], persistents: Iterable[tuple[dict[str, Any], str]]):
        self._observed = [self._observe(each) for each in parameters if each.is_initialized]
        self._persistents = [(state, name, state[name]) for state, name in persistents]
        self._arrays: list[np.ndarray | memoryview] = []  # views of memory where there is no gap
        self._on_device: list[tuple[Array, Array]] = []
        for _, _, value in self._persistents:
            if is_device_array(value):
                self._on_device.append((value, value.copy()))
            elif is_array(value) and value.size:
                self._arrays.append(value.data.cast("B") if value.flags.c_contiguous else value)
        self._bytes = self._joined()
        self._count = effects.count

    def _observe(self, parameter: Parameter) -> _Observed:
        packs = parameter.packs()
        locked = packs is not None and parameter._packs is packs
        array = parameter._array
        copy = None if locked and array.size > _SMALL else array.copy()
        return _Observed(parameter, array, packs if locked else None, copy)

    def _joined(self) -> bytes:
        return b"".join([a if type(a) is memoryview else np.ascontiguousarray(a).data.cast("B") for a in self._arrays])

    def is_unchanged(self) -> bool:
        """Whether all values are unchanged. To be called without gradients."""
        for k, (parameter, array, packs, copy) in enumerate(self._observed):
            if parameter._array is not array:
                return False
            if packs is None or parameter._packs is not packs:
                if copy is None or not _equal_values(array, copy):
                    return False
                self._observed[k] = self._observe(parameter)
        for state, name, value in self._persistents:
            if state.get(name) is not value:
                return False
        if self._arrays and self._joined() != self._bytes:
            return False
        if self._on_device and self._count != effects.count:
            self._count = effects.count
            return all(_equal_values(value, copy) for value, copy in self._on_device)
        return True


def _equal_values(a: Any, b: Any) -> bool:
    return bool((a == b).all())


class TrainingGuard:
    """A guard on the parameters of a training graph: their values may change, their addresses may not."""

    def __init__(self, parameters: Iterable[Parameter]):
        self._observed = [(each, each._array, each._requires_grad) for each in parameters]

    def is_unchanged(self) -> bool:
        """Whether all addresses are unchanged, and the same parameters require gradients."""
        for parameter, array, requires_grad in self._observed:
            if parameter._array is not array or parameter._requires_grad is not requires_grad:
                return False
        return True

    def trainable(self) -> list[Parameter]:
        """The parameters that require gradients."""
        return [parameter for parameter, array, requires_grad in self._observed if requires_grad and array is not None]


class SettingsGuard:
    """A guard on the settings of a tree of links: assigns a number to each distinct state."""

    def __init__(self) -> None:
        self._latest: object = None
        self._counts: list[int] = []
        self._known: list[tuple[int, Fingerprint]] = []
        self._next = 0
        self.number = -1

    def current(self, link: LinkAbove, hidden: frozenset[str]) -> int:
        """The number of the current settings of a link and its descendants, without the attributes `hidden`."""
        # three levels, the cheapest first: has any link changed, has one of these changed, do their settings differ
        latest = changes.latest
        counts = self._counts if latest is self._latest else link.change_counts()
        if counts != self._counts or self.number < 0:
            settings = Fingerprint(link.states(), hidden)
            for number, known in self._known:
                if known.same(settings):
                    self.number = number
                    break
            else:
                self.number = self._next
                self._next += 1
                self._known = [*self._known[-7:], (self.number, settings)]
            self._counts = counts
        self._latest = latest
        return self.number
