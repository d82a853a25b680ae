"""A link's values in NumPy's `.npz`, under the names that Chainer gives them ("l1/W"), and other objects' states."""

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
    """What goes on from a state: optimizers, iterators, updaters, extensions, trainers."""

    def state(self) -> dict[str, Any]:
        """All that it needs to go on."""

    def load_state(self, state: Mapping[str, Any]) -> Any:
        """Go on from a state."""


def save_npz(file: str | os.PathLike, target: Link | Stateful, compression: bool = True) -> None:
    """Write what the target holds; the file is whole or not there (an old one stays).

    target: a link, all of whose parameters and persistent values are written; or an optimizer (its counts, and what its
        rules remember of each parameter), an iterator, a trainer (everything that its run needs to go on)
    Raises GraphError if a parameter has no value yet, DtypeError for what has no state.
    """
    if isinstance(target, Link):
        write_npz(file, target.state_arrays(), compress=compression)
    else:
        write_state(file, _with_state(target, "save_npz").state(), compress=compression)


def load_npz(file: str | os.PathLike, target: Link | Stateful, *, strict: bool = True) -> LoadReport | None:
    """Take the target's values from the file; of a link, a report of what did not fit.

    strict: raise if anything of a link does not fit; else load what does. Other states fit or raise; what a trainer's
        state says about extensions that came or went is told in warnings
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
