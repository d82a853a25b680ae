"""What a kernel is called with: its parameters' names and types, and the arrays that stand for them."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from cvzoo.backends.arrays import is_device_array
from cvzoo.backends.user_kernels.c_types import type_of
from cvzoo.errors.exceptions import DtypeError, ShapeError, ValueRangeError


class Parameter(NamedTuple):
    """One of a kernel's parameters.

    dtype: None where `type_name` is a name such as T
    raw: the kernel indexes the array as a whole
    """

    type_name: str
    name: str
    dtype: np.dtype | None
    raw: bool


def read_parameters(text: str) -> tuple[Parameter, ...]:
    """The parameters of a text such as "T x, raw float32 table".

    Raises ValueRangeError if it is none.
    """
    found = []
    for part in text.split(","):
        words = [word for word in part.split() if word not in ("const", "_non_const")]
        if not words and len(text.split(",")) == 1:
            return ()
        raw = words[:1] == ["raw"]
        *type_words, name = words[1:] if raw else words or [""]
        type_name = " ".join(type_words)
        dtype = type_of(type_name)
        if not name.isidentifier() or (dtype is None and not (len(type_name) == 1 and type_name.isupper())):
            raise ValueRangeError(
                "a kernel's parameter is a type and a name",
                expected='"float32 x", "T y" or "raw T z"',
                got=part.strip(),
            )
        found.append(Parameter(type_name, name, dtype, raw))
    names = [parameter.name for parameter in found]
    if len(set(names)) < len(names) or {"i", "n"} & set(names):
        raise ValueRangeError("a kernel's parameters need names of their own, i and n are taken", got=text)
    return tuple(found)


def any_on_device(arguments: Sequence[Any]) -> bool:
    """Whether a kernel with these arguments runs on a GPU."""
    return any(is_device_array(each) for each in arguments)


class Bound(NamedTuple):
    """Arguments that fit their parameters.

    inputs: one array a parameter
    types: what T and the like stand for
    shape: what those that are not raw broadcast to
    """

    inputs: tuple[np.ndarray, ...]
    types: dict[str, np.dtype]
    shape: tuple[int, ...]


def bind(
    kernel: str,
    parameters: Sequence[Parameter],
    arguments: Sequence[Any],
    outputs: Sequence[tuple[Parameter, Any]] = (),
) -> Bound:
    """The arguments as arrays of their parameters' types.

    outputs: parameters and the arrays given for them, which count for T and the like, too
    Raises DtypeError if a type does not fit, ShapeError if shapes do not.
    """
    types: dict[str, np.dtype] = {}
    given = [*zip(parameters, arguments), *outputs]
    for parameter, value in given:
        if not isinstance(value, np.ndarray | np.generic):
            if not isinstance(value, bool | int | float):
                raise DtypeError(f"{kernel}: {parameter.name} is no array and no number", got=type(value).__name__)
            continue
        wanted = parameter.dtype or types.setdefault(parameter.type_name, value.dtype)
        if wanted != value.dtype:
            raise DtypeError(
                f"{kernel}: {parameter.name} has another type than its parameter says",
                expected=f"{parameter.type_name} = {wanted}",
                got=value.dtype,
            )
    for parameter, value in given:  # names that only plain numbers stand for
        if parameter.dtype is None and parameter.type_name not in types:
            types[parameter.type_name] = np.asarray(value).dtype
    inputs = tuple(
        [
            np.asarray(value, parameter.dtype or types[parameter.type_name])
            for parameter, value in zip(parameters, arguments)
        ]
    )
    shapes = [x.shape for parameter, x in zip(parameters, inputs) if not parameter.raw]
    try:
        shape = np.broadcast_shapes(*shapes) if shapes else ()
    except ValueError:
        raise ShapeError(f"{kernel}: the arguments do not broadcast", got=", ".join(map(str, shapes))) from None
    return Bound(inputs, types, shape)
