"""Operators and methods of Variable: the functions of this room, tied on when `cvzoo.functions` is imported.

Variable itself knows no function, since functions are built on it.
"""

from collections.abc import Iterator, Sequence
from typing import Any

from cvzoo.autodiff.variable import Variable
from cvzoo.errors.exceptions import DtypeError
from cvzoo.functions.array.axes import Axes
from cvzoo.functions.array.get_item import get_item
from cvzoo.functions.array.reshape import reshape
from cvzoo.functions.array.transpose import transpose
from cvzoo.functions.math.absolute import absolute
from cvzoo.functions.math.add import add, negative, subtract
from cvzoo.functions.math.divide import divide, floor_divide
from cvzoo.functions.math.extremum import max, min
from cvzoo.functions.math.matmul import matmul
from cvzoo.functions.math.multiply import multiply
from cvzoo.functions.math.power import power
from cvzoo.functions.math.sum import mean, sum


def _add(self: Variable, other: Any) -> Variable:
    return add(self, other)


def _multiply(self: Variable, other: Any) -> Variable:
    return multiply(self, other)


def _reshape(self: Variable, *shape: int | Sequence[int]) -> Variable:
    """`functions.reshape`: x.reshape(2, 3) or x.reshape((2, 3))."""
    return reshape(self, shape[0] if len(shape) == 1 else shape)


def _transpose(self: Variable, *axes: int | Sequence[int] | None) -> Variable:
    """`functions.transpose`: x.transpose(), x.transpose(1, 0) or x.transpose((1, 0))."""
    if not axes:
        return transpose(self)
    return transpose(self, axes[0] if len(axes) == 1 and not isinstance(axes[0], int) else axes)


def _sum(self: Variable, axis: Axes = None, keepdims: bool = False) -> Variable:
    return sum(self, axis, keepdims)


def _flatten(self: Variable) -> Variable:
    return reshape(self, (-1,))


def _iterate(self: Variable) -> Iterator[Variable]:
    if not self.ndim:
        raise DtypeError("a Variable without axes cannot be iterated over", hint="x.item()")
    return (get_item(self, i) for i in range(len(self)))


def install_operators() -> None:
    """Give Variable its operators and methods."""
    Variable.__add__ = Variable.__radd__ = _add
    Variable.__sub__ = lambda self, other: subtract(self, other)
    Variable.__rsub__ = lambda self, other: subtract(other, self)
    Variable.__mul__ = Variable.__rmul__ = _multiply
    Variable.__truediv__ = lambda self, other: divide(self, other)
    Variable.__rtruediv__ = lambda self, other: divide(other, self)
    Variable.__floordiv__ = lambda self, other: floor_divide(self, other)
    Variable.__rfloordiv__ = lambda self, other: floor_divide(other, self)
    Variable.__pow__ = lambda self, other: power(self, other)
    Variable.__rpow__ = lambda self, other: power(other, self)
    Variable.__matmul__ = lambda self, other: matmul(self, other)
    Variable.__rmatmul__ = lambda self, other: matmul(other, self)
    Variable.__neg__ = negative
    Variable.__pos__ = lambda self: self
    Variable.__abs__ = absolute
    Variable.__getitem__ = get_item
    Variable.__iter__ = _iterate
    Variable.reshape = _reshape
    Variable.transpose = _transpose
    Variable.flatten = _flatten
    Variable.sum = _sum
    Variable.mean = mean
    Variable.max = max
    Variable.min = min
    Variable.T = property(transpose, doc="The axes in reverse order.")
