"""The intermediate representation: a graph of records (applied functions) and values in single-assignment form."""

import dataclasses
import functools
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from cvzoo.autodiff.function_node import FunctionNode
from cvzoo.graph.hidden import put_array
from cvzoo.typing.aliases import Array

_HALVES = ("<f2", "<V2")  # float16, and what NumPy calls bfloat16


class Value(NamedTuple):
    """The metadata of an array in a graph: shape, strides, dtype."""

    shape: tuple[int, ...]
    dtype: str
    nbytes: int


_value = functools.partial(tuple.__new__, Value)


@dataclasses.dataclass(eq=False)
class Record:
    """One applied function, with the numbers of the values it reads and writes.

    settings: the function's attributes before it ran
    seconds: time of its forward
    hidden_reads: arrays among its attributes that other records wrote, by path ("_mean", "_kept.workspace")
    hidden_writes: arrays that its forward assigns to attributes, likewise
    in_backward: whether it belongs to the backward pass
    """

    function: FunctionNode
    reads: tuple[int, ...]
    writes: tuple[int, ...]
    settings: dict[str, Any] = dataclasses.field(default_factory=dict)
    seconds: float = 0.0
    hidden_reads: dict[str, int] = dataclasses.field(default_factory=dict)
    hidden_writes: dict[str, int] = dataclasses.field(default_factory=dict)
    in_backward: bool = False

    @property
    def all_reads(self) -> tuple[int, ...]:
        """The values it reads, hidden ones last."""
        return (*self.reads, *self.hidden_reads.values())

    @property
    def all_writes(self) -> tuple[int, ...]:
        """The values it writes, hidden ones last."""
        return (*self.writes, *self.hidden_writes.values())

    @property
    def label(self) -> str:
        """Its name in summaries."""
        return self.function.label

    def prepare(self, arrays: Mapping[int, Array]) -> None:
        """Before its function reruns: assign its hidden reads, discard its hidden writes."""
        state = vars(self.function)
        for path in self.hidden_writes:
            name = path.split(".")[0]
            if name in self.settings:
                state[name] = self.settings[name]
        for path, value in self.hidden_reads.items():
            put_array(self.function, path, arrays[value])

    def release_arrays(self) -> None:
        """Release the function's arrays that belong to one call."""
        for path in (*self.hidden_reads, *self.hidden_writes):
            put_array(self.function, path, None)


class Graph:
    """Records in topological order; every value is written once.

    values: by number; inputs, outputs: numbers, in order
    constants: arrays by value number
    is_on_device: whether its arrays are on a GPU
    n_input, n_output: number of inputs and outputs of the forward pass; the others are gradients. None without a
        backward pass
    """

    def __init__(self) -> None:
        self.records: list[Record] = []
        self.values: dict[int, Value] = {}
        self.inputs: tuple[int, ...] = ()
        self.outputs: tuple[int, ...] = ()
        self.constants: dict[int, np.ndarray] = {}
        self.is_on_device = False
        self.n_input: int | None = None
        self.n_output: int | None = None
        self._count = 0

    def is_fast(self, value: int) -> bool:
        """Whether fused kernels support such a value: float32, and 16-bit floats on a GPU."""
        dtype = self.values[value].dtype
        return dtype == "<f4" or (self.is_on_device and dtype in _HALVES)

    @property
    def n_forward(self) -> int:
        """The number of records before the backward pass."""
        return [record.in_backward for record in self.records].count(False)

    def add_value(self, array: np.ndarray) -> int:
        """Adds a value like `array`; returns its number."""
        number = self._count
        self._count += 1
        self.values[number] = _value((array.shape, array.dtype.str, array.nbytes))
        return number

    def add_constant(self, array: np.ndarray) -> int:
        """Adds a constant; returns its number."""
        number = self.add_value(array)
        self.constants[number] = array
        return number

    def writers(self) -> dict[int, Record]:
        """The record that writes each value."""
        writers: dict[int, Record] = {}
        for record in self.records:
            writers.update(dict.fromkeys(record.writes, record))
            writers.update(dict.fromkeys(record.hidden_writes.values(), record))
        return writers

    def readers(self) -> dict[int, list[Record]]:
        """The records that read each value, with repetitions."""
        readers: dict[int, list[Record]] = {value: [] for value in self.values}
        for record in self.records:
            for value in record.reads:
                readers[value].append(record)
            for value in record.hidden_reads.values():
                readers[value].append(record)
        return readers

    def replace(self, old: int, new: int) -> None:
        """Replace all uses of the value `old` by `new`, also among the outputs."""
        for record in self.records:
            if old in record.reads:
                record.reads = tuple(new if value == old else value for value in record.reads)
            for path, value in record.hidden_reads.items():
                if value == old:
                    record.hidden_reads[path] = new
        self.outputs = tuple(new if value == old else value for value in self.outputs)

    def drop_unused(self) -> None:
        """Remove values and constants without uses."""
        used = {*self.inputs, *self.outputs}
        for record in self.records:
            used.update(record.reads, record.writes)
            used.update(record.hidden_reads.values(), record.hidden_writes.values())
        self.values = {number: value for number, value in self.values.items() if number in used}
        self.constants = {number: array for number, array in self.constants.items() if number in used}

    def __iter__(self) -> Iterator[Record]:
        return iter(self.records)
