"""Lowering of functions to the kernels that they call, captured while each function runs once."""

import itertools
import math
import operator
from collections.abc import Callable, Hashable, Sequence
from typing import Any

import numpy as np

from cvzoo.backends.arrays import numpy_address
from cvzoo.backends.memory_views import view_at
from cvzoo.backends.onednn.alignment import is_readable
from cvzoo.backends.onednn.bound_call import operation_of, written_of, written_slots
from cvzoo.backends.onednn.pool import pool
from cvzoo.backends.onednn.primitives import DIFF_DST, DST, WEIGHTS, Primitive, local
from cvzoo.graph.gradient_of import GradientOf
from cvzoo.graph.hidden import arrays_in, state_of, take_array
from cvzoo.graph.memory import Area, Roots
from cvzoo.graph.noise import checksum_of, fill_with_noise
from cvzoo.graph.records import Graph, Record
from cvzoo.graph.repeats import same_settings
from cvzoo.graph.steps import ARENA, EXTERNAL, RESULT, Block, Call, Evaluate, Lowered, Operand
from cvzoo.typing.aliases import Array

_Located = tuple[Area, Callable[[], object], int]  # an array's area, a weak reference to its memory, its address
_first = operator.itemgetter(0)  # the area of a _Located, the owner of an area; faster than attributes in hot loops


_IDLE = 32 << 20  # bytes
# what heavy kernels of a function do while it is traced
_NOISE = "noise"  # they write the same noise each time
_CHECKSUMS = "checksums"  # they write noise that depends on what they read, so that it tells whether that is the same
_TRUE = "true values"  # they run


class _UntriedError(Exception):
    """A function's kernel calls cannot be judged while its heavy kernels write what they do."""


