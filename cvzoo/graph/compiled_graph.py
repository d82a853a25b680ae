"""A compiled forward pass for one signature of argument shapes: captured, optimized, planned and verified."""

import os
import statistics
import time
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from cvzoo.autodiff.variable import Variable, make_output
from cvzoo.backends.capture import NotCapturedError, PrivatePool, captured
from cvzoo.backends.memory_views import address_of, view_at
from cvzoo.backends.onednn.pool import laid_out
from cvzoo.backends.onednn.pool import pool as memory_pool
from cvzoo.errors.exceptions import GraphError, ShapeError
from cvzoo.functions.connection.byte_variable import Quantize
from cvzoo.functions.connection.fewer_bits import Bf16Convolution2D, Int8Convolution2D, Int8Linear
from cvzoo.graph.capture import Capture
from cvzoo.graph.device_program import DeviceProgram
from cvzoo.graph.draw import draw_memory
from cvzoo.graph.lowering import lower
from cvzoo.graph.micro_batches import Layout, MicroBatches, images_at_once
from cvzoo.graph.noise import checksum_of
from cvzoo.graph.passes.add_in_place import add_in_place
from cvzoo.graph.passes.common_subexpressions import common_subexpressions
from cvzoo.graph.passes.constant_folding import constant_folding
from cvzoo.graph.passes.dead_records import dead_records
from cvzoo.graph.passes.fold_batch_normalization import fold_batch_normalization
from cvzoo.graph.passes.fuse_convolutions import fuse_convolutions
from cvzoo.graph.passes.fuse_elementwise import fuse_elementwise
from cvzoo.graph.passes.fuse_matrix_products import fuse_matrix_products
from cvzoo.graph.passes.in_place import in_place
from cvzoo.graph.passes.merge_reorders import merge_reorders
from cvzoo.graph.passes.weights_ahead import weights_ahead
from cvzoo.graph.program import Program
from cvzoo.graph.records import Graph
from cvzoo.graph.repeats import TOLERANCE, TOLERANCE_ON_DEVICE, difference, is_close, random_like, to_replay
from cvzoo.graph.side_effects import SideEffectDetector
from cvzoo.graph.steps import Block
from cvzoo.graph.summary import summary_of
from cvzoo.graph.trees import NotATreeError, Structure, flatten, unflatten
from cvzoo.typing.aliases import Array

_Run = Callable[[], int | None]


def seconds_of_steps(program: Program, inputs: Sequence[np.ndarray], n_run: int) -> list[float]:
    """Seconds of each of `program.lowered.steps`, the median of n_run runs; 0 for steps that a replay skips."""
    steps = program._steps
    runs = []
    for _ in range(n_run + 1):  # the first one warms up
        seconds = [0.0] * len(program.lowered.steps)
        program._steps = [_timed(step, k, seconds) for step, k in zip(steps, program._belongs)]
        try:
            program(inputs)
        finally:
            program._steps = steps
        runs.append(seconds)
    return [statistics.median(each) for each in zip(*runs[1:])]


def _timed(step: _Run, k: int, seconds: list[float]) -> _Run:
    def run() -> int | None:
        start = time.perf_counter()
        status = step()
        seconds[k] += time.perf_counter() - start
        return status

    return run


RECORD_PASSES = (
    dead_records,
    constant_folding,
    common_subexpressions,
    fold_batch_normalization,
    fuse_convolutions,
    fuse_matrix_products,
    fuse_elementwise,
    dead_records,
)
STEP_PASSES = (weights_ahead, merge_reorders, in_place, add_in_place)
# rounding to 8 or 16 bits may amplify a difference in the last bit of a float32 to one of their steps
_ROUNDING = (Quantize, Int8Convolution2D, Int8Linear, Bf16Convolution2D)
_TOLERANCE_OF_ROUNDING = 1e-2


_LARGE = 16 << 20  # bytes of results


