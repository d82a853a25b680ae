"""Weights in NumPy's `.npz` under Chainer's names ("l1/W"), and the states of optimizers, iterators and trainers."""

import os
import warnings
from collections.abc import Mapping
from typing import Any, Protocol, runtime_checkable

from cvzoo.errors.exceptions import DtypeError
from cvzoo.links.link import Link
from cvzoo.serializers.state_file import read_state, write_state
from cvzoo.weights.formats.npz import read_npz, write_npz
from cvzoo.weights.report import LoadReport


@runtime_checkable
class Stateful(Protocol):
    """An object with a state: optimizers, iterators, updaters, extensions, trainers."""

    def state(self) -> dict[str, Any]:
        """The state that is needed to resume."""
        ...

    def load_state(self, state: Mapping[str, Any]) -> Any:
        """Resume from a state."""
        ...


def save_npz(file: str | os.PathLike, target: Link | Stateful, compression: bool = True) -> None:
    """Save a link's weights or another object's state to a file, written atomically.

    target: a link: its parameters and persistent values; or an optimizer (its counts, and the update rules' state for
        each parameter), an iterator, a trainer (all that is needed to resume the run)
    Raises GraphError if a parameter is not initialized, DtypeError for an object without a state.
    """
    if isinstance(target, Link):
        write_npz(file, target.state_arrays(), compress=compression)
    else:
        write_state(file, _with_state(target, "save_npz").state(), compress=compression)


def load_npz(file: str | os.PathLike, target: Link | Stateful, *, strict: bool = True) -> LoadReport | None:
    """Load the target's weights or state from a file; for a link, returns a report of mismatches.

    strict: raise on any mismatch of a link; else load what matches. Other states match or raise; extensions that were
        added to or removed from a trainer are reported as warnings
    Raises WeightsMismatchError that lists the names (ValueRangeError of an iterator or a trainer), FileFormatError for
    a damaged file, or one of another kind; nothing is changed then.
    """
    if isinstance(target, Link):
        return target.load_arrays(read_npz(file), strict=strict)
    for note in _with_state(target, "load_npz").load_state(read_state(file)) or ():
        warnings.warn(f"{file}: {note}", RuntimeWarning, stacklevel=2)
    return None


def _with_state(target: Any, door: str) -> Stateful:
    if not isinstance(target, Stateful):
        raise DtypeError(
            f"{door}: nothing to store",
            expected="a link, an optimizer, an iterator, a trainer",
            got=type(target).__name__,
        )
    return target
