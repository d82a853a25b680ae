"""Chainer's checks of a function's input types, whose errors spell out the condition that failed.

>>> class Sum(cvzoo.FunctionNode):
...     def check_type_forward(self, in_types):
...         x_type, y_type = in_types
...         type_check.expect(x_type.dtype.kind == "f", x_type.shape == y_type.shape)

A condition is an expression: arithmetic, indexing and attributes of types give further expressions, which know their
value and how they were written.
"""

import math
import operator
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from cvzoo.errors.exceptions import DtypeError, ShapeError
from cvzoo.typing.aliases import Array

_OPERATORS: dict[str, tuple[str, int, Callable[[Any, Any], Any]]] = {
    "__add__": ("+", 4, operator.add),
    "__sub__": ("-", 4, operator.sub),
    "__mul__": ("*", 5, operator.mul),
    "__truediv__": ("/", 5, operator.truediv),
    "__floordiv__": ("//", 5, operator.floordiv),
    "__mod__": ("%", 5, operator.mod),
    "__pow__": ("**", 7, operator.pow),
    "__eq__": ("==", 2, operator.eq),
    "__ne__": ("!=", 2, operator.ne),
    "__lt__": ("<", 2, operator.lt),
    "__le__": ("<=", 2, operator.le),
    "__gt__": (">", 2, operator.gt),
    "__ge__": (">=", 2, operator.ge),
}
_OPPOSITE = {"==": "!=", "!=": "==", "<": ">=", ">=": "<", ">": "<=", "<=": ">"}
_ATOM = 9  # binds more tightly than any operator


class InvalidType(ShapeError, DtypeError):
    """The inputs of a function do not have the types that it expects.

    expect: the condition as it was written
    actual: the actual relation of its values
    """

    def __init__(self, expect: str, actual: str, msg: str | None = None):
        what = "the inputs have other types than expected" if msg is None else msg
        super().__init__(what, expected=expect, got=actual)
        self.expect = expect
        self.actual = actual

    def __reduce__(self) -> tuple[type, tuple[str, str]]:
        return InvalidType, (self.expect, self.actual)


class Expression:
    """A value with the text of the expression that computed it; operations on expressions give expressions.

    sides: of a comparison: its symbol and both values
    """

    def __init__(self, value: Any, text: str, priority: int = _ATOM, sides: tuple[str, Any, Any] | None = None):
        self._value, self._text, self._priority, self._sides = value, text, priority, sides

    def eval(self) -> Any:
        """The value."""
        return self._value

    def __str__(self) -> str:
        return self._text

    # `==` gives an expression, by which dicts and sets could not find one
    __hash__ = None  # type: ignore[assignment]

    def __getattr__(self, name: str) -> "Expression":
        if name.startswith("__"):
            raise AttributeError(name)
        return Expression(getattr(self._value, name), f"{_within(self, _ATOM)}.{name}")

    def __getitem__(self, key: Any) -> "Expression":
        return Expression(self._value[_value_of(key)], f"{_within(self, _ATOM)}[{_key_text(key)}]")

    def __call__(self, *args: Any) -> "Expression":
        text = ", ".join([_text_of(each) for each in args])
        return Expression(self._value(*map(_value_of, args)), f"{_within(self, _ATOM)}({text})")

    def __neg__(self) -> "Expression":
        return Expression(-self._value, f"-{_within(self, 6)}", 6)

    def __iter__(self) -> Iterator["Expression"]:
        return (self[i] for i in range(len(self._value)))

    def __bool__(self) -> bool:
        raise DtypeError(
            "a condition of types has no truth value", hint="type_check.expect(condition), or condition.eval()"
        )


def _operator(name: str, *, swapped: bool = False) -> Callable[[Expression, Any], Expression]:
    symbol, priority, function = _OPERATORS[name]

    def run(self: Expression, other: Any) -> Expression:
        a, b = (other, self) if swapped else (self, other)
        left, right = _value_of(a), _value_of(b)
        # operators are left-associative: a right operand of the same priority needs parentheses
        text = f"{_within(a, priority)} {symbol} {_within(b, priority + 1)}"
        sides = (symbol, left, right) if symbol in _OPPOSITE else None
        return Expression(function(left, right), text, priority, sides)

    return run


for _name in _OPERATORS:
    setattr(Expression, _name, _operator(_name))
    if _OPERATORS[_name][0] not in _OPPOSITE:
        setattr(Expression, _name.replace("__", "__r", 1), _operator(_name, swapped=True))


def _value_of(x: object) -> Any:
    return x.eval() if isinstance(x, Expression) else x


def _text_of(x: object) -> str:
    if isinstance(x, type):
        return f"{x.__module__}.{x.__qualname__}"
    return str(x) if isinstance(x, Expression) else repr(x)


def _shown(value: object) -> str:
    return value.__name__ if isinstance(value, type) else str(value)


def _within(x: object, priority: int) -> str:
    return f"({x})" if isinstance(x, Expression) and x._priority < priority else _text_of(x)


def _key_text(key: object) -> str:
    if isinstance(key, slice):
        parts = ["" if each is None else _text_of(each) for each in (key.start, key.stop)]
        return ":".join(parts if key.step is None else [*parts, _text_of(key.step)])
    return ", ".join(map(_key_text, key)) if isinstance(key, tuple) else _text_of(key)


class ArrayType(NamedTuple):
    """The type of an array."""

    shape: tuple[int, ...]
    dtype: np.dtype

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return len(self.shape)


class ArrayTypes(tuple[Expression, ...]):
    """The types of a function's inputs, as `check_type_forward` gets them."""

    def size(self) -> Expression:
        """The number of inputs."""
        return Expression(len(self), "in_types.size()")


def types_of(arrays: Sequence[Array], names: Sequence[str] | None = None) -> ArrayTypes:
    """The types of arrays as expressions.

    names: what they are called; by default in_types[0], in_types[1], ...
    """
    called = [f"in_types[{i}]" for i in range(len(arrays))] if names is None else names
    return ArrayTypes([Expression(ArrayType(x.shape, x.dtype), name) for x, name in zip(arrays, called)])


def Variable(value: Any, name: str) -> Expression:
    """The value as an expression that is written as `name`; also of a function."""
    return Expression(value, name)


make_variable = Variable
# Chainer's names of the classes
Expr, TypeInfo, TypeInfoTuple = Expression, ArrayType, ArrayTypes


def expect(*conditions: object) -> None:
    """Check that all conditions hold. Raises InvalidType with the first one that does not."""
    for each in conditions:
        if _value_of(each):
            continue
        if not isinstance(each, Expression):
            raise InvalidType("a condition", repr(each))
        symbol, left, right = each._sides or ("is", each.eval(), "true")
        raise InvalidType(str(each), f"{_shown(left)} {_OPPOSITE.get(symbol, 'is not')} {_shown(right)}")


def eval(exp: Any) -> Any:
    """The value of an expression; anything else as it is."""
    return _value_of(exp)


def prod(xs: Any) -> Expression:
    """The product of an expression's numbers."""
    return Expression(math.prod(_value_of(xs)), f"prod({_text_of(xs)})")


def same_types(*arrays: Array) -> bool:
    """Whether the arrays are of one library."""
    return len({type(each).__module__.split(".")[0] for each in arrays}) < 2


def _argname(in_types: ArrayTypes, names: Sequence[str]) -> None:
    """Set the types' names in errors. Raises InvalidType if their number differs."""
    if len(in_types) != len(names):
        raise InvalidType(f"{len(names)} inputs: {', '.join(names)}", f"{len(in_types)} inputs")
    for each, name in zip(in_types, names):
        each._text = name
