"""Lowering of functions to the kernels that they call, captured while each function runs once."""

import itertools
import math
import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from cvzoo.backends.onednn.alignment import is_readable
from cvzoo.backends.onednn.bound_call import operation_of, written_slots
from cvzoo.backends.onednn.pool import pool
from cvzoo.backends.onednn.primitives import Primitive, local
from cvzoo.graph.gradient_of import GradientOf
from cvzoo.graph.hidden import state_of, take_array
from cvzoo.graph.memory import Area, Roots, address_of, view_at
from cvzoo.graph.records import Graph, Record
from cvzoo.graph.repeats import same_settings
from cvzoo.graph.steps import ARENA, GIVEN, OUTSIDE, Block, Call, Evaluate, Lowered, Operand

_Seen = tuple[Area, Callable[[], Any], int]  # where an array lies, its memory, its address
_first = operator.itemgetter(0)  # of what was seen the area, of an area the owner: many thousand times


class _Lowering:
    def __init__(self, graph: Graph):
        self.lowered = Lowered(graph)
        self.graph = graph
        self.roots = Roots()
        self.calls: list[tuple[Primitive, list[_Seen]]] = []
        self.blocks = self.lowered.blocks
        self.constants: dict[Area, np.ndarray] = {}
        self.facts: dict[Primitive, tuple[str, tuple[frozenset[int], frozenset[int]]]] = {}
        self.looks: dict[int, _Seen] = {}  # of the values at hand
        self.given: dict[int, _Seen] = {}  # the same of what the function at hand is given, by `id`
        self.trusted: dict[Any, list[dict[str, Any]]] = {}  # what calls of functions with which settings are enough

    def note(self, primitive: Primitive, arrays: Sequence[np.ndarray]) -> None:
        # what the function itself was given has been looked at
        self.calls.append((primitive, [self.given.get(id(x)) or self.roots.look(x) for x in arrays]))

    def run(self, arrays: Sequence[np.ndarray]) -> Lowered:
        graph, areas = self.graph, self.lowered.areas
        env: dict[int, np.ndarray] = dict(graph.constants)
        for value, array in zip(graph.inputs, arrays):
            self.looks[value] = self.roots.look(array)
            areas[value] = self.looks[value][0]
            self.blocks[areas[value].owner] = _block(array, OUTSIDE)
            env[value] = array
        reads = [(*each.reads, *each.hidden_reads.values()) for each in graph.records]
        writes = [(*each.writes, *each.hidden_writes.values()) for each in graph.records]
        last = {value: k for k in range(len(reads)) for value in (*reads[k], *writes[k])}
        for k, record in enumerate(graph.records):
            self.lower(record, reads[k], writes[k], env)
            for value in (*reads[k], *writes[k]):
                if last[value] == k:
                    env.pop(value, None)
                    self.looks.pop(value, None)
        for block in self.lowered.given_blocks():
            if self.blocks[block].kind == ARENA:
                self.blocks[block].kind = GIVEN
        return self.lowered

    def lower(
        self, record: Record, reads: tuple[int, ...], writes: tuple[int, ...], env: dict[int, np.ndarray]
    ) -> None:
        inputs = tuple(map(env.__getitem__, reads))
        given: list[_Seen] = []
        for value, x in zip(reads, inputs):
            if value not in self.looks:
                self.looks[value] = self.roots.look(x)
            given.append(self.looks[value])
        self.given = dict(zip(map(id, inputs), given))
        is_plain = not (record.hidden_reads or record.hidden_writes)
        if not is_plain:
            record.prepare(env)
        self.calls = []
        before, local.recorder = local.recorder, self.note
        try:
            function = record.function
            results = (function.results_of if function.in_float32 else function.forward)(inputs[: len(record.reads)])
        finally:
            local.recorder = before
        results = tuple(map(np.asarray, results))
        if not is_plain:
            results += tuple([take_array(record.function, path) for path in record.hidden_writes])
            record.let_go()
        made = [*map(self.roots.look, results)]
        self.looks.update(zip(writes, made))
        found = [*map(_first, made)]
        steps = self.as_calls(record, inputs, results, found, [*map(_first, given)]) if self.calls else None
        if steps is None:
            own = {self.lowered.areas[v].owner for v in reads if v in self.lowered.areas}
            is_view = bool(found) and own.issuperset([area.owner for area in found])
            self.lowered.steps.append(Evaluate(record, is_view))
            for area, y in zip(found, results):
                if area.owner not in self.blocks:
                    self.blocks[area.owner] = _block(y, OUTSIDE)
        else:
            self.lowered.steps += steps
        for value, area, y in zip(writes, found, results):
            self.lowered.areas[value] = area
            env[value] = y

    def as_calls(
        self, record: Record, inputs: tuple[Any, ...], results: tuple[Any, ...], found: list[Area], given: list[Area]
    ) -> list[Call] | None:
        """The record as kernel calls, if these are complete; found, given: memory areas of the results and inputs."""
        made: dict[int, Area] = {}
        results_in = set(map(_first, found))  # their owners
        steps = []
        for primitive, seen in self.calls:
            if primitive not in self.facts:
                self.facts[primitive] = operation_of(primitive), written_slots(primitive)
            operation, slots = self.facts[primitive]
            operands: list[Operand] = []
            written = set()
            for k, (area, root, address) in enumerate(seen):
                if local.library.reads_aligned and not is_readable(area.offset | address):
                    return None
                alive = root() is not None and area.owner not in results_in
                is_new = area.owner not in self.blocks and area.owner not in made
                if k in slots[1] and made.get(area.owner, area) != area:
                    return None  # several calls write parts of one memory, whose size the first does not tell
                if k in slots[0] or (k in slots[1] and is_new and not alive):
                    if not is_new and made.get(area.owner) != area:
                        return None
                    if is_new and area.offset:
                        return None
                    made[area.owner] = area
                    written.add(k)
                    operands.append(area)
                elif not is_new:
                    operands.append(area)
                elif root() is not None:
                    if area not in self.constants:
                        self.constants[area] = view_at(root(), address, *area[2:])
                    operands.append(self.constants[area])
                else:
                    return None
            steps.append(Call(record, primitive, operation, operands, frozenset(written)))
        if not results_in.issubset(made):
            return None
        key, settings = self.appearance(record, steps, given, found), _settings(record)
        known = self.trusted.setdefault(key, [])
        if not any(map(same_settings, known, itertools.repeat(settings))):
            if not self.does_the_same(steps, made, dict(zip(given, inputs)), results, found):
                return None
            known.append(settings)
        for owner, area in made.items():
            nbytes = math.prod(area.shape) * np.dtype(area.dtype).itemsize
            self.blocks[owner] = Block(area.shape, area.strides, area.dtype, nbytes, ARENA)
        return steps

    def appearance(self, record: Record, steps: list[Call], given: list[Area], found: list[Area]) -> Any:
        """A hashable signature of a function's kernel calls, independent of addresses."""
        numbers: dict[int, int] = {}
        look: list[Any] = [type(record.function), len(given), len(found)]
        operands: list[Any] = [*given, *found]
        for step in steps:
            look += (step.primitive, len(step.operands))
            operands += step.operands
        for x in operands:
            if isinstance(x, Area):
                look += (numbers.setdefault(x.owner, len(numbers)), x[1:])
            else:
                look.append(x.shape)
        return tuple(look)

    def does_the_same(
        self,
        steps: list[Call],
        made: dict[int, Area],
        inputs: dict[Area, Any],
        results: tuple[Any, ...],
        found: list[Area],
    ) -> bool:
        """Whether the kernel calls alone, on memory filled with NaN, reproduce the function's results.

        inputs: by memory area
        """
        memory: dict[int, tuple[Any, int]] = {}
        for area, x in inputs.items():
            memory[area.owner] = x, self.roots.starts[area.owner]
        at: dict[Area, np.ndarray] = dict(inputs)
        for owner, area in made.items():
            dense = _poisoned(area)
            if dense is None:
                return False
            memory[owner] = dense, address_of(dense)
            at[area] = dense
        for operand in [*itertools.chain.from_iterable([step.operands for step in steps]), *found]:
            if type(operand) is Area and operand not in at:  # another part of one of these memories
                if operand.owner not in memory:
                    return False
                base, start = memory[operand.owner]
                at[operand] = view_at(base, start + operand.offset, *operand[2:])
        for step in steps:
            step.primitive(*[at[each] if isinstance(each, Area) else each for each in step.operands])
        return all(map(_equal, map(at.__getitem__, found), results))


