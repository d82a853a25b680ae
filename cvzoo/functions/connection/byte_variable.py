"""Values held in fewer bits: what one layer of eight bits, or of 16, hands to the next."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from cvzoo.autodiff.function_node import FunctionNode
from cvzoo.autodiff.variable import Variable, as_variable
from cvzoo.backends.dispatch import backend_of


class Counting(NamedTuple):
    """What bytes mean: so many times `scale`; with a sign (-128 .. 127) or without (0 .. 255)."""

    scale: float
    signed: bool


class Halves(NamedTuple):
    """What 16 bits mean: the first half of a float32, bfloat16."""

    n_bit: int = 16


class Quantize(FunctionNode):
    """Float32 to bytes. It is never part of a graph."""

    def __init__(self, counting: Counting):
        self._counting = counting

    def forward(self, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
        (x,) = inputs
        return (backend_of(x).quantize(x, scale=self._counting.scale, signed=self._counting.signed),)


class Dequantize(FunctionNode):
    """Bytes (or 16 bits) to float32. It is never part of a graph."""

    def __init__(self, counting: Counting | Halves):
        self._counting = counting

    def forward(self, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
        (x,) = inputs
        if isinstance(self._counting, Halves):
            return ((x.astype(np.uint32) << 16).view(np.float32),)
        return (x * np.float32(self._counting.scale),)


class ByteVariable(Variable):
    """A Variable of float32 whose numbers are held as bytes (or in 16 bits) until somebody reads them.

    To everybody but a layer of as many bits it is what they mean.
    """

    __slots__ = ("_bytes", "_counting")

    def __init__(self, values: Variable, counting: Counting | Halves):
        self._bytes: Variable | None = values
        self._counting = counting
        self._node = None
        self.name = None
        self._requires_grad = False
        _set(self, None)

    @property
    def _array(self) -> Any:
        array = _get(self)
        if array is None:
            array = Dequantize(self._counting).apply((self._bytes,))[0]._array
            _set(self, array)
            self._bytes = None  # who reads the array may write into it
        return array

    @_array.setter
    def _array(self, array: Any) -> None:
        _set(self, array)
        self._bytes = None

    def bytes_as(self, counting: Counting) -> Variable | None:
        """The bytes, if they are there and count so; else None."""
        return self._bytes if counting == self._counting else None

    @property
    def shape(self) -> tuple[int, ...]:
        return self._array.shape if self._bytes is None else self._bytes.shape

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def dtype(self) -> Any:
        return self._array.dtype if self._bytes is None else np.dtype(np.float32)

    def held(self) -> tuple[Variable, Counting | Halves] | None:
        """The bytes and what they mean, if nobody has made numbers of them; else None."""
        return None if self._bytes is None else (self._bytes, self._counting)


_get, _set = Variable._array.__get__, Variable._array.__set__  # type: ignore[attr-defined]


def as_bytes(x: Any, counting: Counting) -> Variable:
    """x as bytes that count so: its own if it is held so, else rounded."""
    x = as_variable(x)
    held = x.bytes_as(counting) if isinstance(x, ByteVariable) else None
    return Quantize(counting).apply((x,))[0] if held is None else held


def rearranged(x: Any, change: Callable[[Any], Variable]) -> Variable:
    """change(x); if x is held as bytes these are rearranged, and what comes back is held so, too.

    change: gives x's numbers in another order or shape
    """
    held = x.held() if isinstance(x, ByteVariable) else None
    return change(x) if held is None else ByteVariable(change(held[0]), held[1])
