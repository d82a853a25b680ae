"""Parameters that report reads of their values during capture of a training call."""

import contextlib
import threading
from collections.abc import Iterable, Iterator

import numpy as np

from cvzoo.autodiff.parameter import Parameter
from cvzoo.autodiff.prepared_weights import PreparedWeights
from cvzoo.graph.readers import reader_of_values, report_read
from cvzoo.typing.aliases import Array

_lock = threading.Lock()
_counts: dict[int, int] = {}  # number of threads that watch a parameter, by its id


class _WatchedParameter(Parameter):
    """A parameter that reports reads of its values; a replay has its own reordered copies."""

    __slots__ = ()

    @property
    def array(self) -> Array:
        reader = reader_of_values()
        if reader is not None:
            report_read(reader)
        return Parameter.array.fget(self)  # type: ignore[attr-defined]

    @array.setter
    def array(self, array: Array | np.generic) -> None:
        Parameter.array.fset(self, array)  # type: ignore[attr-defined]

    def item(self) -> float | int | bool:
        reader = reader_of_values()
        if reader is not None:
            report_read(reader)
        return Parameter.item(self)

    def packs(self) -> PreparedWeights | None:
        return None


@contextlib.contextmanager
def watching_parameters(parameters: Iterable[Parameter]) -> Iterator[None]:
    """A context in which reads of parameters' values are reported to the capture in progress."""
    watched = [each for each in parameters if type(each) in (Parameter, _WatchedParameter)]
    with _lock:
        for each in watched:
            _counts[id(each)] = _counts.get(id(each), 0) + 1
            each.__class__ = _WatchedParameter
    try:
        yield
    finally:
        with _lock:
            for each in watched:
                _counts[id(each)] -= 1
                if not _counts[id(each)]:
                    del _counts[id(each)]
                    each.__class__ = Parameter