def _equal(a: np.ndarray, b: np.ndarray) -> bool:
    if b.dtype.kind != "f":
        return np.array_equal(a, b)
    bits = f"u{b.itemsize}"  # as whole numbers, which takes a tenth of the time that asking for NaN does
    return np.array_equal(a.view(bits), b.view(bits)) or np.array_equal(a, b, equal_nan=True)


def _settings(record: Record) -> dict[str, Any]:
    """The attributes that determine what a function computes."""
    function = record.function
    settings = state_of(function)
    if isinstance(function, GradientOf):
        settings["of"] = type(function.of), state_of(function.of)
    return settings


def _block(array: np.ndarray, kind: str) -> Block:
    return Block(array.shape, array.strides, array.dtype.str, array.nbytes, kind)


def _poisoned(area: Area) -> np.ndarray | None:
    """An array like the area, filled with NaN (or -1); None if it is not dense."""
    dtype = np.dtype(area.dtype)
    nbytes = dtype.itemsize
    for axis in sorted(range(len(area.shape)), key=area.strides.__getitem__):
        if area.shape[axis] != 1 and area.strides[axis] != nbytes:
            return None
        nbytes *= area.shape[axis]
    memory = pool.take((nbytes,), (1,), np.dtype(np.uint8), nbytes)
    memory.fill(255)
    return np.ndarray(area.shape, dtype, memory, 0, area.strides)


def lower(graph: Graph, arrays: Sequence[np.ndarray]) -> Lowered:
    """Lowers the graph's records to steps by running it on `arrays`, its inputs.

    A function becomes its primitives' calls if they alone, on memory full of NaN, give its results to the bit; else it
    is run as it is. That is tried once for functions of the same type, settings, shapes and primitives. Constants are
    by reference.
    """
    return _Lowering(graph).run(arrays)
