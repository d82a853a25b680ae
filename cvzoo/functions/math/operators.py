"""Operators and methods of Variable, installed when `cvzoo.functions` is imported.

Variable itself does not import functions, since they are built on it.
"""

from collections.abc import Iterator, Sequence
from typing import Any

from cvzoo.autodiff.variable import Variable
from cvzoo.errors.exceptions import DtypeError
from cvzoo.functions.array.axes import reshape, transpose
from cvzoo.functions.array.indexing import get_item
from cvzoo.functions.math.arithmetic import absolute, add, divide, floor_divide, multiply, negative, subtract
from cvzoo.functions.math.extremum import max, min
from cvzoo.functions.math.matmul import matmul
from cvzoo.functions.math.power import power
from cvzoo.functions.math.sum import mean, sum


def _reshape(self: Variable, *shape: int | Sequence[int]) -> Variable:
    """`functions.reshape`: x.reshape(2, 3) or x.reshape((2, 3))."""
    given: Any = shape[0] if len(shape) == 1 else shape
    return reshape(self, given)


def _transpose(self: Variable, *axes: int | Sequence[int] | None) -> Variable:
    """`functions.transpose`: x.transpose(), x.transpose(1, 0) or x.transpose((1, 0))."""
    if not axes:
        return transpose(self)
    order: Any = axes[0] if len(axes) == 1 and not isinstance(axes[0], int) else axes
    return transpose(self, order)


def _flatten(self: Variable) -> Variable:
    return reshape(self, (-1,))


def _iterate(self: Variable) -> Iterator[Variable]:
    if not self.ndim:
        raise DtypeError("a Variable without axes cannot be iterated over", hint="x.item()")
    return (get_item(self, i) for i in range(len(self)))


def install_operators() -> None:
    """Set the operators and methods of Variable, which declares them for type checkers only."""
    cls: Any = Variable
    cls.__add__ = cls.__radd__ = add
    cls.__sub__ = subtract
    cls.__rsub__ = lambda self, other: subtract(other, self)
    cls.__mul__ = cls.__rmul__ = multiply
    cls.__truediv__ = divide
    cls.__rtruediv__ = lambda self, other: divide(other, self)
    cls.__floordiv__ = floor_divide
    cls.__rfloordiv__ = lambda self, other: floor_divide(other, self)
    cls.__pow__ = power
    cls.__rpow__ = lambda self, other: power(other, self)
    cls.__matmul__ = matmul
    cls.__rmatmul__ = lambda self, other: matmul(other, self)
    cls.__neg__ = negative
    cls.__pos__ = lambda self: self
    cls.__abs__ = absolute
    cls.__getitem__ = get_item
    cls.__iter__ = _iterate
    cls.reshape = _reshape
    cls.transpose = _transpose
    cls.flatten = _flatten
    cls.sum = sum
    cls.mean = mean
    cls.max = max
    cls.min = min
    cls.T = property(transpose, doc="The axes in reverse order.")