class _Checksum(NamedTuple):
    layout: Layout
    checksum: int


def _checksum(y: np.ndarray) -> _Checksum:
    return _Checksum(Layout(y.shape, y.strides, y.dtype.str, y.nbytes), checksum_of([y]))


class NotReplayableError(Exception):
    """A call cannot be replayed; `result` is its eager result."""

    def __init__(self, reason: str, result: Any):
        super().__init__(reason)
        self.result = result


class CompiledGraph:
    """A compiled call: `graph(arrays)` returns its result for arrays of the same shapes.

    name: the link and the method
    n_record: number of captured functions; n_step: number of kernel calls of a replay
    eager_peak: peak memory of inputs and functions' results in the eager call, bytes
    planned_peak: size of the replay's arena, on a GPU of the pool that graphs share; lower_bound: the minimum possible
        in this order. Inputs and the caller's results are not included
    changed: the number of changes of each pass, by its name
    seconds: compilation time
    """

    def __init__(
        self,
        program: Program | DeviceProgram,
        structure: Structure,
        *,
        n_record: int,
        eager_peak: int,
        changed: dict[str, int],
        seconds: float,
    ):
        self.program = program
        self.name = ""
        self.n_record = n_record
        self.eager_peak = eager_peak
        self.changed = changed
        self.seconds = seconds
        self._structure = structure

    def __call__(self, arrays: Sequence[np.ndarray]) -> Any:
        return unflatten(self._structure, iter(self.program(self._fitting(arrays))), _variable)

    def _fitting(self, arrays: Sequence[np.ndarray]) -> list[np.ndarray]:
        """The arrays in the captured memory format, copied if necessary.

        Raises ShapeError if number, shapes or dtypes differ: kernels would read out of bounds.
        """
        if isinstance(self.program, DeviceProgram):
            return list(arrays)
        inputs = self.program.inputs
        if [(a.shape, np.dtype(a.dtype)) for a in arrays] != [(b.shape, np.dtype(b.dtype)) for b in inputs]:
            raise ShapeError(
                "a graph replays arrays of the shapes and dtypes that it was recorded with",
                expected=[f"{b.dtype} {b.shape}" for b in inputs],
                got=[f"{a.dtype} {a.shape}" for a in arrays],
                hint="graph([x]): a list, also of one array",
            )
        return [a if a.strides == b.strides else _with_strides_of(b, a) for a, b in zip(arrays, inputs)]

    @property
    def n_step(self) -> int:
        return self.program.n_call + self.program.n_function

    @property
    def planned_peak(self) -> int:
        return self.program.plan.nbytes

    @property
    def lower_bound(self) -> int:
        return self.program.plan.lower_bound

    def profile(self, *arrays: np.ndarray, n_run: int = 10) -> list[float]:
        """The time of each step of a replay in seconds, the median of n_run runs. `summary()` and `draw()` show
        these times from then on.

        arrays: the graph's inputs; random values by default
        n_run: number of timed runs, after one warm-up run
        Raises GraphError for a graph on a GPU
        """
        if isinstance(self.program, DeviceProgram):
            raise GraphError("the steps of a graph on a GPU are one launch", hint="Nsight Systems shows its kernels")
        if not arrays:
            generator = np.random.default_rng(0)
            like = self.program.inputs
            arrays = tuple([generator.normal(size=block.shape).astype(block.dtype) for block in like])
        self.program.profiled = seconds_of_steps(self.program, self._fitting(arrays), n_run)
        return self.program.profiled

    def summary(self) -> str:
        """A table with each step's operation, time, reads, writes and memory offsets.

        Times are those of the captured call, or of a replay after `profile()`.
        """
        return summary_of(self)

    def draw(self, path: str | os.PathLike) -> None:
        """Write an SVG image of the memory plan: steps on the x axis, addresses on the y axis, one box per block; step
        times below."""
        draw_memory(self, path)


