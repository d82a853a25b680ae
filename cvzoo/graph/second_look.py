"""What a pass does besides functions, which no replay would do again: seen while it runs for the second time."""

import random
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from cvzoo.config.randomness import get_random_state, using_random_state
from cvzoo.graph.attributes import Attributes
from cvzoo.graph.readers import changed_arrays, reader_of_values
from cvzoo.graph.trees import flatten, unflatten

_LOOKS = 2  # more at most, if each look so far saw numbers drawn

# NumPy's functions that look at shapes, or give another view
_HARMLESS = (
    *("shape", "ndim", "size", "result_type", "can_cast", "iscomplexobj", "isrealobj"),
    *("may_share_memory", "shares_memory", "empty_like", "zeros_like", "ones_like", "full_like"),
    *("reshape", "transpose", "moveaxis", "swapaxes", "rollaxis", "expand_dims", "squeeze", "broadcast_to", "ravel"),
)


class _Argument(np.ndarray):
    """An array that tells who reads its numbers. Where NumPy loses the type on the way, nobody is told."""

    told: list[str] | None = None

    def __array_finalize__(self, parent: Any) -> None:
        self.told = getattr(parent, "told", None)

    def tell(self) -> None:
        """Note the reader, if there is one whom a replay would pass by."""
        reader = reader_of_values(in_functions=False)
        if reader is not None and self.told is not None:
            self.told.append(reader)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, out: Any = None, **kwargs: Any) -> Any:
        self.tell()
        if out is not None:
            kwargs["out"] = tuple([_plain(y) for y in out])
        if "where" in kwargs:
            kwargs["where"] = _plain(kwargs["where"])
        result = getattr(ufunc, method)(*[_plain(x) for x in inputs], **kwargs)
        return self if out is not None and out[0] is self else result

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        if function.__name__ not in _HARMLESS:
            self.tell()
        return super().__array_function__(function, types, args, kwargs)

    def __getitem__(self, index: Any) -> Any:
        result = super().__getitem__(index)
        if not isinstance(result, np.ndarray):
            self.tell()
        return result

    def __bool__(self) -> bool:
        self.tell()
        return super().__bool__()

    def __float__(self) -> float:
        self.tell()
        return super().__float__()

    def __int__(self) -> int:
        self.tell()
        return super().__int__()

    def item(self, *args: Any) -> Any:
        self.tell()
        return super().item(*args)

    def tolist(self) -> Any:
        self.tell()
        return super().tolist()

    def argmax(self, *args: Any, **kwargs: Any) -> Any:
        self.tell()
        return super().argmax(*args, **kwargs)

    def argmin(self, *args: Any, **kwargs: Any) -> Any:
        self.tell()
        return super().argmin(*args, **kwargs)

    def argsort(self, *args: Any, **kwargs: Any) -> Any:
        self.tell()
        return super().argsort(*args, **kwargs)

    def nonzero(self) -> Any:
        self.tell()
        return super().nonzero()


def _plain(x: Any) -> Any:
    return x.view(np.ndarray) if isinstance(x, _Argument) else x


class SecondLook:
    """A call that tells, in `reason`, what it does besides functions: None, or words. What it does to attributes is
    undone, so that it leaves no trace.

    call: what is called
    states: gives the attributes of the links that take part; hidden: names that do not count
    """

    def __init__(
        self, call: Callable[..., Any], states: Callable[[], Iterable[dict[str, Any]]], hidden: frozenset[str]
    ):
        self.reason: str | None = None
        self._looks = self._draws = 0  # how many there were, and in how many numbers were drawn meanwhile
        self._common: Any = None
        self._call = call
        self._states = states
        self._hidden = hidden

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        leaves: list[Any] = []
        structure = flatten((args, kwargs), leaves)
        told: list[str] = []
        before = [x.copy() if isinstance(x, np.ndarray) else None for x in leaves]
        own = [_watched(x, told) for x in leaves]
        own_args, own_kwargs = unflatten(structure, iter(own), lambda x: x)
        attributes = Attributes(self._states(), self._hidden)
        common = _common_generators()
        if self._common is None:
            self._common = common
        try:
            result = self._call(*own_args, **own_kwargs)
            changed = attributes.changed(changed_arrays())
        finally:
            attributes.undo()
        self._looks += 1
        self._draws += common != _common_generators()
        if self.reason is not None:
            pass
        elif told:
            self.reason = f"values of an argument are read in {told[0]}"
        elif any(a is not None and not np.array_equal(a, b, equal_nan=True) for a, b in zip(before, leaves)):
            self.reason = "it writes into its arguments"
        elif changed is not None:
            self.reason = f"it changes the attribute {changed}, which a replay would not"
        return _without_watch(result)

    def look_for_draws(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """Tell in `reason` if the call draws with `numpy.random` or `random`, whose numbers no replay would draw, and
        let these be as before all looks. Other threads may draw meanwhile, so that it looks again before it says so.
        """
        state = get_random_state()
        for _ in range(_LOOKS):
            if self._draws == self._looks > 0 and self.reason is None:
                with using_random_state(state):
                    self(*args, **kwargs)
        if self._draws == self._looks > 0:
            self.reason = self.reason or "numpy.random or random draws numbers in it"
            legacy, python = self._common
            np.random.set_state(legacy.state)
            random.setstate(python)


class _Legacy:
    """The state of numpy.random's common generator, to be compared."""

    def __init__(self) -> None:
        self.state = np.random.get_state(legacy=False)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, _Legacy):
            return NotImplemented
        a, b = self.state, other.state
        same = a["state"]["pos"] == b["state"]["pos"] and (a["has_gauss"], a["gauss"]) == (b["has_gauss"], b["gauss"])
        return bool(same and np.array_equal(a["state"]["key"], b["state"]["key"]))

    __hash__ = None  # type: ignore[assignment]


def _common_generators() -> tuple[_Legacy, Any]:
    return _Legacy(), random.getstate()


def _watched(x: Any, told: list[str]) -> Any:
    if type(x) is not np.ndarray:
        return x
    y = x.view(_Argument)
    y.told = told
    return y


def _without_watch(result: Any) -> Any:
    leaves: list[Any] = []
    structure = flatten(result, leaves)
    return unflatten(structure, iter([_plain(x) for x in leaves]), lambda x: x)
