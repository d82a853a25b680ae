"""Side-effect detection: what a call does outside of functions, which a replay would not repeat."""

import random
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from cvzoo.autodiff.variable import Variable
from cvzoo.config.randomness import get_random_state, using_random_state
from cvzoo.graph.attributes import Attributes
from cvzoo.graph.readers import changed_arrays, reader_of_values
from cvzoo.graph.trees import flatten, unflatten
from cvzoo.typing.aliases import Array

_RERUNS = 2  # additional reruns, while each run so far drew random numbers

# NumPy's functions that read only shapes, or return a view
_HARMLESS = (
    *("shape", "ndim", "size", "result_type", "can_cast", "iscomplexobj", "isrealobj"),
    *("may_share_memory", "shares_memory", "empty_like", "zeros_like", "ones_like", "full_like"),
    *("reshape", "transpose", "moveaxis", "swapaxes", "rollaxis", "expand_dims", "squeeze", "broadcast_to", "ravel"),
)


class _Argument(np.ndarray):
    """An array that reports reads of its values, unless NumPy drops the subclass."""

    reads: list[str] | None = None

    def __array_finalize__(self, parent: object) -> None:
        self.reads = getattr(parent, "reads", None)

    def report_read(self) -> None:
        """Record the reader, if a replay would skip it."""
        reader = reader_of_values(in_functions=False)
        if reader is not None and self.reads is not None:
            self.reads.append(reader)

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, out: Any = None, **kwargs: Any) -> Any:
        self.report_read()
        if out is not None:
            kwargs["out"] = tuple([_plain(y) for y in out])
        if "where" in kwargs:
            kwargs["where"] = _plain(kwargs["where"])
        result = getattr(ufunc, method)(*[_plain(x) for x in inputs], **kwargs)
        return self if out is not None and out[0] is self else result

    def __array_function__(self, function: Callable[..., Any], types: Any, args: Any, kwargs: Any) -> Any:
        if function.__name__ not in _HARMLESS:
            self.report_read()
        return super().__array_function__(function, types, args, kwargs)

    def __getitem__(self, index: Any) -> Any:
        result = super().__getitem__(index)
        if not isinstance(result, np.ndarray):
            self.report_read()
        return result

    def __bool__(self) -> bool:
        self.report_read()
        return super().__bool__()

    def __float__(self) -> float:
        self.report_read()
        return super().__float__()

    def __int__(self) -> int:
        self.report_read()
        return super().__int__()

    def item(self, *args: Any) -> Any:
        self.report_read()
        return super().item(*args)

    def tolist(self) -> Any:
        self.report_read()
        return super().tolist()

    def argmax(self, *args: Any, **kwargs: Any) -> Any:
        self.report_read()
        return super().argmax(*args, **kwargs)

    def argmin(self, *args: Any, **kwargs: Any) -> Any:
        self.report_read()
        return super().argmin(*args, **kwargs)

    def argsort(self, *args: Any, **kwargs: Any) -> Any:
        self.report_read()
        return super().argsort(*args, **kwargs)

    def nonzero(self) -> Any:
        self.report_read()
        return super().nonzero()


def _plain(x: Any) -> Any:
    return x.view(np.ndarray) if isinstance(x, _Argument) else x


class SideEffectDetector:
    """A call that records in `reason` its first side effect, or None; changes of attributes are undone.

    call: the function to call
    states: returns the attributes of the links involved; hidden: attribute names to ignore
    """

    def __init__(
        self, call: Callable[..., Any], states: Callable[[], Iterable[dict[str, Any]]], hidden: frozenset[str]
    ):
        self.reason: str | None = None
        self._calls = self._draws = 0  # number of calls, and of calls during which random numbers were drawn
        self._global: Any = None
        self._call = call
        self._states = states
        self._hidden = hidden

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        leaves: list[Variable | Array] = []
        structure = flatten((args, kwargs), leaves)
        reads: list[str] = []
        before = [x.copy() if isinstance(x, np.ndarray) else None for x in leaves]
        reporting = [_reporting(x, reads) for x in leaves]
        reporting_args, reporting_kwargs = unflatten(structure, iter(reporting), lambda x: x)
        attributes = Attributes(self._states(), self._hidden)
        state = _global_generators()
        if self._global is None:
            self._global = state
        try:
            result = self._call(*reporting_args, **reporting_kwargs)
            changed = attributes.changed(changed_arrays())
        finally:
            attributes.undo()
        self._calls += 1
        self._draws += state != _global_generators()
        if self.reason is not None:
            pass
        elif reads:
            self.reason = f"values of an argument are read in {reads[0]}"
        elif any(a is not None and not np.array_equal(a, b, equal_nan=True) for a, b in zip(before, leaves)):
            self.reason = "it writes into its arguments"
        elif changed is not None:
            self.reason = f"it changes the attribute {changed}, which a replay would not"
        return _without_reporting(result)

    @property
    def is_silent(self) -> bool:
        """Whether there was no side effect so far, and no random number was drawn: the call may be made again."""
        return self.reason is None and not self._draws

    def detect_random_draws(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """Set `reason` if the call draws from `numpy.random` or `random`, and restore the state of these generators.

        Other threads may draw at the same time, so that the call is rerun to tell whether it draws itself.
        """
        state = get_random_state()
        for _ in range(_RERUNS):
            if self._draws == self._calls > 0 and self.reason is None:
                with using_random_state(state):
                    self(*args, **kwargs)
        if self._draws == self._calls > 0:
            self.reason = self.reason or "numpy.random or random draws numbers in it"
            legacy, python = self._global
            np.random.set_state(legacy.state)
            random.setstate(python)


class _Legacy:
    """The state of numpy.random's global generator, comparable."""

    def __init__(self) -> None:
        self.state = np.random.get_state(legacy=False)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, _Legacy):
            return NotImplemented
        a, b = self.state, other.state
        same = a["state"]["pos"] == b["state"]["pos"] and (a["has_gauss"], a["gauss"]) == (b["has_gauss"], b["gauss"])
        return bool(same and np.array_equal(a["state"]["key"], b["state"]["key"]))

    __hash__ = None  # type: ignore[assignment]


def _global_generators() -> tuple[_Legacy, Any]:
    return _Legacy(), random.getstate()


def _reporting(x: Variable | Array, reads: list[str]) -> Any:
    if type(x) is not np.ndarray:
        return x
    y = x.view(_Argument)
    y.reads = reads
    return y


def _without_reporting(result: Any) -> Any:
    leaves: list[Variable | Array] = []
    structure = flatten(result, leaves)
    return unflatten(structure, iter([_plain(x) for x in leaves]), lambda x: x)
