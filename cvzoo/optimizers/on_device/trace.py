"""What a formula of NumPy's functions does, written down as lines of C.

Rules and hooks change runs of numbers by NumPy's elementwise functions. Called with cells in place of arrays, the same
formulas leave behind one line for each function, and that is the body of a kernel: nothing is written twice.
"""

import numbers
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

# functions of the prelude (update_rules.cu), which are overloaded for float and double and round as NumPy does
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
    """The formula does what cannot be written down: it looks at numbers, or calls what is not elementwise."""


class Trace:
    """Lines of C, each of which names one value.

    type: "float", "double" or the name of a type; what values are computed in
    prefix: what names of values begin with
    lifted: None: constants stand in the text. Otherwise the numbers that constants had: each is read from
        `numbers[k]`, so that the same text serves when they change
    """

    def __init__(self, type: str, prefix: str, *, lift: bool = False):
        self.type = type
        self.prefix = prefix
        self.lines: list[str] = []
        self.lift = lift
        self.lifted: list[float] = []

    def cell(self, name: str | None = None) -> "Cell":
        """A cell that holds the value of that name; None: nothing yet."""
        return Cell(self, name)

    def number(self, value: Any) -> "Cell":
        """A cell that holds a constant."""
        return Cell(self, self.name_of(value))

    def let(self, text: str, condition: bool = False) -> str:
        """The name of a new value."""
        name = f"{self.prefix}{len(self.lines)}"
        self.lines.append(f"const {'bool' if condition else self.type} {name} = {text};")
        return name

    def name_of(self, value: Any) -> str:
        """What stands for an operand in a line."""
        if isinstance(value, Cell):
            if value.trace is not self:
                raise NotTraceable("numbers of two kinds in one function")
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
        return f"({self.type})({float(value)!r})"


class Cell(NDArrayOperatorsMixin):
    """Stands in a formula for an array (n,), of which it knows what each number has become; or for one number.

    name: of the value in the trace; None before anything was written
    condition: whether the values are True and False
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
        *inputs: Any,
        out: tuple[Any, ...] | None = None,
        where: Any = True,
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
        made = Cell(self.trace, self.trace.let(text, condition), condition)
        if out is None:
            if where is not True:
                raise NotTraceable("`where` without `out` leaves numbers undefined")
            return made
        return _write(out[0], made, where)

    def __array_function__(self, function: Callable[..., Any], types: Any, args: Sequence[Any], kwargs: Any) -> Any:
        own = FUNCTIONS.get(function)
        if own is None:
            raise NotTraceable(f"{function.__name__} has no kernel")
        return own(self.trace, *args, **kwargs)

    def __setitem__(self, place: Any, value: Any) -> None:
        if place is not Ellipsis and place != slice(None):
            raise NotTraceable("a part of an array is written")
        _write(self, value, True)

    def copy(self) -> "Cell":
        """Another cell with the same value."""
        return Cell(self.trace, self.trace.name_of(self), self.condition)

    def __bool__(self, *ignored: Any) -> bool:
        raise NotTraceable("what is done depends on a number that only the GPU knows")

    __float__ = __int__ = __index__ = __len__ = __iter__ = __getitem__ = __bool__


def _is_condition(value: Any) -> bool:
    return isinstance(value, Cell) and value.condition


def _write(target: Any, value: Any, where: Any) -> Cell:
    if not isinstance(target, Cell):
        raise NotTraceable("a result is written into an array that is none of the update's")
    trace = target.trace
    name = trace.name_of(value)
    if _is_condition(value) and not target.condition:
        name = trace.let(f"{name} ? 1 : 0")
    if where is not True:
        name = trace.let(f"{trace.name_of(where)} ? {name} : {trace.name_of(target)}")
    target.name = name
    return target


def _where(trace: Trace, condition: Any, first: Any, second: Any) -> Cell:
    if not _is_condition(condition):
        raise NotTraceable("where() wants a condition")
    return Cell(trace, trace.let(f"{trace.name_of(condition)} ? {trace.name_of(first)} : {trace.name_of(second)}"))


def _copyto(trace: Trace, dst: Any, src: Any, casting: str = "same_kind", where: Any = True) -> None:
    _write(dst, src, where)


def _clip(trace: Trace, a: Any, a_min: Any = None, a_max: Any = None, out: Any = None) -> Cell:
    made = a.copy()
    if a_min is not None:
        made = np.maximum(made, a_min)
    if a_max is not None:
        made = np.minimum(made, a_max)
    return made if out is None else _write(out, made, True)


FUNCTIONS: dict[Callable[..., Any], Callable[..., Any]] = {
    np.clip: _clip,
    np.copyto: _copyto,
    np.ones_like: lambda trace, a: trace.number(1.0),
    np.where: _where,
    np.zeros_like: lambda trace, a: trace.number(0.0),
}
