"""Execution of a lowered graph on the CPU: a flat list of kernel calls on planned memory."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from cvzoo.backends.arrays import numpy_address
from cvzoo.backends.memory_views import view_at
from cvzoo.backends.onednn.alignment import readable
from cvzoo.backends.onednn.bound_call import BoundCall
from cvzoo.backends.onednn.native_primitive import BoundNativeCall, NativePrimitive
from cvzoo.backends.onednn.pool import laid_out, pool
from cvzoo.backends.onednn.primitives import check, local
from cvzoo.backends.openmp import idle_threads
from cvzoo.errors.exceptions import GraphError
from cvzoo.graph.hidden import take_array
from cvzoo.graph.memory import Area
from cvzoo.graph.memory_plan import ALIGNMENT, Arena, MemoryPlan, most_alive, plan_memory
from cvzoo.graph.records import Record
from cvzoo.graph.steps import ARENA, EXTERNAL, RESULT, Block, Call, Evaluate, Lowered
from cvzoo.typing.aliases import Shape


def _plan_of(lowered: Lowered, alive: dict[int, tuple[int, int]]) -> MemoryPlan:
    return plan_memory(
        {
            number: (block.nbytes, *alive[number])
            for number, block in lowered.blocks.items()
            if block.kind == ARENA and number in alive
        }
    )


class _State:
    """The state of a replay: arrays by value, and the first array of each block.

    reads_aligned: whether kernels need aligned inputs
    """

    __slots__ = ("arrays", "origins", "reads_aligned")

    def __init__(self) -> None:
        self.reads_aligned = local.ready and local.library.reads_aligned
        self.arrays: dict[int, np.ndarray | Any] = {}
        self.origins: dict[int, np.ndarray | Any] = {}  # Any stands for None, of what was released


class _MovingCall:
    """A call with operands whose addresses change at each run."""

    __slots__ = ("_bound", "_moving", "_origins", "_run")

    def __init__(
        self, bound: BoundCall | BoundNativeCall, moving: list[tuple[int, int, int]], origins: dict[int, np.ndarray]
    ):
        self._bound = bound
        self._moving = moving
        self._origins = origins
        self._run = bound.run

    def __call__(self) -> int:
        bind, origins = self._bound.bind, self._origins
        for k, block, offset in self._moving:
            bind(k, origins[block].__array_interface__["data"][0] + offset)
        return self._run()


class _Allocate:
    """Allocates a block that is returned to the caller, and the values in it."""

    __slots__ = ("_block", "_number", "_state", "_values")

    def __init__(self, number: int, block: Block, values: list[tuple[int, Area]], state: _State):
        self._number = number
        self._block = block
        self._values = values
        self._state = state

    def __call__(self) -> None:
        block, state = self._block, self._state
        array = pool.take(block.shape, block.strides, np.dtype(block.dtype), block.nbytes)
        state.origins[self._number] = array
        for value, area in self._values:
            if area.offset == 0 and area.shape == block.shape and area.strides == block.strides:
                state.arrays[value] = array
            else:
                state.arrays[value] = view_at(array, numpy_address(array) + area.offset, *area[2:])


class _Run:
    """A function that runs in Python."""

    __slots__ = ("_forward", "_label", "_layouts", "_prepared", "_reads", "_record", "_state", "_writes")

    def __init__(self, record: Record, layouts: list[tuple[int | None, Shape, Shape]], state: _State):
        self._forward = record.function.forward
        self._label = record.label
        self._record = record
        self._prepared = bool(record.hidden_reads or record.hidden_writes)
        self._reads = record.reads
        self._writes = record.all_writes
        self._layouts = layouts  # for each result: its block if it is the first value in it, its shape and strides
        self._state = state

    def __call__(self) -> None:
        arrays = self._state.arrays
        if self._prepared:
            record = self._record
            record.prepare(arrays)
            results = self._forward(tuple([arrays[value] for value in self._reads]))
            results += tuple([take_array(record.function, path) for path in record.hidden_writes])
            record.release_arrays()
        else:
            results = self._forward(tuple([arrays[value] for value in self._reads]))
        for value, y, (block, shape, strides) in zip(self._writes, results, self._layouts):
            if isinstance(y, np.generic):
                y = np.asarray(y)
            if y.shape != shape:
                raise GraphError(f"{self._label} returned another shape than before", expected=shape, got=y.shape)
            if y.strides != strides:
                y = _with_strides(y, strides)
            if block is not None:
                self._state.origins[block] = y = readable(y) if self._state.reads_aligned else y
            arrays[value] = y


def _with_strides(y: np.ndarray, strides: tuple[int, ...]) -> np.ndarray:
    """y with these strides; y itself if they differ only for axes of size 1."""
    if all(n == 1 or a == b for n, a, b in zip(y.shape, y.strides, strides)):
        return y
    if min(strides) < 0:
        raise GraphError("a function returned an array with other strides than before", expected=strides, got=y.strides)
    return laid_out(y, strides)


class _Release:
    """Releases arrays after their last use."""

    __slots__ = ("_blocks", "_state", "_values")

    def __init__(self, blocks: list[int], values: list[int], state: _State):
        self._blocks = blocks
        self._values = values
        self._state = state

    def __call__(self) -> None:
        for block in self._blocks:
            self._state.origins[block] = None
        for value in self._values:
            self._state.arrays[value] = None


class Program:
    """An executable graph: `program(arrays)` returns the graph's outputs in order, owned by the caller.

    With a backward pass, `forward(arrays)` and then `backward(gradients)` do the same in two parts. Between them the
    arena is taken.
    Not thread-safe: only the creating thread may call it.

    arena: the memory to use; its own by default
    plan: the memory plan; n_call, n_function: number of kernel calls, and of functions that run in Python
    inputs: shapes, strides and dtypes of the inputs
    profiled: seconds of each lowered step in a replay; None before `CompiledGraph.profile`
    result_nbytes: size of the results, which are allocated at each run
    lower_bound: the peak of live bytes
    external_nbytes: the peak of live bytes outside of the arena: results, and arrays of functions that run in Python
    """

    def __init__(self, lowered: Lowered, arena: Arena | None = None):
        self.lowered = lowered
        self.graph = lowered.graph
        touched = lowered.all_touched()
        alive = lowered.lifetimes(touched)
        self.plan = _plan_of(lowered, alive)
        self.result_nbytes = sum(block.nbytes for block in lowered.blocks.values() if block.kind == RESULT)
        self.n_call = self.n_function = 0
        self._state = _State()
        self._steps: list[Callable[[], int | None]] = []
        self.profiled: list[float] | None = None
        self._belongs: list[int] = []  # for each of `_steps`, the index of its lowered step
        self._keep: list[object] = []
        self._inputs = [(value, lowered.areas[value].owner) for value in lowered.graph.inputs]
        self.inputs = [lowered.blocks[owner] for _, owner in self._inputs]
        self._arena = arena or Arena(is_lent=True)
        self._base = 0
        self._bindings: list[tuple[BoundCall | BoundNativeCall, int, int]] = []
        self._build(alive, touched)

    def _build(self, alive: dict[int, tuple[int, int]], touched: Sequence[set[int]]) -> None:
        lowered = self.lowered
        self._state.arrays.update(lowered.graph.constants)
        values_in = lowered.values_in()
        ends: dict[int, list[int]] = {}  # external blocks, by the last step that uses them
        for number, (_, last) in alive.items():
            if lowered.blocks[number].kind == EXTERNAL:
                ends.setdefault(last, []).append(number)
        bound_calls = []
        unallocated = {number for number, block in lowered.blocks.items() if block.kind == RESULT}
        self._middle: int | None = None
        later: set[int] = set()
        for k, step in enumerate(lowered.steps):
            if step.record.in_backward:
                self._middle = len(self._steps) if self._middle is None else self._middle
                later |= touched[k]
            if isinstance(step, Call):
                if not touched[k].isdisjoint(unallocated):
                    self._allocate(step, unallocated, values_in)
                bound = self._bind(step)
                bound_calls.append(bound)
            else:
                self._evaluate(step)
            finished = touched[k].intersection(ends[k]) if k in ends else None
            if finished:
                values = [value for number in finished for value in values_in.get(number, ())]
                self._steps.append(_Release(sorted(finished), sorted(values), self._state))
            self._belongs += [k] * (len(self._steps) - len(self._belongs))
        self.scratch_nbytes = max([bound.scratch_size for bound in bound_calls], default=0)
        self._with_scratch = [bound for bound in bound_calls if bound.scratch_size]
        self._passing = (
            dict.fromkeys([number for number, block in lowered.blocks.items() if block.kind != ARENA]),
            dict.fromkeys([value for value, area in lowered.areas.items() if area.owner not in self.plan.offsets]),
        )
        later |= {lowered.areas[v].owner for v in self._outputs(backward=True) if v in lowered.areas}
        self._half = (
            {number: None for number in self._passing[0] if number not in later},
            {value: None for value in self._passing[1] if lowered.areas[value].owner not in later},
        )
        inputs = {owner for _, owner in self._inputs}
        lives = {number: (lowered.blocks[number].nbytes, *alive[number]) for number in alive if number not in inputs}
        self.lower_bound = most_alive(lives)
        self.external_nbytes = most_alive(
            {number: each for number, each in lives.items() if number in self._passing[0]}
        )
        self._stream = local.stream if bound_calls else None

    def _outputs(self, *, backward: bool) -> tuple[int, ...]:
        graph = self.lowered.graph
        n = len(graph.outputs) if graph.n_output is None else graph.n_output
        return graph.outputs[n:] if backward else graph.outputs[:n]

    # --- memory -----------------------------------------------------------------------------------------------------
    def _bind_arena(self) -> None:
        """Bind all blocks to the arena, which may have moved."""
        if self._base:
            return
        scratch = -(-self.plan.nbytes // ALIGNMENT) * ALIGNMENT
        memory = self._arena.reserve(scratch + self.scratch_nbytes, self)
        base = numpy_address(memory)
        state, lowered = self._state, self.lowered
        for number, offset in self.plan.offsets.items():
            like = lowered.blocks[number]
            state.origins[number] = np.ndarray(like.shape, like.dtype, memory, offset, like.strides)
        for value, area in lowered.areas.items():
            if area.owner in self.plan.offsets:
                offset = self.plan.offsets[area.owner] + area.offset
                state.arrays[value] = np.ndarray(area.shape, area.dtype, memory, offset, area.strides)
        for bound, k, offset in self._bindings:
            bound.bind(k, base + offset)
        for bound in self._with_scratch:
            bound.bind_scratch(base + scratch)
        self._base = base  # last, so that an interrupted call is repeated from the start

    def displace(self) -> None:
        """Release all arrays in the arena, which is about to move."""
        self._base = 0
        self._state.origins.update(dict.fromkeys(self.plan.offsets))
        areas = self.lowered.areas
        self._state.arrays.update(dict.fromkeys(v for v, area in areas.items() if area.owner in self.plan.offsets))

    # --- steps ------------------------------------------------------------------------------------------------------
    def _allocate(self, step: Call, unallocated: set[int], values_in: dict[int, list[int]]) -> None:
        for k in sorted(step.written):
            operand = step.operands[k]
            if type(operand) is not Area:
                continue
            number = operand.owner
            if number in unallocated:
                unallocated.remove(number)
                values_of_block = [(value, self.lowered.areas[value]) for value in values_in.get(number, ())]
                self._steps.append(_Allocate(number, self.lowered.blocks[number], values_of_block, self._state))

    def _bind(self, step: Call) -> BoundCall | BoundNativeCall:
        primitive = step.primitive
        bound = BoundNativeCall(primitive) if isinstance(primitive, NativePrimitive) else BoundCall(primitive)
        moving = []
        for k, operand in enumerate(step.operands):
            if not isinstance(operand, Area):
                self._keep.append(operand)
                bound.bind(k, numpy_address(operand))
            elif operand.owner in self.plan.offsets:
                self._bindings.append((bound, k, self.plan.offsets[operand.owner] + operand.offset))
            else:
                moving.append((k, operand.owner, operand.offset))
        self._steps.append(_MovingCall(bound, moving, self._state.origins) if moving else bound.run)
        self._keep.append(bound)
        self.n_call += 1
        return bound

    def _evaluate(self, step: Evaluate) -> None:
        record, areas = step.record, self.lowered.areas
        if step.is_view and all(areas[value].owner in self.plan.offsets for value in record.writes):
            return  # views within the arena are created by `_bind_arena`
        layouts = []
        for value in record.all_writes:
            area = areas[value]
            reads = {areas[each].owner for each in record.all_reads if each in areas}
            block = self.lowered.blocks[area.owner]
            first = area.offset == 0 and area.owner not in reads and block.kind == EXTERNAL
            layouts.append((area.owner if first else None, area.shape, area.strides))
        self._steps.append(_Run(record, layouts, self._state))
        self.n_function += 1

    # --- running ----------------------------------------------------------------------------------------------------
    def belongs_to_this_thread(self) -> bool:
        """Whether the calling thread created the program; a forked child has another stream."""
        return self._stream is None or (local.ready and local.stream is self._stream)

    def __call__(self, inputs: Sequence[np.ndarray]) -> list[np.ndarray]:
        self._bind_arena()
        try:
            self._load(self._inputs, inputs)
            self._run(self._steps)
            return self._results(self.lowered.graph.outputs)
        finally:
            self.forget()
            self._arena.lend()

    def forward(self, inputs: Sequence[np.ndarray]) -> list[np.ndarray]:
        """The outputs of the forward pass. Must be followed by `backward` or `forget`."""
        self._bind_arena()
        done = False
        try:
            self._load(self._inputs[: self.lowered.graph.n_input], inputs)
            self._run(self._steps[: self._middle])
            results = self._results(self._outputs(backward=False))
            done = True
            return results
        finally:
            if done:
                self._drop(self._half)
            else:
                self.forget()

    def backward(self, gradients: Sequence[np.ndarray]) -> list[np.ndarray]:
        """The other outputs, once after each `forward`."""
        try:
            self._load(self._inputs[self.lowered.graph.n_input :], gradients)
            self._run(self._steps[self._middle :] if self._middle is not None else [])
            return self._results(self._outputs(backward=True))
        finally:
            self.forget()

    def _load(self, targets: Sequence[tuple[int, int]], inputs: Sequence[np.ndarray]) -> None:
        arrays, origins = self._state.arrays, self._state.origins
        if self._state.reads_aligned:
            inputs = [readable(array) for array in inputs]
        for (value, block), array in zip(targets, inputs):
            arrays[value] = origins[block] = array

    def _run(self, steps: Sequence[Callable[[], int | None]]) -> None:
        idle_threads.before_work()
        for step in steps:
            if step():
                check(1, "a replayed primitive")
        idle_threads.after_work()

    def _results(self, outputs: Sequence[int]) -> list[np.ndarray]:
        arrays, constants = self._state.arrays, self.lowered.graph.constants
        return [arrays[v].copy(order="K") if v in constants else arrays[v] for v in outputs]

    def forget(self) -> None:
        """Release the caller's arrays."""
        self._drop(self._passing)

    def _drop(self, names: tuple[dict[int, None], dict[int, None]]) -> None:
        self._state.origins.update(names[0])
        self._state.arrays.update(names[1])
