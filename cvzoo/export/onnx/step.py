"""One function of a network, as recorded in each probe."""

import dataclasses
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

from cvzoo.autodiff.function_node import FunctionNode
from cvzoo.errors.exceptions import UnsupportedError
from cvzoo.export.onnx.onnx_graph import Shape
from cvzoo.export.onnx.sizes import SizeDependenceError, Sizes
from cvzoo.graph.records import Record

T = TypeVar("T")


@dataclasses.dataclass(frozen=True)
class Step:
    """A function's application: one record per probe, which differ in sizes only.

    index: its position among the functions
    inputs: names of its inputs in the ONNX graph; in_shapes: their shapes
    out_shapes: shapes of its outputs
    """

    index: int
    records: tuple[Record, ...]
    inputs: tuple[str, ...]
    in_shapes: tuple[Shape, ...]
    out_shapes: tuple[Shape, ...]

    @property
    def function(self) -> FunctionNode:
        """The function in the first probe."""
        return self.records[0].function

    @property
    def label(self) -> str:
        """Name and position of the function, for errors."""
        return f"{self.records[0].label}, function number {self.index + 1}"

    def setting(self, name: str) -> Any:
        """A setting of the function. Raises SizeDependenceError if it differs between probes."""
        return self.fixed(lambda record: record.settings[name], name.lstrip("_"))

    def fixed(self, read: Callable[[Record], T], what: str) -> T:
        """The value of `read` for the records. Raises SizeDependenceError if it differs between probes."""
        values = [read(record) for record in self.records]
        if not all(equal(values[0], each) for each in values[1:]):
            raise SizeDependenceError(f"{self.label}: its {what} changes with the batch or the size")
        return values[0]

    def fixed_shape(self, shape: Shape) -> tuple[int, ...]:
        """The shape as integers. Raises SizeDependenceError if it differs between probes."""
        return tuple([self.fixed_size(sizes) for sizes in shape])

    def fixed_size(self, sizes: Sizes) -> int:
        """The size as an integer. Raises SizeDependenceError if it differs between probes."""
        if len(set(sizes)) > 1:
            raise SizeDependenceError(f"{self.label}: its sizes change with the batch or the size")
        return sizes[0]

    def refuse(self, why: str) -> UnsupportedError:
        """An error, to be raised by the caller, that names the function."""
        return UnsupportedError(f"ONNX: {self.label}: {why}")


def equal(a: object, b: object) -> bool:
    """Whether two settings are the same; arrays are compared by value."""
    if a is b:
        return True
    if isinstance(a, np.ndarray) or isinstance(b, np.ndarray):
        return isinstance(a, np.ndarray) and isinstance(b, np.ndarray) and np.array_equal(a, b)
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(equal(a[key], b[key]) for key in a)
    if isinstance(a, tuple | list) and isinstance(b, tuple | list) and type(a) is type(b):
        return len(a) == len(b) and all(map(equal, a, b))
    return bool(a == b)
