"""Settings of any kind as what JSON can hold."""

import dataclasses
import enum
import functools
import math
import os
import types
from collections.abc import Mapping
from typing import Any

import numpy as np


def plain(value: Any) -> Any:
    """Dictionaries, lists, texts, numbers, booleans and None that say the same.

    Dataclasses and named tuples become dictionaries, arrays lists, paths texts, functions and classes their names;
    numbers that are not finite, and what is none of these, become the text that `repr` gives.
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
    if isinstance(value, tuple) and "_fields" in type(value).__dict__:  # a named one
        return {name: plain(each) for name, each in zip(type(value)._fields, value)}
    if isinstance(value, list | tuple):
        return [plain(each) for each in value]
    if isinstance(value, set | frozenset):
        return sorted((plain(each) for each in value), key=repr)
    if isinstance(value, functools.partial):
        return {"function": plain(value.func), "args": plain(value.args), "keywords": plain(value.keywords)}
    if isinstance(value, type | types.FunctionType | types.BuiltinFunctionType):
        return value.__qualname__
    return repr(value)
