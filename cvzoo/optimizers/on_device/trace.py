"""Tracing of formulas of NumPy functions to lines of C.

Rules and hooks compute with NumPy's elementwise functions. Called with cells in place of arrays, the same formulas
record one line per function, which become the body of a kernel: no formula is written twice.
"""

import numbers
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

from cvzoo.backends.native.elementwise import Operation

# functions of the prelude (functions_text.py), which are overloaded for float and double and round as NumPy does
ARITHMETIC = {
    np.absolute: "of_absolute",
    np.add: "plus",
    np.divide: "over",
    np.exp: "of_exp",
    np.fabs: "of_absolute",
    np.log: "of_log",
    np.maximum: "of_maximum",
    np.minimum: "of_minimum",
    np.multiply: "times",
    np.negative: "of_negative",
    np.positive: "of_positive",
    np.power: "of_power",
    np.reciprocal: "of_reciprocal",
    np.sign: "of_sign",
    np.sqrt: "of_sqrt",
    np.square: "of_square",
    np.subtract: "minus",
    np.tanh: "of_tanh",
}
CONDITIONS = {
    np.bitwise_and: "{} & {}",
    np.bitwise_or: "{} | {}",
    np.equal: "{} == {}",
    np.greater: "{} > {}",
    np.greater_equal: "{} >= {}",
    np.invert: "!{}",
    np.isfinite: "is_finite({})",
    np.isnan: "is_nan({})",
    np.less: "{} < {}",
    np.less_equal: "{} <= {}",
    np.logical_and: "{} & {}",
    np.logical_not: "!{}",
    np.logical_or: "{} | {}",
    np.not_equal: "{} != {}",
}
OF_CONDITIONS = (np.bitwise_and, np.bitwise_or, np.invert, np.logical_and, np.logical_not, np.logical_or)


class NotTraceable(Exception):
    """The formula cannot be traced: it depends on values, or calls a function that is not elementwise."""


class Trace:
    """Lines of C, each of which assigns one value.

    type: "float", "double" or the name of a type, in which values are computed
    prefix: of the values' names
    operations: of the lines that call a function of ARITHMETIC: result, function, operands; None for other lines
    literals: the constants in the text, by it
    lifted: None: constants are literals in the text. Otherwise the values of the constants: each is read from
        `numbers[k]`, so that the text does not depend on them
    """

    def __init__(self, type: str, prefix: str, *, lift: bool = False):
        self.type = type
        self.prefix = prefix
        self.lines: list[str] = []
        self.operations: list[Operation | None] = []
        self.literals: dict[str, float] = {}
        self.lift = lift
        self.lifted: list[float] = []

    def cell(self, name: str | None = None) -> "Cell":
        """A cell with the value of that name; None: not written yet."""
        return Cell(self, name)

    def number(self, value: object) -> "Cell":
        """A cell with a constant."""
        return Cell(self, self.name_of(value))

    def let(self, text: str, condition: bool = False, call: tuple[np.ufunc, Sequence[str]] | None = None) -> str:
        """The name of a new value; call: the function of ARITHMETIC and the operands that the text has."""
        name = f"{self.prefix}{len(self.lines)}"
        self.operations.append(call and (name, *call))
        self.lines.append(f"const {'bool' if condition else self.type} {name} = {text};")
        return name

    def name_of(self, value: object) -> str:
        """The text of an operand in a line."""
        if isinstance(value, Cell):
            if value.trace is not self:
                raise NotTraceable("operands of two traces in one function")
            if value.name is None:
                raise NotTraceable("memory is read before it is written")
            return value.name
        if isinstance(value, np.ndarray) and value.ndim == 0:
            value = value[()]
        if not isinstance(value, numbers.Real | np.bool_):
            raise NotTraceable(f"an operand is a {type(value).__name__}")
        if self.lift:
            self.lifted.append(float(value))
            return f"numbers[{len(self.lifted) - 1}]"
        if not np.isfinite(float(value)):
            raise NotTraceable("a constant is not finite")
        text = f"({self.type})({float(value)!r})"
        self.literals[text] = float(value)
        return text


