"""Runs statements of C for all threads of a kernel at once, with NumPy."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from cvzoo.backends.user_kernels import c_math
from cvzoo.backends.user_kernels.c_syntax import (
    Assignment,
    Binary,
    Block,
    Call,
    Choice,
    Conversion,
    Declaration,
    Element,
    Expression,
    If,
    Loop,
    Name,
    Number,
    Statement,
    Unary,
)
from cvzoo.backends.user_kernels.c_types import common_type, type_of
from cvzoo.errors.exceptions import ValueRangeError

Array = np.ndarray
Mask = Any  # None: all threads; else truth values, one a thread


class Machine:
    """The variables of a kernel's threads.

    shape: that of the threads; every value broadcasts to it
    types: what names such as T stand for
    variables: one number a thread by name; assigning makes new arrays
    arrays: those that threads index as a whole, flat in C order; assigning writes into them
    """

    def __init__(
        self,
        shape: tuple[int, ...],
        types: Mapping[str, np.dtype],
        variables: Mapping[str, Array],
        arrays: Mapping[str, Array],
    ):
        self.shape = shape
        self.types = types
        self.variables = dict(variables)
        self.arrays = arrays

    def run(self, statements: tuple[Statement, ...], mask: Mask = None) -> None:
        """Run them, for the threads of the mask."""
        with np.errstate(all="ignore"):  # C says nothing of them either
            self._run(statements, mask)

    def value(self, expression: Expression) -> Array:
        """What the expression is for each thread."""
        with np.errstate(all="ignore"):
            return self._value(expression, None)

    def _run(self, statements: tuple[Statement, ...], mask: Mask) -> None:
        for statement in statements:
            if isinstance(statement, Declaration):
                dtype = self._dtype(statement.type_name)
                value = np.zeros((), dtype) if statement.value is None else self._value(statement.value, mask)
                self.variables[statement.name] = c_math.convert(value, dtype)
            elif isinstance(statement, Assignment):
                self._assign(statement, mask)
            elif isinstance(statement, Block):
                outside = set(self.variables)
                self._run(statement.body, mask)
                for name in set(self.variables) - outside:
                    del self.variables[name]
            elif isinstance(statement, If):
                condition = self._value(statement.condition, mask) != 0
                self._run(statement.yes, self._both(mask, condition))
                if statement.no:
                    self._run(statement.no, self._both(mask, ~condition))
            else:
                self._loop(statement, mask)

    def _loop(self, loop: Loop, mask: Mask) -> None:
        while True:
            mask = self._both(mask, self._value(loop.condition, mask) != 0)
            if not mask.any():
                return
            self._run((Block(loop.body),), mask)
            self._run(loop.step, mask)

    def _both(self, mask: Mask, condition: Array) -> Array:
        return condition if mask is None else mask & condition

    def _assign(self, statement: Assignment, mask: Mask) -> None:
        value = self._value(statement.value, mask)
        place = statement.target
        if statement.operator:
            value = c_math.binary(statement.operator, self._value(place, mask), value)
        if isinstance(place, Element):
            array = self._array(place.array)
            index = self._index(place, array, mask)
            value = c_math.convert(value, array.dtype)
            if mask is None:
                array[index] = value
            else:
                index, value, mask = np.broadcast_arrays(index, value, mask)
                array[index[mask]] = value[mask]
            return
        before = self.variables.get(place.name)
        if before is None:
            raise ValueRangeError(f"a kernel assigns to {place.name!r}, which it has not declared", hint="T x = ...;")
        value = c_math.convert(value, before.dtype)
        self.variables[place.name] = value if mask is None else np.where(mask, value, before)

    # --- values -----------------------------------------------------------------------------------------------------
    def _value(self, e: Expression, mask: Mask) -> Array:
        if isinstance(e, Name):
            found = self.variables.get(e.name)
            if found is None:
                hint = f"{e.name}[i]" if e.name in self.arrays else None
                raise ValueRangeError(
                    f"a kernel reads {e.name!r}, which is nothing", expected=", ".join(self.variables), hint=hint
                )
            return found
        if isinstance(e, Number):
            return _number(e.text)
        if isinstance(e, Binary):
            left = self._value(e.left, mask)
            inner = mask
            if e.operator in ("&&", "||"):  # the right side counts only where the left does not decide
                inner = self._both(mask, left != 0 if e.operator == "&&" else left == 0)
            return c_math.binary(e.operator, left, self._value(e.right, inner))
        if isinstance(e, Unary):
            return c_math.unary(e.operator, self._value(e.operand, mask))
        if isinstance(e, Choice):
            condition = self._value(e.condition, mask) != 0
            yes = self._value(e.yes, self._both(mask, condition))
            no = self._value(e.no, self._both(mask, ~condition))
            dtype = yes.dtype if yes.dtype == no.dtype else common_type(yes.dtype, no.dtype)
            return np.where(condition, c_math.convert(yes, dtype), c_math.convert(no, dtype))
        if isinstance(e, Conversion):
            return c_math.convert(self._value(e.operand, mask), self._dtype(e.type_name))
        if isinstance(e, Call):
            return c_math.call(e.function, tuple([self._value(a, mask) for a in e.arguments]))
        array = self._array(e.array)
        return array[self._index(e, array, mask)]

    def _array(self, name: str) -> Array:
        found = self.arrays.get(name)
        if found is None:
            raise ValueRangeError(f"a kernel indexes {name!r}, which is one number", hint=f"'raw T {name}'")
        return found

    def _index(self, e: Element, array: Array, mask: Mask) -> Array:
        index = self._value(e.index, mask).astype(np.int64)
        outside = (index < 0) | (index >= array.size)
        if mask is not None:
            outside = outside & mask
        if outside.any():
            bad = np.broadcast_arrays(index, outside)
            raise ValueRangeError(
                f"a kernel reads or writes outside of {e.array!r}",
                expected=f"indexes from 0 to {array.size - 1}",
                got=int(bad[0][bad[1]][0]),
            )
        return index if mask is None else np.clip(index, 0, max(array.size - 1, 0))

    def _dtype(self, name: str) -> np.dtype:
        return self.types.get(name) or type_of(name)


def _number(text: str) -> Array:
    """A number as C's suffixes and size make it."""
    lower = text.lower()
    if not lower.startswith("0x") and ("." in lower or "e" in lower or lower.endswith("f")):
        return np.asarray(float(lower.rstrip("fl")), "float32" if lower.endswith("f") else "float64")
    digits = lower.rstrip("ul")
    suffix = lower[len(digits) :]
    value = int(digits, 16 if digits.startswith("0x") else 8 if digits.startswith("0") and len(digits) > 1 else 10)
    for bits in (64,) if "l" in suffix else (32, 64):
        if "u" not in suffix and value < 2 ** (bits - 1):
            return np.asarray(value, f"int{bits}")
        if ("u" in suffix or digits.startswith("0x")) and value < 2**bits:
            return np.asarray(value, f"uint{bits}")
    return np.asarray(value, "uint64")
