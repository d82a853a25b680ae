"""Loading of pretrained weights into a model."""

import os
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple, overload

import numpy as np

from cvzoo.config.randomness import get_random_state, using_random_state
from cvzoo.errors.exceptions import WeightsMismatchError
from cvzoo.links.chain import Chain
from cvzoo.links.model.pretrained.source import PretrainedFile
from cvzoo.reporting.counted import counted
from cvzoo.weights.download import pin_weights
from cvzoo.weights.report import LoadReport

Shapes = Mapping[str, tuple[int, ...]]
_N_SHOWN = 20  # names in an error


class _Misfit(NamedTuple):
    """Missing and unexpected names in a file, and those with a different shape."""

    missing: tuple[str, ...]
    unexpected: tuple[str, ...]
    differing: tuple[str, ...]

    @property
    def n(self) -> int:
        """The number of all of them."""
        return len(self.missing) + len(self.unexpected) + len(self.differing)


@overload
def load_pretrained(
    model: Chain,
    file: PretrainedFile,
    *,
    may_start_anew: Sequence[str] = (),
    as_written: Iterable[Callable[[], Chain]] = (),
) -> LoadReport: ...
@overload
def load_pretrained(
    model: Chain,
    file: PretrainedFile | None,
    *,
    may_start_anew: Sequence[str] = (),
    as_written: Iterable[Callable[[], Chain]] = (),
) -> LoadReport | None: ...
def load_pretrained(
    model: Chain,
    file: PretrainedFile | None,
    *,
    may_start_anew: Sequence[str] = (),
    as_written: Iterable[Callable[[], Chain]] = (),
) -> LoadReport | None:
    """Load a file into a model; returns a report of what did not match, None without a file.

    file: its arrays are loaded into the model, or into the part that they belong to; step counts (".../N") may be
        missing or unexpected
    may_start_anew: paths of links, such as ("fc",), whose shapes depend on the number of classes: there, arrays whose
        shapes differ from the file's keep the model's values
    as_written: constructors of networks that the file may contain, tried until one has exactly the file's arrays, by
        names and shapes, if the file does not match the model exactly. They differ from the model if the caller has
        requested other classes, anchors or a different structure. Arrays of the model that the file's network lacks or
        has in a different shape are then initialized anew, and arrays that the model lacks are dropped
    A warning lists what is initialized anew and dropped. The hash of a published file without a known one is pinned.
    Raises WeightsMismatchError that lists missing and unexpected names and wrong shapes; nothing has been changed then.
    """
    if file is None:
        return None
    given = _shapes(file.arrays)
    wanted = {name: shape for name, shape in _shapes(model.state_arrays()).items() if name.startswith(file.only)}
    misfit = _compared(wanted, given)
    if misfit.n:
        heads = tuple(path.rstrip("/") + "/" for path in may_start_anew)
        if misfit.missing or misfit.unexpected or not all(name.startswith(heads) for name in misfit.differing):
            _check_is_whole(wanted, given, misfit, as_written, file.path)
        anew = sorted((*misfit.missing, *misfit.differing))
        parts = [f"{counted(len(wanted) - len(anew), 'array was', 'arrays were')} loaded"]
        parts += [f"{len(anew)} initialized anew: {_shown(anew)}"] if anew else []
        parts += [f"{len(misfit.unexpected)} dropped: {_shown(misfit.unexpected)}"] if misfit.unexpected else []
        warnings.warn(f"{os.fspath(file.path)}: {', '.join(parts)}", stacklevel=3)
    report = model.load_arrays(file.arrays, strict=False)
    pin_weights(file.path)
    return report


def _check_is_whole(
    wanted: Shapes, given: Shapes, misfit: _Misfit, as_written: Iterable[Callable[[], Chain]], path: str | os.PathLike
) -> None:
    nearest, its_misfit = wanted, misfit
    for i, make in enumerate(as_written):
        with using_random_state(get_random_state()):  # leaves the state of the random generator unchanged
            shapes = _shapes(make().state_arrays())
        written = _compared(shapes, given)
        if not written.n and any(given.get(name) == shape for name, shape in wanted.items()):
            return
        if written.n and (i == 0 or written.n < its_misfit.n):
            nearest, its_misfit = shapes, written
    raise _error(path, nearest, given, its_misfit)


def _shapes(arrays: Mapping[str, np.ndarray]) -> Shapes:
    return {name: np.shape(array) for name, array in arrays.items() if not name.endswith("/N")}


def _compared(wanted: Shapes, given: Shapes) -> _Misfit:
    return _Misfit(
        tuple(sorted(wanted.keys() - given.keys())),
        tuple(sorted(given.keys() - wanted.keys())),
        tuple(sorted(name for name in wanted.keys() & given.keys() if wanted[name] != given[name])),
    )


def _error(path: str | os.PathLike, wanted: Shapes, given: Shapes, misfit: _Misfit) -> WeightsMismatchError:
    pairs = {name: (wanted[name], given[name]) for name in misfit.differing}
    report = LoadReport(misfit.missing, misfit.unexpected, pairs)
    return WeightsMismatchError(f"{os.fspath(path)}: it does not hold this model\n{report}")


def _shown(names: Sequence[str]) -> str:
    return ", ".join(names[:_N_SHOWN]) + (f" and {len(names) - _N_SHOWN} more" if len(names) > _N_SHOWN else "")
