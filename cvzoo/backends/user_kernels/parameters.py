"""The parameters of a kernel: their names and types, and the arrays given for them."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from cvzoo.backends.user_kernels.c_arithmetic import C_TYPES
from cvzoo.errors.exceptions import DtypeError, ShapeError, UnsupportedError, ValueRangeError
from cvzoo.typing.aliases import Array


class Parameter(NamedTuple):
    """One parameter of a kernel; dtype is None where `type_name` is a name such as T, `raw` ones are indexed."""

    type_name: str
    name: str
    dtype: np.dtype | None
    raw: bool


def read_parameters(text: str) -> tuple[Parameter, ...]:
    """The parameters of a text such as "T x, raw float32 table". Raises ValueRangeError if it is none."""
    parameters = []
    for part in text.split(",") if text.strip() else ():
        words = [word for word in part.split() if word not in ("const", "_non_const")]
        raw = words[:1] == ["raw"]
        *type_words, name = words[raw:] or [""]
        type_name = " ".join(type_words)
        placeholder = len(type_name) == 1 and type_name.isupper()
        if not name.isidentifier() or not (placeholder or type_name in C_TYPES):
            raise ValueRangeError(
                "a kernel's parameter is a type and a name",
                expected='"float32 x", "T y" or "raw T z"',
                got=part.strip(),
            )
        parameters.append(Parameter(type_name, name, None if placeholder else C_TYPES[type_name], raw))
    names = [parameter.name for parameter in parameters]
    if len(set(names)) < len(names) or {"i", "n"} & set(names):
        raise ValueRangeError("a kernel's parameters need distinct names, i and n are taken", got=text)
    return tuple(parameters)


class Bound(NamedTuple):
    """Arguments that fit their parameters.

    variables: the inputs by name, and `i` and `n`, index and number of elements
    types: what T and the like stand for
    shape: what the inputs broadcast to
    """

    variables: dict[str, Array]
    types: dict[str, np.dtype]
    shape: tuple[int, ...]

    def dtype_of(self, kernel: str, output: Parameter) -> np.dtype:
        """The type of an output. Raises DtypeError if no input determines its T."""
        dtype = output.dtype or self.types.get(output.type_name)
        if dtype is None:
            raise DtypeError(f"{kernel}: no input says what {output.type_name} is")
        return dtype


def bind(
    kernel: str,
    parameters: Sequence[Parameter],
    arguments: Sequence[Array | float],
    given: Sequence[tuple[Parameter, Array | float]] = (),
) -> Bound:
    """The arguments as arrays of their parameters' types.

    given: outputs and the arrays to write them into, whose types count for T and the like, too
    Raises DtypeError if a type does not fit, ShapeError if shapes do not, UnsupportedError for raw parameters.
    """
    types: dict[str, np.dtype] = {}
    pairs = [*zip(parameters, arguments), *given]
    for parameter, value in pairs:
        if parameter.raw:
            raise UnsupportedError(
                f"{kernel}: raw parameters need a GPU",
                got=parameter.name,
                hint="on_cpu=, a NumPy function that computes the same",
            )
        if not isinstance(value, np.ndarray | np.generic):
            if not isinstance(value, bool | int | float):
                raise DtypeError(f"{kernel}: {parameter.name} is no array and no number", got=type(value).__name__)
            continue
        dtype = parameter.dtype or types.setdefault(parameter.type_name, value.dtype)
        if dtype != value.dtype:
            raise DtypeError(
                f"{kernel}: {parameter.name} has another type than its parameter",
                expected=f"{parameter.type_name} = {dtype}",
                got=value.dtype,
            )
    for parameter, value in pairs:  # type names that only plain numbers stand for
        if parameter.dtype is None:
            types.setdefault(parameter.type_name, np.asarray(value).dtype)
    inputs = {p.name: _as_array(kernel, p, x, p.dtype or types[p.type_name]) for p, x in zip(parameters, arguments)}
    shapes = [x.shape for x in inputs.values()]
    try:
        shape = np.broadcast_shapes(*shapes)
    except ValueError:
        raise ShapeError(f"{kernel}: the arguments do not broadcast", got=", ".join(map(str, shapes))) from None
    n = int(np.prod(shape))
    return Bound({**inputs, "i": np.arange(n).reshape(shape), "n": np.asarray(n)}, types, shape)


def _as_array(kernel: str, parameter: Parameter, value: Array | float, dtype: np.dtype) -> Array:
    """A plain number or an array in the parameter's type. Raises DtypeError for a number that it cannot hold."""
    if dtype.kind not in "biufc":
        raise DtypeError(f"{kernel}: {parameter.name} is of no type that kernels compute with", got=dtype)
    try:
        return np.asarray(value, dtype)
    except OverflowError as error:
        raise DtypeError(f"{kernel}: {parameter.name} is no {dtype}", got=str(value)[:40]) from error
