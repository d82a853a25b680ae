"""Comparison of two captures of one call with different input values."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from cvzoo.autodiff.prepared_weights import PreparedWeights
from cvzoo.backends.arrays import is_array, numpy_address, to_numpy
from cvzoo.backends.device import device_of
from cvzoo.backends.float_types import is_half, product_dtype, widened
from cvzoo.config.switches import switches
from cvzoo.graph.records import Graph, Record
from cvzoo.typing.aliases import Array

TOLERANCE = 1e-5
TOLERANCE_ON_DEVICE = 1e-3  # GPU libraries may choose other kernels, which round differently
TOLERANCE_OF_HALF = 2e-2  # for 16-bit floats


def random_like(x: Array) -> Array:
    """Random values similar to x: positive values stay positive, large ones large."""
    generator = np.random.default_rng(0)
    y = to_numpy(x).copy(order="K")
    y *= generator.uniform(0.5, 1.0, x.shape).astype(x.dtype)
    if not y.any():
        y += generator.uniform(0.5, 1.0, x.shape).astype(x.dtype)
    return device_of(x).asarray(y)


def is_close(a: Array, b: Array, tolerance: float = TOLERANCE) -> bool:
    """Whether two arrays agree within the tolerance, relative to each value or b's largest; integers must be equal."""
    if a.shape != b.shape or a.dtype != b.dtype:
        return False
    a, b = to_numpy(a), to_numpy(b)
    is_mixed = product_dtype() is not None or switches.dtype == "tf32"
    if is_half(a.dtype) or (is_mixed and a.dtype == "float32"):
        # in mixed precision float32 results, too, depend on values of fewer bits, which a replay may round less often
        a, b, tolerance = widened(a), widened(b), max(tolerance, TOLERANCE_OF_HALF)
    is_equal = bool((a == b).all())
    if is_equal or a.dtype.kind != "f":
        return is_equal
    finite = np.abs(b[np.isfinite(b)])
    scale = float(finite.max()) if finite.size else 1.0
    return np.allclose(a, b, rtol=tolerance, atol=tolerance * max(scale, 1e-30), equal_nan=True)


def are_close_on_device(arrays: Sequence[Array], expected: Sequence[Array]) -> bool:
    """Whether results of two GPU kernels agree up to rounding.

    Within 1e-2 of each array's largest value, or 1e-5 of the largest of all: values that cancel in exact arithmetic,
    such as the gradient of a bias before a normalization, are pure rounding error.
    """
    pairs = [(widened(to_numpy(a)), widened(to_numpy(b))) for a, b in zip(arrays, expected)]
    factor = 10 if product_dtype() is not None or switches.dtype == "tf32" else 1
    largest = max([_largest(b) for _, b in pairs], default=0.0)
    for a, b in pairs:
        if a.shape != b.shape or a.dtype != b.dtype:
            return False
        atol = factor * max(1e-2 * _largest(b), 1e-5 * largest)
        if not np.allclose(a, b, rtol=0, atol=atol, equal_nan=True):
            return False
    return True


def _largest(array: np.ndarray) -> float:
    finite = np.abs(array[np.isfinite(array)])
    return float(finite.max()) if finite.size else 0.0


_SIMPLE = frozenset((bool, int, float, str))


def difference(a: Graph, b: Graph) -> str | None:
    """A description of the first difference between two captures of one call; None if they are equal."""
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
            value_a, value_b = a.values[value], b.values[value]
            if value_a.shape != value_b.shape or value_a.dtype != value_b.dtype:
                return f"the shape that {_name(k, one)} gives depends on the input"
    if len(a.records) != len(b.records):
        return "the number of functions called depends on the input"
    if a.outputs != b.outputs:
        return "which values are returned depends on the input"
    for value in a.outputs:
        if value in a.constants and not _same(a.constants[value], b.constants[value]):
            return "a returned value was computed from the input without functions"
    return None


def to_replay(first: Graph, second: Graph) -> Graph:
    """The second of two equal graphs, with the constants and times of the first, which was no dry run.

    What its functions keep on themselves that depends on the arguments is wrong for the first's, and is detected when a
    replay is compared with the first result.
    """
    second.constants = {k: first.constants[k] for k in second.constants}
    for record, counterpart in zip(second.records, first.records):
        record.seconds = counterpart.seconds
    return second


def _name(k: int, record: Record) -> str:
    return f"{record.label} (function number {k + 1})"


def _visible(record: Record) -> dict[str, Any]:
    """The settings without those that hold hidden reads."""
    hidden = {path.split(".")[0] for path in record.hidden_reads}
    return {name: value for name, value in record.settings.items() if name not in hidden}


def _same(a: Any, b: Any, depth: int = 0) -> bool:
    """Whether two settings are known to be equal."""
    if a is b:
        return True
    if type(a) is not type(b) or depth > 8:
        return False
    if isinstance(a, PreparedWeights):  # a cache, of which no result depends
        return True
    if isinstance(a, dict | tuple | list):
        if len(a) != len(b):
            return False
        if isinstance(a, dict):
            if a.keys() != b.keys():
                return False
            b = [*map(b.__getitem__, a)]
            a = a.values()
        for x, y in zip(a, b):  # the fast path without a call: most parts are the same object, or plain numbers
            if x is not y and not (type(x) is type(y) and type(x) in _SIMPLE and x == y) and not _same(x, y, depth + 1):
                return False
        return True
    if isinstance(a, bool | int | float | str | bytes | slice | np.generic | np.dtype | type):
        return bool(a == b) or (a != a and b != b)
    if is_array(a):
        a, b = to_numpy(a), to_numpy(b)
    if isinstance(a, np.ndarray):
        if a.shape != b.shape or a.dtype != b.dtype:
            return False
        if a.strides == b.strides and numpy_address(a) == numpy_address(b):  # such as a weight as filters of 1x1
            return True
        return np.array_equal(a, b, equal_nan=a.dtype.kind in "fc")
    state = getattr(a, "__dict__", None)
    return state is not None and _same(state, b.__dict__, depth + 1)


same_settings = _same