class _Lowering:
    """skips: whether heavy kernels write noise instead of running"""

    def __init__(self, graph: Graph, *, skips: bool):
        self.skips = skips
        self.heavy = _TRUE  # what heavy kernels of the current function do
        # owners of the current function's inputs that its calls must read: what Python code does with another input may
        # show no difference yet, such as the sum with a bias of zeros
        self.varying: set[int] = set()
        self.seen: set[Hashable] = set()  # types of functions that ran, with their inputs' memory formats
        self.lowered = Lowered(graph)
        self.graph = graph
        self.roots = Roots()
        self.calls: list[tuple[Primitive, list[_Located]]] = []
        self.blocks = self.lowered.blocks
        self.constants: dict[Area, np.ndarray] = {}
        self.facts: dict[Primitive, tuple[str, tuple[frozenset[int], frozenset[int]]]] = {}
        self.located: dict[int, _Located] = {}  # of the live values
        self.inputs: dict[int, _Located] = {}  # of the current function's inputs, by `id`
        self.attributes: set[int] = set()  # owners of the arrays that the current function has put into its attributes
        # by signature: settings, and whether the kernel calls are complete with these
        self.verified: dict[Hashable, list[tuple[dict[str, Any], bool]]] = {}

    def record_call(self, primitive: Primitive, arrays: Sequence[np.ndarray]) -> bool:
        # the function's own inputs are located already
        self.calls.append((primitive, [self.inputs.get(id(x)) or self.roots.locate(x) for x in arrays]))
        return _stood_in(primitive, arrays, self.heavy)

    def run(self, arrays: Sequence[np.ndarray]) -> Lowered:
        graph, areas = self.graph, self.lowered.areas
        env: dict[int, np.ndarray] = dict(graph.constants)
        for value, array in zip(graph.inputs, arrays):
            self.located[value] = self.roots.locate(array)
            areas[value] = self.located[value][0]
            self.blocks[areas[value].owner] = _block(array, EXTERNAL)
            env[value] = array
        reads = [(*each.reads, *each.hidden_reads.values()) for each in graph.records]
        writes = [(*each.writes, *each.hidden_writes.values()) for each in graph.records]
        last = {value: k for k in range(len(reads)) for value in (*reads[k], *writes[k])}
        for k, record in enumerate(graph.records):
            self.lower(record, reads[k], writes[k], env)
            for value in (*reads[k], *writes[k]):
                if last[value] == k:
                    env.pop(value, None)
                    self.located.pop(value, None)
            if pool.idle_bytes > max(_IDLE, pool.live_bytes):  # gaps too small for the next array add to the peak
                pool.release()
        for block in self.lowered.output_blocks():
            if self.blocks[block].kind == ARENA:
                self.blocks[block].kind = RESULT
        return self.lowered

    def lower(
        self, record: Record, reads: tuple[int, ...], writes: tuple[int, ...], env: dict[int, np.ndarray]
    ) -> None:
        inputs = tuple(map(env.__getitem__, reads))
        located: list[_Located] = []
        for value, x in zip(reads, inputs):
            if value not in self.located:
                self.located[value] = self.roots.locate(x)
            located.append(self.located[value])
        self.inputs = dict(zip(map(id, inputs), located))
        # parameters vary in training only; then no packed copy is read in their place
        is_training = self.graph.n_input is not None
        are_varying = [is_training or value not in self.graph.constants for value in reads]
        self.varying = {area.owner for (area, *_), varies in zip(located, are_varying) if varies}
        self.attributes = set()
        look = type(record.function), *[(x.shape, x.strides, x.dtype) for x in inputs]
        attempts = [_CHECKSUMS, _TRUE] if self.skips else [_TRUE]
        if self.skips and look in self.seen:
            attempts.insert(0, _NOISE)
        self.seen.add(look)
        for heavy in attempts:
            state = dict(vars(record.function))
            self.heavy = heavy
            try:
                return self.run_function(record, inputs, writes, [*map(_first, located)], env)
            except _UntriedError:
                pass
            finally:
                self.heavy = _TRUE
                if heavy != _TRUE and not (record.hidden_reads or record.hidden_writes):
                    vars(record.function).clear()  # what it has kept may have been computed from noise
                    vars(record.function).update(state)

    def run_function(
        self,
        record: Record,
        inputs: tuple[Array, ...],
        writes: tuple[int, ...],
        input_areas: list[Area],
        env: dict[int, np.ndarray],
    ) -> None:
        is_plain = not (record.hidden_reads or record.hidden_writes)
        if not is_plain:
            record.prepare(env)
        self.calls = []
        present = arrays_in(vars(record.function)) if is_plain else {}
        before, local.recorder = local.recorder, self.record_call
        try:
            function = record.function
            results = (function.results_of if function.in_float32 else function.forward)(inputs[: len(record.reads)])
        finally:
            local.recorder = before
        results = tuple(map(np.asarray, results))
        if not is_plain:
            results += tuple([take_array(record.function, path) for path in record.hidden_writes])
            record.release_arrays()
        elif now := arrays_in(vars(record.function)):
            known = set(map(id, present.values()))
            self.attributes |= {self.roots.locate(x)[0].owner for x in now.values() if id(x) not in known}
        outputs = [*map(self.roots.locate, results)]
        self.located.update(zip(writes, outputs))
        result_areas = [*map(_first, outputs)]
        steps = self.as_calls(record, inputs, results, result_areas, input_areas) if self.calls else None
        if steps is None:
            owners = {self.lowered.areas[v].owner for v in record.all_reads if v in self.lowered.areas}
            is_view = bool(result_areas) and owners.issuperset([area.owner for area in result_areas])
            self.lowered.steps.append(Evaluate(record, is_view))
            for area, y in zip(result_areas, results):
                if area.owner not in self.blocks:
                    self.blocks[area.owner] = _block(y, EXTERNAL)
        else:
            self.lowered.steps += steps
        for value, area, y in zip(writes, result_areas, results):
            self.lowered.areas[value] = area
            env[value] = y

    def as_calls(
        self,
        record: Record,
        inputs: tuple[Array, ...],
        results: tuple[Array, ...],
        result_areas: list[Area],
        input_areas: list[Area],
    ) -> list[Call] | None:
        """The record as kernel calls, or None if these do not compute all of it.

        result_areas, input_areas: memory areas of the results and inputs
        """
        written_areas: dict[int, Area] = {}
        owners = set(map(_first, result_areas))
        steps = []
        for primitive, located in self.calls:
            if primitive not in self.facts:
                self.facts[primitive] = operation_of(primitive), written_slots(primitive)
            operation, slots = self.facts[primitive]
            operands: list[Operand] = []
            written = set()
            for k, (area, root, address) in enumerate(located):
                if local.library.reads_aligned and not is_readable(area.offset | address):
                    return None
                # memory that is freed by now and no result was scratch memory of the function, which the call wrote
                alive = root() is not None and area.owner not in owners
                is_new = area.owner not in self.blocks and area.owner not in written_areas
                if k in slots[1] and written_areas.get(area.owner, area) != area:
                    return None  # several calls write parts of one block, whose size is not known from the first
                if k in slots[0] or (k in slots[1] and is_new and not alive):
                    if not is_new and written_areas.get(area.owner) != area:
                        return None
                    if is_new and area.offset:  # a part of a block whose size is unknown
                        return None
                    written_areas[area.owner] = area
                    written.add(k)
                    operands.append(area)
                elif not is_new:
                    operands.append(area)
                elif root() is not None and area.owner not in self.attributes:
                    if area not in self.constants:
                        self.constants[area] = view_at(root(), address, *area[2:])
                    operands.append(self.constants[area])
                else:  # written by Python code in this call of the function: the calls alone cannot compute it
                    return None
            steps.append(Call(record, primitive, operation, operands, frozenset(written)))
        read = {area.owner for _, located in self.calls for area, _, _ in located}
        if not owners.issubset(written_areas) or not read.issuperset(self.varying):
            return None
        key, settings = self.signature(record, steps, input_areas, result_areas), _settings(record)
        known = self.verified.setdefault(key, [])
        verified = [is_complete for others, is_complete in known if same_settings(others, settings)]
        if not verified:
            if self.heavy == _NOISE:
                raise _UntriedError
            at = dict(zip(input_areas, inputs))
            verified = [self.reproduces(steps, written_areas, at, results, result_areas)]
            if not verified[0] and self.heavy == _CHECKSUMS:
                raise _UntriedError  # the results are lost; or a kernel reads memory with gaps, but does not use these
            known.append((settings, verified[0]))
        if not verified[0]:
            return None
        for owner, area in written_areas.items():
            nbytes = math.prod(area.shape) * np.dtype(area.dtype).itemsize
            self.blocks[owner] = Block(area.shape, area.strides, area.dtype, nbytes, ARENA)
        return steps

    def signature(
        self, record: Record, steps: list[Call], input_areas: list[Area], result_areas: list[Area]
    ) -> Hashable:
        """A hashable signature of a function's kernel calls, independent of addresses."""
        numbers: dict[int, int] = {}
        parts: list[Any] = [type(record.function), len(input_areas), len(result_areas)]
        operands: list[Area | Array] = [*input_areas, *result_areas]
        for step in steps:
            parts += (step.primitive, len(step.operands))
            operands += step.operands
        for x in operands:
            if isinstance(x, Area):
                parts += (numbers.setdefault(x.owner, len(numbers)), x[1:])
            else:
                parts.append(x.shape)
        return tuple(parts)

    def reproduces(
        self,
        steps: list[Call],
        written_areas: dict[int, Area],
        inputs: dict[Area, Array],
        results: tuple[Array, ...],
        result_areas: list[Area],
    ) -> bool:
        """Whether the kernel calls alone, on memory filled with NaN, reproduce the function's results.

        inputs: by memory area
        Heavy kernels do what they did when the function ran: their noise is the same if they read the same. Then the
        memory is that of the results, of which checksums are compared: another copy would add to the peak.
        """
        memory: dict[int, tuple[Array, int]] = {}
        in_place = self.heavy == _CHECKSUMS
        owned = {area.owner: y for area, y in zip(result_areas, results)} if in_place else {}
        checksums = [checksum_of([y]) for y in results] if in_place else []
        for area, x in inputs.items():
            memory[area.owner] = x, self.roots.starts[area.owner]
        at: dict[Area, np.ndarray] = dict(inputs)
        for owner, area in written_areas.items():
            dense = _poisoned(area, owned.get(owner), self.roots.starts[owner])
            if dense is None:
                return False
            memory[owner] = dense, numpy_address(dense)
            at[area] = dense
        for operand in [*itertools.chain.from_iterable([step.operands for step in steps]), *result_areas]:
            if type(operand) is Area and operand not in at:  # another view of one of these blocks
                if operand.owner not in memory:
                    return False
                base, start = memory[operand.owner]
                at[operand] = view_at(base, start + operand.offset, *operand[2:])
        for step in steps:
            arrays = [at[each] if isinstance(each, Area) else each for each in step.operands]
            if not _stood_in(step.primitive, arrays, self.heavy):
                step.primitive(*arrays)
        if in_place:
            return checksums == [checksum_of([at[area]]) for area in result_areas]
        return all(map(_equal, map(at.__getitem__, result_areas), results))


