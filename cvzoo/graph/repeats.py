"""Whether two passes over other numbers did the same."""

from typing import Any

import numpy as np

from cvzoo.backends.arrays import is_device_array, to_numpy
from cvzoo.graph.records import Graph, Record


def difference(a: Graph, b: Graph) -> str | None:
    """In words, where two graphs of one call part: what depends on the numbers that came in; None if they agree."""
    for k, (one, other) in enumerate(zip(a.records, b.records)):
        name = f"{one.label} (function number {k + 1})"
        if type(one.function) is not type(other.function) or one.all_reads != other.all_reads:
            return f"another function than {name} was called"
        for read in one.reads:
            if read in a.constants and not _same(a.constants[read], b.constants[read]):
                return f"an array that {name} reads was computed from the input without functions"
        if not _same(_visible(one), _visible(other)):
            return f"the settings of {name} depend on the input"
        if any(a.values[v].shape != b.values[v].shape or a.values[v].dtype != b.values[v].dtype for v in one.writes):
            return f"the shape that {name} gives depends on the input"
    if len(a.records) != len(b.records):
        return "the number of functions called depends on the input"
    if a.outputs != b.outputs:
        return "what is given back depends on the input"
    for value in a.outputs:
        if value in a.constants and not _same(a.constants[value], b.constants[value]):
            return "what is given back was computed from the input without functions"
    return None


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
    if is_device_array(a):
        a, b = to_numpy(a), to_numpy(b)
    if isinstance(a, np.ndarray):
        return a.shape == b.shape and a.dtype == b.dtype and np.array_equal(a, b, equal_nan=a.dtype.kind in "fc")
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(_same(a[key], b[key], depth + 1) for key in a)
    if isinstance(a, tuple | list):
        return len(a) == len(b) and all(_same(x, y, depth + 1) for x, y in zip(a, b))
    if isinstance(a, bool | int | float | str | bytes | slice | np.generic | np.dtype | type):
        return bool(a == b) or (a != a and b != b)
    state = getattr(a, "__dict__", None)
    return state is not None and _same(state, b.__dict__, depth + 1)


same_settings = _same