def _with_strides_of(block: Block, array: np.ndarray) -> np.ndarray:
    """The array with the block's strides: a view where only axes of size 1 differ, as of x[None]."""
    if all(n == 1 or a == b for n, a, b in zip(array.shape, array.strides, block.strides)):
        return view_at(array, address_of(array), block.shape, block.strides, array.dtype)
    return laid_out(array, block.strides)


def _variable(array: Array) -> Variable:
    return make_output(array, False)


def build(
    call: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    detector: SideEffectDetector | None = None,
    pool: PrivatePool | None = None,
) -> tuple[CompiledGraph, Any]:
    """Returns the graph of a call and the call's result. For inference only: no gradients, not training.

    detector: called instead for the second capture, to detect side effects
    pool: the GPU memory that graphs share which are launched one after another
    The call is captured with copies of the arguments, and with other values in a dry run (a full run if that fails).
    Both graphs must be equal. Functions are lowered with other values, and the replay's results must agree with those
    of the call within 1e-5 (1e-3 on a GPU, whose libraries may choose other kernels; 1e-2 where it rounds to 8 or 16
    bits). Of large results only checksums are kept until then: if these differ, the call is made again.
    Raises NotReplayableError if they are not.
    """
    start = time.perf_counter()
    first = Capture()
    copied = _copied(args, kwargs, lambda x: x.copy(order="K"))
    try:
        result = first.follow(call, *copied)
    except NotATreeError as error:
        raise NotReplayableError(f"it takes or returns {error}, expected arrays", call(*args, **kwargs)) from None
    memory_pool.release()  # kernels that do not run leave fresh memory alone
    others = _copied(args, kwargs, random_like)
    graph = _recaptured(first, detector or call, others, result, on_device=pool is not None)
    graph.is_on_device = pool is not None
    expected_leaves: list[Variable | Array] = []
    structure = flatten(result, expected_leaves)
    checksums = [_checksum(x._array if isinstance(x, Variable) else x) for x in expected_leaves] if pool is None else []
    is_large = sum([each.layout.nbytes for each in checksums]) >= _LARGE and (detector is None or detector.is_silent)
    if is_large:  # next to the replay's it would add to the peak; these mostly have the same bits
        result = None
        expected_leaves.clear()
    memory_pool.release()  # what eager calls freed would add to the peak of lowering
    n_record = len(graph.records)
    program: Program | DeviceProgram
    layouts = [each.layout for each in checksums]
    parts = None if pool is not None else _in_micro_batches(call, detector, graph, copied, others, layouts)
    if parts is not None:
        program, changed = parts
    else:
        changed = dict.fromkeys([each.__name__ for each in RECORD_PASSES], 0)
        for change in RECORD_PASSES:
            changed[change.__name__] += change(graph)
        if pool is not None:
            program = _on_device(graph, pool, detector or call, others, result)
        else:
            lowered = lower(graph, _arrays_of(others))
            memory_pool.release()
            for step_pass in STEP_PASSES:
                changed[step_pass.__name__] = step_pass(lowered)
            memory_pool.release()  # the program has memory of its own
            program = Program(lowered)
    results = program(_arrays_of(copied))
    if is_large:
        is_same = checksums == list(map(_checksum, results))
        result = unflatten(structure, iter(results), _variable) if is_same else call(*copied[0], **copied[1])
        flatten(result, expected_leaves)
    is_quantized = any(isinstance(record.function, _ROUNDING) for record in graph.records)
    tolerance = TOLERANCE_ON_DEVICE if graph.is_on_device else TOLERANCE
    tolerance = _TOLERANCE_OF_ROUNDING if is_quantized else tolerance
    for y, expected in zip(results, expected_leaves):
        if not is_close(y, expected._array if isinstance(expected, Variable) else expected, tolerance):
            raise NotReplayableError("a replay gave different results", result)
    compiled = CompiledGraph(
        program,
        structure,
        n_record=n_record,
        eager_peak=first.peak,
        changed=changed,
        seconds=time.perf_counter() - start,
    )
    return compiled, result


