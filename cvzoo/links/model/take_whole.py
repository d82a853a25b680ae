"""All the numbers of a file go into a detector, or the file is refused."""

import contextlib
import os
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from cvzoo.config.randomness import get_random_state, using_random_state
from cvzoo.errors.exceptions import WeightsMismatchError
from cvzoo.links.chain import Chain
from cvzoo.weights.download import pin_weights
from cvzoo.weights.report import LoadReport

Shapes = Mapping[str, tuple[int, ...]]
_N_SHOWN = 20


class _Misfit(NamedTuple):
    """Names that a file lacks, that it has too many, and whose shape is another."""

    missing: tuple[str, ...]
    unexpected: tuple[str, ...]
    differing: tuple[str, ...]

    @property
    def n(self) -> int:
        """How many there are."""
        return len(self.missing) + len(self.unexpected) + len(self.differing)


def take_whole(
    model: Chain, arrays: Mapping[str, np.ndarray], *, path: str | os.PathLike, owns: Iterable[Callable[[], Chain]] = ()
) -> LoadReport:
    """What did not fit, after everything that fits was taken over.

    arrays: of the file, by our names; counts of steps (".../N") may be absent or left over
    path: of the file
    owns: make the network that the file was written of, one after another until one has just the file's arrays; only
        their names and shapes are looked at, and only if the file is not just the model's. They differ from the model
        where the caller asked for other classes, other anchors or another structure. Without any the file has to be
        the model's.
    What the model has and the file's network has not, or in another shape, starts anew; what it has not itself is
    left out; a warning names both.
    Raises WeightsMismatchError that names what is missing, left over or of another shape; nothing was changed then.
    """
    wanted, given = _shapes_of(model), _shapes(arrays)
    misfit = _compared(wanted, given)
    if misfit.n:
        _check_is_whole(wanted, given, owns, path)
        if not any(given.get(name) == shape for name, shape in wanted.items()):
            raise _error(path, wanted, given, misfit)
        anew = sorted((*misfit.missing, *misfit.differing))
        parts = [f"{len(wanted) - len(anew)} arrays were taken over"]
        parts += [f"{len(anew)} start anew: {_shown(anew)}"] if anew else []
        parts += [f"{len(misfit.unexpected)} have no place: {_shown(misfit.unexpected)}"] if misfit.unexpected else []
        warnings.warn(f"{os.fspath(path)}: {', '.join(parts)}", stacklevel=4)
    report = model.load_arrays(arrays, strict=False)
    pin_weights(path)
    return report


def take_backbone(
    model: Chain, arrays: Mapping[str, np.ndarray], *, path: str | os.PathLike, backbone: str, beside: Sequence[str]
) -> LoadReport:
    """What did not fit, after the backbone was filled: all of it.

    arrays: of a classifier's file, by our names
    backbone: beginning of its paths, such as "extractor/"; beside: beginnings of those of the classifier's last layers
    Raises WeightsMismatchError as `take_whole` does.
    """
    wanted = {name: shape for name, shape in _shapes_of(model).items() if name.startswith(backbone)}
    given = {name: shape for name, shape in _shapes(arrays).items() if not name.startswith(tuple(beside))}
    misfit = _compared(wanted, given)
    if misfit.n:
        raise _error(path, wanted, given, misfit)
    report = model.load_arrays(arrays, strict=False)
    pin_weights(path)
    return report


@contextlib.contextmanager
def telling_what_is_lacking(path: str | os.PathLike) -> Iterator[None]:
    """A block that looks for arrays by their names. Raises WeightsMismatchError for one that is not there."""
    try:
        yield
    except KeyError as error:
        raise WeightsMismatchError(
            f"{os.fspath(path)}: it lacks an array", expected=str(error.args[0])[:120]
        ) from error


def _check_is_whole(
    wanted: Shapes, given: Shapes, owns: Iterable[Callable[[], Chain]], path: str | os.PathLike
) -> None:
    nearest, its_misfit = wanted, _compared(wanted, given)
    for i, own in enumerate(owns):
        with using_random_state(get_random_state()):  # the model's next random numbers are what they would have been
            shapes = _shapes_of(own())
        misfit = _compared(shapes, given)
        if not misfit.n:
            return
        if i == 0 or misfit.n < its_misfit.n:
            nearest, its_misfit = shapes, misfit
    raise _error(path, nearest, given, its_misfit)


def _shapes_of(model: Chain) -> Shapes:
    return _shapes(model.state_arrays())


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
