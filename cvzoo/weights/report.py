"""Matching of a file's arrays with a model's parameters."""

import dataclasses
from collections.abc import Mapping, Sequence

import numpy as np

from cvzoo.errors.exceptions import WeightsMismatchError
from cvzoo.reporting.counted import counted

MAX_SHOWN = 10


@dataclasses.dataclass(frozen=True)
class LoadReport:
    """The differences between a model and a loaded file.

    missing: names that only the model has; they keep their values
    unexpected: names that only the file has; they are ignored
    mismatching: name -> (shape in the model, shape in the file); they keep the model's values
    """

    missing: tuple[str, ...] = ()
    unexpected: tuple[str, ...] = ()
    mismatching: Mapping[str, tuple[tuple[int, ...], tuple[int, ...]]] = dataclasses.field(default_factory=dict)

    @property
    def is_clean(self) -> bool:
        """Whether there are no differences."""
        return not (self.missing or self.unexpected or self.mismatching)

    def __str__(self) -> str:
        if self.is_clean:
            return "all names and shapes match"
        pairs = [f"{name} (model {want}, file {have})" for name, (want, have) in self.mismatching.items()]
        kinds = (
            ("missing in the file", self.missing),
            ("unexpected in the file", self.unexpected),
            ("of another shape", pairs),
        )
        return "\n".join(f"{len(names)} {kind}: {_shortened(names)}" for kind, names in kinds if names)


def _shortened(names: Sequence[str]) -> str:
    shown = ", ".join(name[:120] for name in names[:MAX_SHOWN])
    return f"{shown}, and {len(names) - MAX_SHOWN} more" if len(names) > MAX_SHOWN else shown


def match_arrays(
    wanted: Mapping[str, Sequence[int] | None],
    given: Mapping[str, np.ndarray],
    *,
    rename: Mapping[str, str] | None = None,
    strict: bool = True,
) -> tuple[dict[str, np.ndarray], LoadReport]:
    """The arrays that match, by the model's names, and the report of those that do not.

    wanted: the model's name -> shape, None if any shape is accepted
    given: the file's name -> array
    rename: the file's name -> the model's; other names are unchanged
    Raises WeightsMismatchError if `strict` and anything does not match, or for duplicate names.
    """
    rename = rename or {}
    named: dict[str, np.ndarray] = {}
    for name, array in given.items():
        new = rename.get(name, name)
        if new in named:
            raise WeightsMismatchError(f"two arrays of the file are meant for {new!r}", got=name)
        named[new] = array
    fitting: dict[str, np.ndarray] = {}
    missing: list[str] = []
    mismatching: dict[str, tuple[tuple[int, ...], tuple[int, ...]]] = {}
    for name, shape in wanted.items():
        if name not in named:
            missing.append(name)
            continue
        array = named[name]
        if shape is not None and tuple(array.shape) != tuple(shape):
            mismatching[name] = (tuple(shape), tuple(array.shape))
        else:
            fitting[name] = array
    unexpected = tuple(name for name in named if name not in wanted)
    report = LoadReport(tuple(missing), unexpected, mismatching)
    if strict and not report.is_clean:
        raise WeightsMismatchError(
            f"the file does not fit the model: {len(fitting)} of {counted(len(wanted), 'parameter')} match\n{report}",
            hint="strict=False loads what fits and returns this as a report",
        )
    return fitting, report
