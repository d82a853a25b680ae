"""Conversion of arbitrary settings to JSON."""

import dataclasses
import enum
import functools
import math
import os
import types
from collections.abc import Mapping
from typing import Any

import numpy as np

from cvzoo.errors.exceptions import CvzooError
from cvzoo.links.model.config import AbstractConfig, config_from_json


def plain(value: Any) -> Any:
    """The value as dictionaries, lists, str, numbers, booleans and None.

    Dataclasses and named tuples become dictionaries, arrays lists, paths str, functions and classes their names;
    numbers that are not finite, and all other objects, become their `repr`.
    """
    if value is None or isinstance(value, bool | str):
        return str(value) if isinstance(value, str) else value
    if isinstance(value, enum.Enum):
        return plain(value.value)
    if isinstance(value, np.generic | np.ndarray):
        return plain(value.tolist())
    if isinstance(value, int):
        return int(value)
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else repr(value)
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: plain(getattr(value, field.name)) for field in dataclasses.fields(value)}
    if isinstance(value, Mapping):
        return {str(key): plain(each) for key, each in value.items()}
    fields = type(value).__dict__.get("_fields") if isinstance(value, tuple) else None
    if isinstance(value, tuple) and fields is not None:  # a named tuple
        return {name: plain(each) for name, each in zip(fields, value)}
    if isinstance(value, list | tuple):
        return [plain(each) for each in value]
    if isinstance(value, set | frozenset):
        return sorted((plain(each) for each in value), key=repr)
    if isinstance(value, functools.partial):
        return {"function": plain(value.func), "args": plain(value.args), "keywords": plain(value.keywords)}
    if isinstance(value, type | types.FunctionType | types.BuiltinFunctionType):
        return value.__qualname__
    return repr(value)


def stored_as(settings: object, tree: Mapping[str, Any]) -> Mapping[str, Any]:
    """A stored tree of `plain` with the fields that a config has now, where it was stored by an older version.

    settings: the present ones; unless they are a config of the same fields, the tree is returned as it is
    """
    if not isinstance(settings, AbstractConfig):
        return tree
    try:
        values: dict[str, Any] = plain(config_from_json(type(settings), tree))
    except CvzooError:
        return tree
    return values
