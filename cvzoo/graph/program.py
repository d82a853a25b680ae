"""A flat list of calls that does again, on planned memory, what was recorded."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from cvzoo.autodiff.function_node import FunctionNode
from cvzoo.backends.onednn.bound_call import BoundCall
from cvzoo.backends.onednn.pool import pool
from cvzoo.backends.onednn.primitives import check, local
from cvzoo.errors.exceptions import GraphError
from cvzoo.graph.memory import Area, address_of, view_at
from cvzoo.graph.memory_plan import ALIGNMENT, Lifetime, MemoryPlan, plan_memory
from cvzoo.graph.steps import ARENA, GIVEN, OUTSIDE, Block, Call, Evaluate, Lowered


def _plan_of(lowered: Lowered) -> MemoryPlan:
    alive = lowered.lifetimes()
    return plan_memory(
        {
            number: Lifetime(block.nbytes, *alive[number])
            for number, block in lowered.blocks.items()
            if block.kind == ARENA and number in alive
        }
    )


class _State:
    """What a replay has at hand: the arrays of values, and the first arrays of blocks."""

    __slots__ = ("arrays", "origins")

    def __init__(self) -> None:
        self.arrays: dict[int, Any] = {}
        self.origins: dict[int, Any] = {}


class _MovingCall:
    """A call some of whose operands lie elsewhere each time."""

    __slots__ = ("_bound", "_moving", "_origins", "_run")

    def __init__(self, bound: BoundCall, moving: list[tuple[int, int, int]], origins: dict[int, Any]):
        self._bound = bound
        self._moving = moving
        self._origins = origins
        self._run = bound.run

    def __call__(self) -> int:
        for k, block, offset in self._moving:
            self._bound.bind(k, address_of(self._origins[block]) + offset)
        return self._run()


class _Give:
    """Fresh memory for a block that the user gets, and the values in it."""

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
                state.arrays[value] = view_at(array, address_of(array) + area.offset, *area[2:])


class _Run:
    """A function run as it is."""

    __slots__ = ("_forward", "_label", "_made", "_reads", "_shapes", "_state", "_writes")

    def __init__(
        self, function: FunctionNode, reads: Sequence[int], writes: Sequence[int], made: list[Any], state: _State
    ):
        self._forward = function.forward
        self._label = function.label
        self._reads = reads
        self._writes = writes
        self._made = made  # for each result: its block if it is the first there, and its shape
        self._state = state

    def __call__(self) -> None:
        arrays = self._state.arrays
        results = self._forward(tuple([arrays[value] for value in self._reads]))
        for value, y, (block, shape, strides) in zip(self._writes, results, self._made):
            if isinstance(y, np.generic):
                y = np.asarray(y)
            if y.shape != shape or y.strides != strides:
                raise GraphError(f"{self._label} gave another shape or order than before", expected=shape, got=y.shape)
            arrays[value] = y
            if block is not None:
                self._state.origins[block] = y


class _Release:
    """Arrays that nobody needs any more."""

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
    """`program(arrays)` gives the graph's outputs as arrays, in order; they are the caller's.

    It belongs to the thread that made it, and runs one call at a time.

    plan: where its blocks lie; n_call, n_function: primitives' calls, and functions run as they are
    inputs: how the arrays look that it wants
    given_nbytes: of what is made anew at each run, for the caller
    """

    def __init__(self, lowered: Lowered):
        self.lowered = lowered
        self.plan = _plan_of(lowered)
        self.given_nbytes = sum(block.nbytes for block in lowered.blocks.values() if block.kind == GIVEN)
        self.n_call = self.n_function = 0
        self._state = _State()
        self._steps: list[Callable[[], int | None]] = []
        self._keep: list[Any] = []
        self._inputs = [(value, lowered.areas[value].owner) for value in lowered.graph.inputs]
        self.inputs = [lowered.blocks[owner] for _, owner in self._inputs]
        self._build()

    def _build(self) -> None:
        lowered, state = self.lowered, self._state
        memory = np.zeros(self.plan.nbytes + ALIGNMENT, np.uint8)
        shift = -address_of(memory) % ALIGNMENT
        self._arena = memory[shift : shift + self.plan.nbytes]
        for number, offset in self.plan.offsets.items():
            state.origins[number] = self._in_arena(offset, lowered.blocks[number])
        state.arrays.update(lowered.graph.constants)
        for value, area in lowered.areas.items():
            if area.owner in self.plan.offsets:
                state.arrays[value] = self._in_arena(self.plan.offsets[area.owner] + area.offset, area)
        alive = lowered.lifetimes()
        bound_calls = []
        given: set[int] = set()
        for k, step in enumerate(lowered.steps):
            if isinstance(step, Call):
                self._give(step, given)
                bound = self._bind(step)
                bound_calls.append(bound)
            else:
                self._evaluate(step)
            self._release(k, step, alive)
        size = max((bound.scratch_size for bound in bound_calls), default=0)
        self._scratch = np.empty(size + ALIGNMENT, np.uint8)
        for bound in bound_calls:
            bound.bind_scratch(-(-address_of(self._scratch) // ALIGNMENT) * ALIGNMENT)
        self.scratch_nbytes = size
        self._passing = (
            dict.fromkeys(number for number, block in lowered.blocks.items() if block.kind != ARENA),
            dict.fromkeys(value for value, area in lowered.areas.items() if area.owner not in self.plan.offsets),
        )
        self._stream = local.stream if bound_calls else None

    def _in_arena(self, offset: int, like: Block | Area) -> np.ndarray:
        return np.ndarray(like.shape, like.dtype, self._arena, offset, like.strides)

    def _give(self, step: Call, given: set[int]) -> None:
        for number in dict.fromkeys(step.blocks(written=True)):
            block = self.lowered.blocks[number]
            if block.kind == GIVEN and number not in given:
                given.add(number)
                own = [
                    (value, self.lowered.areas[value])
                    for value in step.record.writes
                    if self.lowered.areas[value].owner == number
                ]
                self._steps.append(_Give(number, block, own, self._state))

    def _bind(self, step: Call) -> BoundCall:
        bound = BoundCall(step.primitive)
        moving = []
        for k, operand in enumerate(step.operands):
            if not isinstance(operand, Area):
                self._keep.append(operand)
                bound.bind(k, address_of(operand))
            elif operand.owner in self.plan.offsets:
                bound.bind(k, address_of(self._state.origins[operand.owner]) + operand.offset)
            else:
                moving.append((k, operand.owner, operand.offset))
        self._steps.append(_MovingCall(bound, moving, self._state.origins) if moving else bound.run)
        self._keep.append(bound)
        self.n_call += 1
        return bound

    def _evaluate(self, step: Evaluate) -> None:
        record, areas = step.record, self.lowered.areas
        if step.is_view and all(areas[value].owner in self.plan.offsets for value in record.writes):
            return  # the arrays are there already
        made = []
        for value in record.writes:
            area = areas[value]
            reads = {areas[each].owner for each in record.reads if each in areas}
            block = self.lowered.blocks[area.owner]
            first = area.offset == 0 and area.owner not in reads and block.kind == OUTSIDE
            made.append((area.owner if first else None, area.shape, area.strides))
        self._steps.append(_Run(record.function, record.reads, record.writes, made, self._state))
        self.n_function += 1

    def _release(self, k: int, step: Call | Evaluate, alive: dict[int, tuple[int, int]]) -> None:
        over = {
            number
            for number in self.lowered.touched(step)
            if alive[number][1] == k and self.lowered.blocks[number].kind == OUTSIDE
        }
        if over:
            values = [value for value, area in self.lowered.areas.items() if area.owner in over]
            self._steps.append(_Release(sorted(over), values, self._state))

    def is_of_this_thread(self) -> bool:
        """Whether the library is still as it was: a forked child has another stream."""
        return self._stream is None or (local.ready and local.stream is self._stream)

    def __call__(self, inputs: Sequence[np.ndarray]) -> list[np.ndarray]:
        arrays, origins = self._state.arrays, self._state.origins
        for (value, block), array in zip(self._inputs, inputs):
            arrays[value] = origins[block] = array
        try:
            for step in self._steps:
                if step():
                    check(1, "a replayed primitive")
            constants = self.lowered.graph.constants
            return [arrays[v].copy(order="K") if v in constants else arrays[v] for v in self.lowered.graph.outputs]
        finally:
            self._forget()

    def _forget(self) -> None:
        """Let go of what is the caller's."""
        self._state.origins.update(self._passing[0])
        self._state.arrays.update(self._passing[1])
