"""What a file of weights gives to a detector: its numbers, its classes, and how it is built."""

import os
import warnings
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from cvzoo.errors.exceptions import FileFormatError, ValueRangeError, WeightsMismatchError
from cvzoo.links.chain import Chain
from cvzoo.links.model.architecture import stored_detector
from cvzoo.weights.download import pin_weights
from cvzoo.weights.model_header import read_model_header
from cvzoo.weights.report import LoadReport


class DetectorSource(NamedTuple):
    """What is in a file.

    path: of it
    arrays: by our names
    settings: how the network in it is built, None if it does not say
    n_fg_class: its classes, None if it is no detector
    label_names: their names, or None
    only: beginnings of the paths that it is about, such as ("extractor/",) for a backbone; ("",) is the whole detector
    """

    path: str
    arrays: Mapping[str, np.ndarray]
    settings: Any = None
    n_fg_class: int | None = None
    label_names: tuple[str, ...] | None = None
    only: tuple[str, ...] = ("",)


def saved_source(
    path: str | os.PathLike, arrays: Mapping[str, np.ndarray], architecture: str, config_class: type
) -> DetectorSource | None:
    """What a file that cvzoo saved says of its detector; None if the file does not name the architecture.

    config_class: of the architecture
    Raises FileFormatError if they are none.
    """
    header = read_model_header(path)
    if header is None or header.architecture != architecture:
        return None
    try:
        stored = stored_detector(header.settings, config_class)
    except (LookupError, TypeError, ValueError, AttributeError) as error:
        raise FileFormatError(f"{path}: its settings make no {architecture}: {str(error)[:200]}") from error
    return DetectorSource(os.fspath(path), arrays, stored.config, stored.n_fg_class, header.label_names)


def detector_classes(
    name: str,
    n_fg_class: int | None,
    label_names: Sequence[str] | None,
    source: DetectorSource | None,
    *,
    default_names: tuple[str, ...] | None = None,
) -> tuple[int, tuple[str, ...] | None]:
    """(number of classes, their names or None): as they were given, else as the file has them, else `default_names`.

    name: of the model, for errors
    Raises ValueRangeError if there is no number, or the names are not as many.
    """
    if n_fg_class is None and label_names is not None:
        n_fg_class = len(label_names)
    if n_fg_class is None and source is not None:
        n_fg_class = source.n_fg_class
    if n_fg_class is None and default_names is not None:
        n_fg_class = len(default_names)
    if isinstance(n_fg_class, bool) or not isinstance(n_fg_class, int) or n_fg_class < 1:
        raise ValueRangeError(f"{name}: n_fg_class must be a positive integer", got=repr(n_fg_class))
    if label_names is None and source is not None and source.n_fg_class == n_fg_class:
        label_names = source.label_names
    if label_names is None and default_names is not None and len(default_names) == n_fg_class:
        label_names = default_names
    if label_names is not None and len(label_names) != n_fg_class:
        raise ValueRangeError("label_names must be one a class", expected=n_fg_class, got=len(label_names))
    return n_fg_class, None if label_names is None else tuple(label_names)


def take_what_fits(model: Chain, source: DetectorSource, *, head: Sequence[str]) -> LoadReport:
    """What did not fit, after everything that fits was taken over; where the head keeps values of its own, a warning.

    head: paths ("multibox/conf") of what may start anew, where the model has other classes or boxes than the file
    Raises WeightsMismatchError for anything else that is missing, left over or of another shape; the model keeps its
    values then.
    """
    wanted = {name: np.shape(array) for name, array in model.state_arrays().items()}
    own = {name for name in wanted if name.startswith(source.only) and not name.endswith("/N")}
    arrays = {name: array for name, array in source.arrays.items() if name in wanted or not name.endswith("/N")}
    may_differ = tuple(path.rstrip("/") + "/" for path in head)
    missing = sorted(own - arrays.keys())
    unexpected = sorted(arrays.keys() - wanted.keys())
    differing = [name for name in sorted(own & arrays.keys()) if wanted[name] != np.shape(arrays[name])]
    wrong = [name for name in (*missing, *unexpected, *differing) if not name.startswith(may_differ)]
    if wrong:
        raise WeightsMismatchError(
            f"{os.fspath(source.path)}: it does not hold this model",
            expected=", ".join(f"{name} {wanted[name]}" for name in (*missing, *differing)[:6]) or "no more",
            got=", ".join(f"{name} {np.shape(arrays[name])}" for name in (*unexpected, *differing)[:6]) or "not there",
        )
    report = model.load_arrays(arrays, strict=False)
    pin_weights(source.path)
    anew = sorted({*missing, *differing})
    if anew:
        warnings.warn(
            f"{os.fspath(source.path)}: {len(own) - len(anew)} arrays were taken over, {len(anew)} start anew: "
            + ", ".join(anew[:20])
            + (f" and {len(anew) - 20} more" if len(anew) > 20 else ""),
            stacklevel=3,
        )
    return report
