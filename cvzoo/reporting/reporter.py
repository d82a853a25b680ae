"""The reporter: collects reported values under the names of their observers."""

import contextlib
import threading
from collections.abc import Iterable, Iterator, Mapping, MutableMapping
from typing import Any

from cvzoo.autodiff.variable import Variable
from cvzoo.errors.exceptions import GraphError, ValueRangeError

Observation = MutableMapping[str, Any]


class _Current(threading.local):
    def __init__(self) -> None:
        self.reporters: list[Reporter] = []


_current = _Current()


class Reporter:
    """Collects reported values in a dictionary, each with the observer's name as prefix: "main/loss".

    observation: the current dictionary; set by `scope`

    >>> reporter = Reporter()
    >>> reporter.add_observer("main", model)
    >>> with reporter:
    ...     report({"loss": 0.5}, model)
    >>> reporter.observation
    {'main/loss': 0.5}

    Within `with reporter:` it is the current reporter of this thread, which `report` uses.
    Source: Chainer's contract. Where we differ: a reported Variable is stored as its array, without its graph.
    """

    def __init__(self) -> None:
        self.observation: Observation = {}
        self._names: dict[int, str] = {}
        self._observers: list[object] = []  # keeps them alive, since ids are unique among live objects only

    def add_observer(self, name: str, observer: object) -> None:
        """Register an observer under a name."""
        self._names[id(observer)] = name
        self._observers.append(observer)

    def add_observers(self, prefix: str, observers: Iterable[tuple[str, object]]) -> None:
        """Register (name, observer) pairs, such as `link.namedlinks(skipself=True)`, with `prefix` before each name."""
        for name, observer in observers:
            self.add_observer(prefix + name, observer)

    def report(self, values: Mapping[str, object], observer: object = None) -> None:
        """Add `values` to the observation, under the observer's name if one is given.

        Raises ValueRangeError if the observer is not registered.
        """
        prefix = ""
        if observer is not None:
            if id(observer) not in self._names:
                raise ValueRangeError(
                    f"report: this {type(observer).__name__} is not registered",
                    expected=", ".join(sorted(self._names.values())) or "no observer was added",
                    hint="reporter.add_observer(name, observer); a trainer adds its optimizers' targets",
                )
            prefix = self._names[id(observer)] + "/"
        for key, value in values.items():
            self.observation[prefix + key] = value.array if isinstance(value, Variable) else value

    @contextlib.contextmanager
    def scope(self, observation: Observation) -> Iterator[None]:
        """A block in which this is the current reporter, and values are added to `observation`."""
        before, self.observation = self.observation, observation
        try:
            with self:
                yield
        finally:
            self.observation = before

    def __enter__(self) -> "Reporter":
        _current.reporters.append(self)
        return self

    def __exit__(self, *exc_info: object) -> None:
        _current.reporters.pop()


def get_current_reporter() -> Reporter:
    """The innermost reporter of this thread. Raises GraphError if there is none."""
    if not _current.reporters:
        raise GraphError("there is no current reporter", hint="with Reporter(): ..., or inside of a trainer")
    return _current.reporters[-1]


def report(values: Mapping[str, object], observer: object = None) -> None:
    """Report values to the current reporter, such as {"loss": loss}; has no effect without one.

    values: numbers, 0-d arrays or Variables by name
    observer: the reporting link or evaluator; its name is the prefix of the keys
    """
    if _current.reporters:
        _current.reporters[-1].report(values, observer)


@contextlib.contextmanager
def report_scope(observation: Observation) -> Iterator[None]:
    """A block in which values reported to the current reporter are added to `observation`."""
    with get_current_reporter().scope(observation):
        yield
