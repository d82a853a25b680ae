"""Elementwise formulas of NumPy functions on many arrays, computed in one pass over memory by our own kernel."""

import ctypes
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from cvzoo.backends.arrays import numpy_address
from cvzoo.backends.native.library import native
from cvzoo.backends.native.plans import ElementwisePlan
from cvzoo.backends.openmp import threads_now

Operation = tuple[str, np.ufunc, Sequence[str]]  # name of the result, function, names of the operands

_KEEP = 0
_NUMBERS = {
    np.positive: _KEEP,
    np.add: 1,
    np.subtract: 2,
    np.multiply: 4,
    np.divide: 5,
    np.maximum: 7,
    np.minimum: 8,
    np.sqrt: 9,
    np.absolute: 10,
    np.fabs: 10,
    np.negative: 11,
    np.sign: 12,
}
_FLUSH = 13
_SWAPPED = {1: 1, 2: 3, 4: 4, 5: 6}  # the function of the operands in the other order
_NONE = -1
_MOST_PLACES = 40
_Arrays = ctypes.c_void_p * 4


class Program(NamedTuple):
    """A formula for the kernel.

    operations: (n, 4) int32, as elementwise.c reads them
    n_array: number of the arrays
    literals: the constants that follow the coefficients
    """

    operations: np.ndarray
    n_array: int
    literals: tuple[float, ...]


def compiled(
    operations: Sequence[Operation],
    stored: Mapping[str, str],
    arrays: Sequence[str],
    coefficients: Sequence[str],
    literals: Mapping[str, float],
    *,
    flushed: Mapping[str, str] | None = None,
) -> Program | None:
    """The program of a formula; None if the kernel does not have its functions, or not enough temporaries.

    operations: in order; each result has a name of its own
    stored: name of the value of each array that changes
    arrays, coefficients, literals: the operands that are not results; coefficients have other values in each call
    flushed: of arrays, the literal below whose value they finally become 0
    """
    if any(function not in _NUMBERS for _, function, _ in operations) or not set(stored.values()).isdisjoint(arrays):
        return None
    steps = _in_turn(operations)
    places = {name: k for k, name in enumerate([*arrays, *coefficients, *literals])}
    read = {name for _, _, *operands in steps for name in operands if name is not None}
    ends = {name: k for k, (_, _, *operands) in enumerate(steps) for name in operands if name is not None}
    targets: dict[str, str] = {}
    for target, name in stored.items():
        targets.setdefault(name, target)
    late = []
    lines = []
    for k, (result, number, *sources) in enumerate(steps):
        array = targets.get(result)
        if array is not None and ends.get(array, -1) <= k:  # its old value is not read later
            places[result] = places[array]
        elif array is not None or result in read:
            places[result] = len(set(places.values()))
        first, second = [_NONE if name is None else places[name] for name in sources]
        lines.append((number, first, max(second, 0), places.get(result, _NONE)))
    for target, name in stored.items():
        if places[name] != places[target]:
            late.append((_KEEP, places[name], 0, places[target]))
    late += [(_FLUSH, places[target], places[limit], places[target]) for target, limit in (flushed or {}).items()]
    if max(places.values()) >= _MOST_PLACES:
        return None
    return Program(np.array([*lines, *late], np.int32).reshape(-1, 4), len(arrays), tuple(literals.values()))


def _in_turn(operations: Sequence[Operation]) -> list[tuple[str, int, str | None, str | None]]:
    """(result, number, first operand, second operand): the first is None where it is the result before, the second
    where the function has only one."""
    steps: list[tuple[str, int, str | None, str | None]] = []
    before = None
    for result, function, operands in operations:
        number, first = _NUMBERS[function], operands[0]
        second = operands[1] if len(operands) > 1 else None
        if second is not None and second == before != first and number in _SWAPPED:
            number, first, second = _SWAPPED[number], second, first
        steps.append((result, number, None if first == before else first, second))
        before = result
    return steps


def run_program(program: Program, coefficients: Sequence[float], addresses: np.ndarray, starts: np.ndarray) -> None:
    """Compute the program in place, in the threads of our kernels; the library must be there.

    addresses: (S, A) int64, of the float32 arrays of each segment, contiguous
    starts: (S + 1,) int64, of the segments, as if they were one array
    """
    library = native()
    assert library is not None
    constants = np.array([*coefficients, *program.literals], np.float32)
    plan = ElementwisePlan(len(program.operations), program.n_array, len(constants), len(starts) - 1)
    arrays = [numpy_address(array) for array in (program.operations, constants, addresses, starts)]
    library.kernels["elementwise"](ctypes.addressof(plan), _Arrays(*arrays), threads_now()[0])
