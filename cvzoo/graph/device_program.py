"""A graph captured on a GPU: one launch for inference, or one forward and one backward."""

import os
import threading
from collections.abc import Callable, Sequence
from typing import Any

from cvzoo.autodiff.changes import effects
from cvzoo.backends.capture import Captured, PrivatePool, captured, one_after_another, warmed_up
from cvzoo.backends.device import device_of
from cvzoo.backends.dispatch import gpu_backend
from cvzoo.graph.hidden import take_array
from cvzoo.graph.memory_plan import MemoryPlan
from cvzoo.graph.records import Graph, Record
from cvzoo.typing.aliases import Array

_ALIGNMENT = 256  # bytes between arrays of one block


class _Results:
    """Result arrays gathered into one block, so that a single copy returns all of them."""

    def __init__(self, arrays: Sequence[Array]):
        self._layouts = []
        end = 0
        for array in arrays:
            template = gpu_backend().like(array)
            self._layouts.append((end, template.shape, template.dtype, template.strides))
            end += -(-max(template.nbytes, 1) // _ALIGNMENT) * _ALIGNMENT
        self._block = gpu_backend().xp.zeros(max(end, 1), "uint8")

    def gather(self, arrays: Sequence[Array]) -> None:
        """Copy the arrays into the block."""
        for buffer, array in zip(self._views(self._block), arrays):
            buffer[...] = array

    def fresh(self) -> list[Array]:
        """Copies of the block's arrays, owned by the caller."""
        return self._views(self._block.copy())

    def _views(self, block: Any) -> list[Array]:
        xp, data = gpu_backend().xp, block.data
        return [xp.ndarray(shape, dtype, data + offset, strides) for offset, shape, dtype, strides in self._layouts]


class _Half:
    """The captured records of one direction, with their inputs and outputs."""

    def __init__(self, inputs: Sequence[tuple[int, Array]], outputs: Sequence[int], records: Sequence[Record]):
        self.buffers = dict(inputs)
        self.outputs = outputs
        self.records = records
        self.results: _Results | None = None
        self.captured: Captured | None = None

    def load(self, arrays: Sequence[Array]) -> None:
        for buffer, array in zip(self.buffers.values(), arrays):
            if array is not buffer:
                buffer[...] = array


class DeviceProgram:
    """A captured GPU program: `program(arrays)` returns the graph's outputs in order, owned by the caller.

    With a backward pass, `forward(arrays)` and then `backward(gradients)` do the same in two parts.
    Not thread-safe: only the creating thread may call it.

    examples: arrays like the graph's inputs, for the warm-up run
    n_call: number of functions in a launch
    pool: the memory that graphs share which are never launched concurrently
    first: the results of the warm-up run

    Raises NotCapturedError if a function synchronizes the device or copies to the host.
    """

    n_function = external_nbytes = lower_bound = 0

    def __init__(self, graph: Graph, examples: Sequence[Array], pool: PrivatePool):
        self.graph = graph
        self.n_call = len(graph.records)
        self.device = device_of(examples[0])
        self._owner = os.getpid(), threading.get_ident()
        self._pool = pool
        self._changes = any(record.function.effect is not None for record in graph.records)
        self._dead = _last_reads(graph)
        n_input = len(graph.inputs) if graph.n_input is None else graph.n_input
        n_output = len(graph.outputs) if graph.n_output is None else graph.n_output
        n_forward = graph.n_forward
        with self.device:
            buffers = []
            for value, example in zip(graph.inputs, examples):
                buffer = gpu_backend().like(example)
                buffer[...] = example
                buffers.append((value, buffer))
            self._halves = [_Half(buffers[:n_input], graph.outputs[:n_output], graph.records[:n_forward])]
            if graph.n_input is not None:
                self._halves.append(_Half(buffers[n_input:], graph.outputs[n_output:], graph.records[n_forward:]))
            self.first = self._warm_up()
            self._capture()

    @property
    def plan(self) -> MemoryPlan:
        """The size of the pool that the graph shares with others; it has no offsets, as the pool assigns addresses."""
        return MemoryPlan({}, self._pool.nbytes, 0)

    def belongs_to_this_thread(self) -> bool:
        """Whether this process and thread created it, and no other seed was set since if it draws random numbers."""
        is_owner = self._owner == (os.getpid(), threading.get_ident())
        return is_owner and all(half.captured and half.captured.has_the_seed() for half in self._halves)

    def __call__(self, inputs: Sequence[Array]) -> list[Array]:
        return self._launch(self._halves[0], inputs)

    forward = __call__

    def backward(self, gradients: Sequence[Array]) -> list[Array]:
        """The outputs of the backward pass, once after each `forward`."""
        return self._launch(self._halves[1], gradients)

    def forget(self) -> None:
        """Release the caller's arrays."""

    def _launch(self, half: _Half, arrays: Sequence[Array]) -> list[Array]:
        with self.device, one_after_another():
            half.load(arrays)
            assert half.captured is not None  # since `_capture`
            assert half.results is not None
            half.captured.launch()
            if self._changes:
                effects.count += 1
            return half.results.fresh()

    # --- making -----------------------------------------------------------------------------------------------------
    def _warm_up(self) -> list[Array]:
        """Run everything eagerly once, so that caches and workspaces exist before the capture; returns the outputs."""

        def work() -> list[Array]:
            env = dict(self.graph.constants)
            results = []
            for half in self._halves:
                arrays = self._run(half, env)
                half.results = _Results(arrays)
                half.results.gather(arrays)
                results += half.results.fresh()
            return results

        return warmed_up(work)

    def _capture(self) -> None:
        env = dict(self.graph.constants)

        def work_of(half: _Half) -> Callable[[], list[Array]]:
            def work() -> list[Array]:
                arrays = self._run(half, env)
                assert half.results is not None  # since `_warm_up`
                half.results.gather(arrays)
                return arrays

            return work

        for half in self._halves:
            half.captured = captured(work_of(half), self._pool)
        self._between = env  # keeps values alive that the backward pass reads from the forward pass

    def _run(self, half: _Half, env: dict[int, Array]) -> list[Array]:
        env.update(half.buffers)
        for record in half.records:
            run_record(record, env)
            for value in self._dead.get(id(record), ()):
                env.pop(value, None)
        return [env[value] for value in half.outputs]


def run_record(record: Record, env: dict[int, Array]) -> None:
    """Run the record's function on arrays of `env`, by value number, and add its outputs to `env`."""
    record.prepare(env)
    results = record.function.results_of(tuple([env[value] for value in record.reads]))
    results += tuple([take_array(record.function, path) for path in record.hidden_writes])
    record.release_arrays()
    env.update(zip(record.all_writes, results))


def _last_reads(graph: Graph) -> dict[int, list[int]]:
    """The values that are last used by a record, by the record's id."""
    excluded = {*graph.inputs, *graph.outputs, *graph.constants}
    last: dict[int, int] = {}
    for record in graph.records:
        for value in (*record.all_reads, *record.all_writes):
            last[value] = id(record)
    dead: dict[int, list[int]] = {}
    for value, record_id in last.items():
        if value not in excluded:
            dead.setdefault(record_id, []).append(value)
    return dead
