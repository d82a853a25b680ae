"""The steps of a lowered graph: kernel calls with their operands in memory, and functions that run in Python."""

import dataclasses
from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from cvzoo.backends.onednn.primitives import Primitive
from cvzoo.graph.memory import Area
from cvzoo.graph.records import Graph, Record

Operand = Area | np.ndarray  # in a block, or constant

# kinds of blocks
ARENA = "arena"  # planned memory, reused by each replay
RESULT = "result"  # allocated at each replay, since the caller owns it
EXTERNAL = "external"  # an input, or allocated by a function that runs in Python


@dataclasses.dataclass(eq=False)
class Block:
    """A memory block, with the metadata of the first array in it."""

    shape: tuple[int, ...]
    strides: tuple[int, ...]
    dtype: str
    nbytes: int
    kind: str


@dataclasses.dataclass(eq=False)
class Call:
    """A kernel and its operands in the kernel's order; `written`: indexes of those that it writes."""

    record: Record
    primitive: Primitive
    operation: str
    operands: list[Operand]
    written: frozenset[int]

    def blocks(self, *, written: bool) -> Iterator[int]:
        """The blocks that it writes or reads."""
        owners = []
        for k, operand in enumerate(self.operands):
            if type(operand) is Area and (k in self.written) == written:
                owners.append(operand.owner)
        return iter(owners)


@dataclasses.dataclass(eq=False)
class Evaluate:
    """A function that runs in Python.

    is_view: its results are views of its inputs
    """

    record: Record
    is_view: bool


Step = Call | Evaluate


class Lowered:
    """A graph's records as steps.

    areas: memory areas of the values that are no constants; an area's `owner` is an index into `blocks`
    """

    def __init__(self, graph: Graph):
        self.graph = graph
        self.steps: list[Step] = []
        self.blocks: dict[int, Block] = {}
        self.areas: dict[int, Area] = {}

    def touched(self, step: Step) -> set[int]:
        """The blocks that a step reads or writes."""
        return self.all_touched([step])[0]

    def all_touched(self, steps: Sequence[Step] | None = None) -> list[set[int]]:
        """The blocks that each of the steps reads or writes; of all steps by default."""
        areas, touched = self.areas, []
        for step in self.steps if steps is None else steps:
            blocks: set[int] = set()
            touched.append(blocks)
            if isinstance(step, Call):
                for operand in step.operands:
                    if type(operand) is Area:
                        blocks.add(operand.owner)
                continue
            record = step.record
            for values in (record.reads, record.hidden_reads.values(), record.writes, record.hidden_writes.values()):
                for value in values:
                    if value in areas:
                        blocks.add(areas[value].owner)
        return touched

    def lifetimes(self, touched: Sequence[Iterable[int]] | None = None) -> dict[int, tuple[int, int]]:
        """The first and last step that uses each block; outputs live to the end, inputs from the start.

        touched: the result of `touched` for each step, if known
        """
        lifetimes: dict[int, tuple[int, int]] = {}
        for k, blocks in enumerate(self.all_touched() if touched is None else touched):
            for block in blocks:
                lifetimes[block] = lifetimes[block][0] if block in lifetimes else k, k
        for value in self.graph.inputs:
            block = self.areas[value].owner
            lifetimes[block] = 0, lifetimes.get(block, (0, 0))[1]
        for value in self.graph.outputs:
            if value in self.areas:
                block = self.areas[value].owner
                lifetimes[block] = lifetimes.get(block, (0, 0))[0], len(self.steps)
        return lifetimes

    def values_in(self) -> dict[int, list[int]]:
        """The values of each block."""
        values: dict[int, list[int]] = {}
        for value, area in self.areas.items():
            values.setdefault(area.owner, []).append(value)
        return values

    def output_blocks(self) -> set[int]:
        """The blocks of the graph's outputs."""
        return {self.areas[value].owner for value in self.graph.outputs if value in self.areas}


class Moves:
    """Moves blocks of a lowered graph into others; an incrementally updated index of the steps that use each block.

    lifetimes: the first and last step that touches a block, as `Lowered.lifetimes`
    """

    def __init__(self, lowered: Lowered):
        self.lifetimes = lowered.lifetimes()
        self._lowered = lowered
        self._values = lowered.values_in()
        self._calls: dict[int, list[Call]] = {}
        for step in lowered.steps:
            if isinstance(step, Call):
                for operand in step.operands:
                    if type(operand) is Area:
                        self._calls.setdefault(operand.owner, []).append(step)

    def move(self, old: int, new: int) -> None:
        """Move the contents of the block `old` to `new`, at the same offsets."""
        areas = self._lowered.areas
        calls, values = self._calls.pop(old, []), self._values.pop(old, [])
        for step in calls:
            for k, operand in enumerate(step.operands):
                if type(operand) is Area and operand.owner == old:
                    step.operands[k] = Area(new, *operand[1:])
        for value in values:
            areas[value] = Area(new, *areas[value][1:])
        self._calls.setdefault(new, []).extend(calls)
        self._values.setdefault(new, []).extend(values)
        del self._lowered.blocks[old]
        (first, last), (start, end) = self.lifetimes.pop(old), self.lifetimes[new]
        self.lifetimes[new] = min(first, start), max(last, end)
