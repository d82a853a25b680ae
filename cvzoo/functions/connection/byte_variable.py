"""Activations in int8 or bfloat16, which quantized layers pass on without converting them to float32."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from cvzoo.autodiff.function_node import FunctionNode
from cvzoo.autodiff.variable import Variable, as_variable
from cvzoo.backends.dispatch import backend_of
from cvzoo.typing.aliases import Array


class Counting(NamedTuple):
    """Quantization parameters: values are integers times `scale`, int8 if `signed` and uint8 otherwise."""

    scale: float
    signed: bool


class Halves(NamedTuple):
    """The bfloat16 storage format: the upper 16 bits of a float32."""

    n_bit: int = 16


class Quantize(FunctionNode):
    """Quantization: float32 to int8 or uint8. Not recorded in graphs."""

    def __init__(self, counting: Counting):
        self._counting = counting

    def forward(self, inputs: tuple[Array, ...]) -> tuple[Array, ...]:
        (x,) = inputs
        return (backend_of(x).quantize(x, scale=self._counting.scale, signed=self._counting.signed),)


class Dequantize(FunctionNode):
    """Dequantization: int8, uint8 or bfloat16 to float32. Not recorded in graphs."""

    def __init__(self, counting: Counting | Halves):
        self._counting = counting

    def forward(self, inputs: tuple[Array, ...]) -> tuple[Array, ...]:
        (x,) = inputs
        if isinstance(self._counting, Halves):
            # the lower 16 bits are zero in a widened bfloat16, so this is exact
            return ((x.astype(np.uint32) << 16).view(np.float32),)
        return (x * np.float32(self._counting.scale),)


class ByteVariable(Variable):
    """A float32 Variable that is stored quantized (int8 or bfloat16) and converted when its array is first read.

    Layers of the same format read the stored values; for everything else it is a float32 Variable.
    """

    __slots__ = ("_bytes", "_counting")

    def __init__(self, values: Variable, counting: Counting | Halves):
        self._bytes: Variable | None = values
        self._counting = counting
        self._node = None
        self.name = None
        self._requires_grad = False
        _set(self, None)

    @property  # takes the place of Variable's slot
    def _array(self) -> Array:
        array = _get(self)
        if array is None:
            array = Dequantize(self._counting).apply((self._bytes,))[0]._array
            _set(self, array)
            self._bytes = None  # the reader may write into the array
        return array

    @_array.setter
    def _array(self, array: Array) -> None:
        _set(self, array)
        self._bytes = None

    def bytes_as(self, counting: Counting) -> Variable | None:
        """The quantized values, if present with these parameters; else None."""
        return self._bytes if counting == self._counting else None

    @property
    def shape(self) -> tuple[int, ...]:
        return self._array.shape if self._bytes is None else self._bytes.shape

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def dtype(self) -> np.dtype:
        return self._array.dtype if self._bytes is None else np.dtype(np.float32)

    def held(self) -> tuple[Variable, Counting | Halves] | None:
        """The stored values and their format, if not converted yet; else None."""
        return None if self._bytes is None else (self._bytes, self._counting)


# the descriptor of the slot that the property above hides
_slot: Any = vars(Variable)["_array"]
_get, _set = _slot.__get__, _slot.__set__


def as_bytes(x: Variable | Array, counting: Counting) -> Variable:
    """x quantized with these parameters: its stored values if they have them, else newly quantized."""
    x = as_variable(x)
    held = x.bytes_as(counting) if isinstance(x, ByteVariable) else None
    return Quantize(counting).apply((x,))[0] if held is None else held


def rearranged(x: Variable | Array, change: Callable[[Any], Variable]) -> Variable:
    """change(x); if x is stored quantized, `change` is applied to the stored values, and so is the result.

    change: rearranges or reshapes the elements of x
    """
    held = x.held() if isinstance(x, ByteVariable) else None
    return change(x) if held is None else ByteVariable(change(held[0]), held[1])