class Cell(NDArrayOperatorsMixin):
    """A symbolic array (n,) or scalar in a formula.

    name: of its current value in the trace; None before it is written
    condition: whether it is boolean
    """

    __slots__ = ("condition", "name", "trace")
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, trace: Trace, name: str | None, condition: bool = False):
        self.trace = trace
        self.name = name
        self.condition = condition

    def __array_ufunc__(
        self,
        ufunc: np.ufunc,
        method: str,
        *inputs: object,
        out: tuple[object, ...] | None = None,
        where: object = True,
    ) -> "Cell":
        if method != "__call__":
            raise NotTraceable(f"{ufunc.__name__}.{method} is not elementwise")
        condition = ufunc in CONDITIONS
        if not condition and ufunc not in ARITHMETIC:
            raise NotTraceable(f"{ufunc.__name__} has no kernel")
        names = [self.trace.name_of(value) for value in inputs]
        if ufunc in OF_CONDITIONS and not all(isinstance(x, bool | np.bool_) or _is_condition(x) for x in inputs):
            names = [f"({name} != 0)" for name in names]
        text = CONDITIONS[ufunc].format(*names) if condition else f"{ARITHMETIC[ufunc]}({', '.join(names)})"
        call = None if condition else (ufunc, names)
        result = Cell(self.trace, self.trace.let(text, condition, call), condition)
        if out is None:
            if where is not True:
                raise NotTraceable("`where` without `out` leaves values undefined")
            return result
        return _write(out[0], result, where)

    def __array_function__(self, function: Callable[..., Any], types: object, args: Sequence[Any], kwargs: Any) -> Any:
        traced = FUNCTIONS.get(function)
        if traced is None:
            raise NotTraceable(f"{function.__name__} has no kernel")
        return traced(self.trace, *args, **kwargs)

    def __setitem__(self, index: object, value: object) -> None:
        if index is not Ellipsis and index != slice(None):
            raise NotTraceable("a part of an array is written")
        _write(self, value, True)

    def copy(self) -> "Cell":
        """Another cell with the same value."""
        return Cell(self.trace, self.trace.name_of(self), self.condition)

    def __bool__(self, *ignored: object) -> bool:
        raise NotTraceable("the formula branches on a value that is only known on the GPU")

    __float__ = __int__ = __index__ = __len__ = __iter__ = __getitem__ = __bool__


def _is_condition(value: object) -> bool:
    return isinstance(value, Cell) and value.condition


def _write(target: object, value: object, where: object) -> Cell:
    if not isinstance(target, Cell):
        raise NotTraceable("a result is written into an array that does not belong to the update")
    trace = target.trace
    name = trace.name_of(value)
    if _is_condition(value) and not target.condition:
        name = trace.let(f"{name} ? 1 : 0")
    if where is not True:
        name = trace.let(f"{trace.name_of(where)} ? {name} : {trace.name_of(target)}")
    target.name = name
    return target


def _where(trace: Trace, condition: object, first: object, second: object) -> Cell:
    if not _is_condition(condition):
        raise NotTraceable("where() requires a boolean condition")
    return Cell(trace, trace.let(f"{trace.name_of(condition)} ? {trace.name_of(first)} : {trace.name_of(second)}"))


def _copyto(trace: Trace, dst: object, src: object, casting: str = "same_kind", where: object = True) -> None:
    _write(dst, src, where)


def _clip(trace: Trace, a: Cell, a_min: Any = None, a_max: Any = None, out: object = None) -> Cell:
    result: Any = a.copy()
    if a_min is not None:
        result = np.maximum(result, a_min)
    if a_max is not None:
        result = np.minimum(result, a_max)
    return result if out is None else _write(out, result, True)


FUNCTIONS: dict[Callable[..., Any], Callable[..., Any]] = {
    np.clip: _clip,
    np.copyto: _copyto,
    np.ones_like: lambda trace, a: trace.number(1.0),
    np.where: _where,
    np.zeros_like: lambda trace, a: trace.number(0.0),
}
