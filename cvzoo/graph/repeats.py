"""Whether two passes over other numbers did the same."""

from typing import Any

import numpy as np

from cvzoo.backends.arrays import is_array, to_numpy
from cvzoo.graph.records import Graph, Record

_SIMPLE = frozenset((bool, int, float, str))


def difference(a: Graph, b: Graph) -> str | None:
    """In words, where two graphs of one call part: what depends on the numbers that came in; None if they agree."""
    for k, (one, other) in enumerate(zip(a.records, b.records)):
        hidden, others = [*one.hidden_reads.values()], [*other.hidden_reads.values()]
        if type(one.function) is not type(other.function) or (one.reads, hidden) != (other.reads, others):
            return f"another function than {_name(k, one)} was called"
        for read in one.reads:
            if read in a.constants and not _same(a.constants[read], b.constants[read]):
                return f"an array that {_name(k, one)} reads was computed from the input without functions"
        is_plain = not (one.hidden_reads or other.hidden_reads)
        if not (_same(one.settings, other.settings) if is_plain else _same(_visible(one), _visible(other))):
            return f"the settings of {_name(k, one)} depend on the input"
        for value in one.writes:
            mine, theirs = a.values[value], b.values[value]
            if mine.shape != theirs.shape or mine.dtype != theirs.dtype:
                return f"the shape that {_name(k, one)} gives depends on the input"
    if len(a.records) != len(b.records):
        return "the number of functions called depends on the input"
    if a.outputs != b.outputs:
        return "what is given back depends on the input"
    for value in a.outputs:
        if value in a.constants and not _same(a.constants[value], b.constants[value]):
            return "what is given back was computed from the input without functions"
    return None


def _name(k: int, record: Record) -> str:
    return f"{record.label} (function number {k + 1})"


def _visible(record: Record) -> dict[str, Any]:
    """The settings but for those that hold what others made."""
    hidden = {path.split(".")[0] for path in record.hidden_reads}
    return {name: value for name, value in record.settings.items() if name not in hidden}


def _same(a: Any, b: Any, depth: int = 0) -> bool:
    """Whether two settings say the same; in doubt they do not."""
    if a is b:
        return True
    if type(a) is not type(b) or depth > 8:
        return False
    if isinstance(a, dict | tuple | list):
        if len(a) != len(b):
            return False
        if isinstance(a, dict):
            if a.keys() != b.keys():
                return False
            b = [*map(b.__getitem__, a)]
            a = a.values()
        for x, y in zip(a, b):  # most parts are one object, or plain numbers
            if x is not y and not (type(x) is type(y) and type(x) in _SIMPLE and x == y) and not _same(x, y, depth + 1):
                return False
        return True
    if isinstance(a, bool | int | float | str | bytes | slice | np.generic | np.dtype | type):
        return bool(a == b) or (a != a and b != b)
    if is_array(a):
        a, b = to_numpy(a), to_numpy(b)
    if isinstance(a, np.ndarray):
        return a.shape == b.shape and a.dtype == b.dtype and np.array_equal(a, b, equal_nan=a.dtype.kind in "fc")
    state = getattr(a, "__dict__", None)
    return state is not None and _same(state, b.__dict__, depth + 1)


same_settings = _same