def _stood_in(primitive: Primitive, arrays: Sequence[np.ndarray], heavy: str) -> bool:
    """Whether noise was written instead of running a convolution, a matrix product, or gradients.

    Others take little time and run, since they may reorder weights for a cache.
    """
    kinds = primitive.kinds
    if heavy == _TRUE or (DIFF_DST not in kinds and (WEIGHTS not in kinds or DST not in kinds)):
        return False
    written, seed = written_of(kinds)[0], 0
    if heavy == _CHECKSUMS:
        seed = 1 + checksum_of([x for k, x in enumerate(arrays) if k not in written])
    return all(fill_with_noise(arrays[k], seed) for k in written)


def _equal(a: np.ndarray, b: np.ndarray) -> bool:
    if b.dtype.kind != "f":
        return bool((a == b).all())
    bits = f"u{b.itemsize}"  # compared as integers first: a tenth of the time of a comparison with equal NaN
    return bool((a.view(bits) == b.view(bits)).all()) or np.array_equal(a, b, equal_nan=True)


def _settings(record: Record) -> dict[str, Any]:
    """The attributes that determine what a function computes."""
    function = record.function
    settings = state_of(function)
    if isinstance(function, GradientOf):
        settings["of"] = type(function.of), state_of(function.of)
    return settings


