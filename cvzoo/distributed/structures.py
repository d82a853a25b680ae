"""Accumulators as plain values for other ranks, and back: objects of a few known packages, field by field."""

import dataclasses
import sys
from typing import Any

import numpy as np

from cvzoo.backends.arrays import is_array
from cvzoo.errors.exceptions import DtypeError, FileFormatError

_PACKAGES = ("cvzoo.evaluations.", "cvzoo.geometry.", "cvzoo.reporting.")


def to_plain(value: Any) -> Any:
    """`value` as lists whose first element says what they were.

    Raises DtypeError for what is neither a number, text, an array, a container nor an object of cvzoo's evaluations.
    """
    if isinstance(value, int) and abs(value) >= 1 << 63:  # of a random generator's state
        return ["int", [], [str(value)]]
    if value is None or isinstance(value, bool | int | float | str | bytes | np.generic) or is_array(value):
        return value
    if isinstance(value, tuple):
        kind = [] if type(value) is tuple else [type(value).__module__, type(value).__qualname__]
        return ["tuple", kind, [to_plain(each) for each in value]]
    if isinstance(value, list | set | frozenset):
        return [type(value).__name__, [], [to_plain(each) for each in value]]
    if isinstance(value, dict):
        return ["dict", [], [[to_plain(k), to_plain(v)] for k, v in value.items()]]
    kind = [type(value).__module__, type(value).__qualname__]
    if not kind[0].startswith(_PACKAGES):
        raise DtypeError(f"an object of type {kind[1]} cannot be sent to other ranks")
    fields = [field.name for field in dataclasses.fields(value)] if dataclasses.is_dataclass(value) else vars(value)
    return ["object", kind, [[name, to_plain(getattr(value, name))] for name in fields]]


def from_plain(value: Any) -> Any:
    """The value of `to_plain`. No constructor is called, and only classes of known packages are made.

    Raises FileFormatError for other lists.
    """
    if not isinstance(value, list):
        return value
    what, kind, items = value
    if what == "dict":
        return {from_plain(k): from_plain(v) for k, v in items}
    if what == "int":
        return int(items[0])
    if what == "object":
        made = object.__new__(_class_of(kind))
        for name, each in items:
            object.__setattr__(made, name, from_plain(each))
        return made
    parts = [from_plain(each) for each in items]
    if what == "tuple" and kind:
        return tuple.__new__(_class_of(kind), parts)
    containers: dict[str, Any] = {"tuple": tuple, "list": list, "set": set, "frozenset": frozenset}
    if what not in containers:
        raise FileFormatError(f"a message of another rank is malformed: {what!r}")
    return containers[what](parts)


def _class_of(kind: list[str]) -> type[Any]:
    module, name = kind
    named = vars(sys.modules[module]).get(name) if module.startswith(_PACKAGES) and module in sys.modules else None
    if not isinstance(named, type):
        raise FileFormatError(f"a message of another rank has an object of an unknown class {module}.{name}")
    return named