def _in_micro_batches(
    call: Callable[..., Any],
    detector: SideEffectDetector | None,
    graph: Graph,
    arguments: tuple[tuple[Any, ...], dict[str, Any]],
    others: tuple[tuple[Any, ...], dict[str, Any]],
    layouts: Sequence[Layout],
) -> tuple[MicroBatches, dict[str, int]] | None:
    """A program that computes a few images at a time, and the changes of passes; None: all at once, see
    `images_at_once`."""
    at_once = images_at_once(graph)
    arrays = _arrays_of(arguments)
    if at_once == 0 or len(arrays[0]) == at_once or not all(layout.is_dense for layout in layouts):
        return None
    few_args, few_kwargs = _copied(*arguments, lambda x: x[:at_once])
    try:
        part, _ = build(call, few_args, few_kwargs, detector)
    except Exception:  # Python code may want this number of images
        return None
    assert isinstance(part.program, Program)
    n = len(arrays[0]) // at_once
    program = MicroBatches(part.program.lowered, n, layouts)
    images = {checksum_of([x[k * at_once : (k + 1) * at_once] for x in arrays]) for k in range(n)}
    if len(images) < n:  # results for equal images, such as zeros, are right in any place
        leaves: list[Variable | Array] = []
        flatten(call(*others[0], **others[1]), leaves)
        expected = [x._array if isinstance(x, Variable) else x for x in leaves]
        if not all(map(is_close, program(_arrays_of(others)), expected)):
            return None
    return program, part.changed


def _recaptured(
    first: Capture,
    call: Callable[..., Any],
    others: tuple[tuple[Any, ...], dict[str, Any]],
    result: Any,
    *,
    on_device: bool,
) -> Graph:
    """The graph of a second capture, with other values, which must equal the first; to be replayed."""
    reason: str | None = None
    second = first
    for is_idle in (False,) if on_device else (True, False):
        second = Capture()
        second.is_idle = is_idle
        try:
            second.follow(call, *others)
        except Exception as error:
            if is_idle:
                continue  # values are undefined in a dry run, so that any error is possible
            # an error for values that the caller did not pass is no error of this call
            raise NotReplayableError(f"it raises {type(error).__name__} for other values", result) from error
        reason = f"values are read in {first.reasons[0]}" if first.reasons else difference(first.graph, second.graph)
        if reason is None:
            break
    if reason is not None:
        raise NotReplayableError(reason, result)
    return to_replay(first.graph, second.graph)


def _arrays_of(arguments: tuple[tuple[Any, ...], dict[str, Any]]) -> list[Array]:
    leaves: list[Variable | Array] = []
    flatten(arguments, leaves)
    return [x._array if isinstance(x, Variable) else x for x in leaves]


def _on_device(
    graph: Graph,
    pool: PrivatePool,
    call: Callable[..., Any],
    arguments: tuple[tuple[Any, ...], dict[str, Any]],
    result: Any,
) -> DeviceProgram:
    """The graph as a captured GPU program."""
    try:
        program = DeviceProgram(graph, _arrays_of(arguments), pool)
        # the eager call must be capturable as well: its Python code may synchronize the device outside of functions
        captured(lambda: call(*arguments[0], **arguments[1]), PrivatePool())
        return program
    except NotCapturedError as error:
        raise NotReplayableError(f"it cannot be captured on a GPU ({error})", result) from error


def _copied(args: tuple[Any, ...], kwargs: dict[str, Any], change: Callable[[np.ndarray], np.ndarray]) -> Any:
    leaves: list[Variable | Array] = []
    structure = flatten((args, kwargs), leaves)
    arrays = [change(x._array if isinstance(x, Variable) else x) for x in leaves]
    return unflatten(structure, iter(arrays), _variable)