def _block(array: np.ndarray, kind: str) -> Block:
    return Block(array.shape, array.strides, array.dtype.str, array.nbytes, kind)


def _poisoned(area: Area, within: Array | None, address: int) -> np.ndarray | None:
    """An array like the area, filled with NaN (or -1); None if it is not dense.

    within: an array in the area's memory, which begins at `address`; None: the array's memory is new
    """
    dtype = np.dtype(area.dtype)
    nbytes = dtype.itemsize
    for axis in sorted(range(len(area.shape)), key=area.strides.__getitem__):
        if area.shape[axis] != 1 and area.strides[axis] != nbytes:
            return None
        nbytes *= area.shape[axis]
    byte = np.dtype(np.uint8)
    memory = (
        pool.take((nbytes,), (1,), byte, nbytes) if within is None else view_at(within, address, (nbytes,), (1,), byte)
    )
    memory.fill(255)  # all bits set: NaN in every floating dtype, -1 in integers
    return np.ndarray(area.shape, dtype, memory, 0, area.strides)


def lower(graph: Graph, arrays: Sequence[np.ndarray]) -> Lowered:
    """Lowers the graph's records to steps by running it on `arrays`, its inputs.

    A function becomes its primitives' calls if these alone, on memory filled with NaN, reproduce its results bitwise;
    else it runs in Python. This is tested once for functions of the same type, settings, shapes and primitives. Heavy
    kernels do not run for it but write noise that depends on what they read: the test is of the functions' Python code,
    and what the kernels compute is compared when the whole graph is replayed. Only where it fails are they run.
    Constants are by reference.
    """
    try:
        with np.errstate(all="ignore"):
            return _Lowering(graph, skips=True).run(arrays)
    except Exception:  # of a function that does not compute with any values
        return _Lowering(graph, skips=False).run(arrays)
