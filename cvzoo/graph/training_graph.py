"""A compiled training step of a link: forward and backward passes, captured, optimized, planned and verified."""

import os
import time
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from cvzoo.autodiff.parameter import Parameter
from cvzoo.autodiff.variable import Variable, make_output
from cvzoo.backends.capture import NotCapturedError, PrivatePool
from cvzoo.backends.onednn.pool import laid_out, pool
from cvzoo.config.randomness import get_random_state, using_random_state
from cvzoo.graph.capture import Capture
from cvzoo.graph.device_program import DeviceProgram
from cvzoo.graph.draw import draw_memory
from cvzoo.graph.guards import TrainingGuard
from cvzoo.graph.lowering import lower
from cvzoo.graph.memory_plan import Arena
from cvzoo.graph.passes.dead_records import dead_records
from cvzoo.graph.passes.fuse_add_relu_training import fuse_add_relu_training
from cvzoo.graph.passes.fuse_batch_norm_relu_training import (
    fuse_batch_norm_add_relu_training,
    fuse_batch_norm_relu_training,
)
from cvzoo.graph.passes.fuse_sums_of_gradients import fuse_sums_of_gradients
from cvzoo.graph.passes.in_place import in_place
from cvzoo.graph.passes.keep_nan import keep_nan
from cvzoo.graph.passes.recompute import recompute as recompute_pass
from cvzoo.graph.program import Program
from cvzoo.graph.records import Graph
from cvzoo.graph.repeats import are_close_on_device, difference, is_close, random_like, to_replay
from cvzoo.graph.steps import Block
from cvzoo.graph.summary import summary_of
from cvzoo.graph.trees import NotATreeError, Structure, flatten, unflatten
from cvzoo.graph.watched_parameters import watching_parameters
from cvzoo.typing.aliases import Array

RECORD_PASSES = (
    dead_records,
    fuse_batch_norm_relu_training,
    fuse_add_relu_training,
    fuse_sums_of_gradients,
    keep_nan,
)
# our GPU kernels fuse a sum between normalization and ReLU at no cost, and propagate NaN without `keep_nan`
DEVICE_PASSES = (
    dead_records,
    fuse_batch_norm_relu_training,
    fuse_batch_norm_add_relu_training,
    fuse_add_relu_training,
    fuse_sums_of_gradients,
)
STEP_PASSES = (in_place,)
NO_GRADIENTS = "no result depends on parameters"


class NotTrainableError(Exception):
    """A call cannot be replayed with its backward pass."""


class TrainingGraph:
    """A compiled call with its backward pass, for arrays of the same shapes.

    name: the link and the method
    n_argument: number of arrays among the arguments
    parameters: the trainable parameters; leaves: those of them that have gradients
    grad_arguments: indexes of the argument arrays with gradients; these come before the parameters'
    differentiable: indexes of the result arrays that depend on these; seeds: indexes of those that need gradients
    grad_indexes: indexes of the gradients among arguments and parameters
    guard: the guard on the parameters
    structure: the structure of the results
    is_random: whether random numbers are drawn
    n_record: number of captured functions, forward and backward; n_step: number of kernel calls of a replay
    eager_peak: peak memory of inputs and functions' results in the eager call, bytes
    planned_peak: size of the replay's arena with results and functions' own arrays; lower_bound: the minimum
        possible in this order
    changed: the number of changes of each pass, by its name
    seconds: compilation time
    """

    def __init__(
        self,
        program: Program | DeviceProgram,
        capture: Capture,
        structure: Structure,
        guard: TrainingGuard,
        *,
        n_record: int,
        changed: dict[str, int],
    ):
        self.program = program
        self.leaves: list[Parameter] = capture.leaves
        self.parameters = [*guard.trainable(), *capture.leaves]
        self.parameters = list({id(each): each for each in self.parameters}.values())
        self.grad_arguments = capture.grad_arguments
        self.differentiable = capture.differentiable
        self.seeds = capture.seeds
        self.structure = structure
        self.guard = guard
        self.is_random = capture.is_random
        assert program.graph.n_input is not None  # set by `Capture.capture_training`
        self.n_argument: int = program.graph.n_input
        numbers = {id(each): k for k, each in enumerate(self.parameters, self.n_argument)}
        self.grad_indexes = [*self.grad_arguments, *[numbers[id(each)] for each in self.leaves]]
        self.name = ""
        self.n_record = n_record
        self.eager_peak = capture.peak
        self.changed = changed
        self.seconds = 0.0

    def forward(self, arrays: Sequence[np.ndarray]) -> list[np.ndarray]:
        """The results' arrays. `backward` or `forget` comes next."""
        if isinstance(self.program, DeviceProgram):
            return self.program.forward(arrays)
        return self.program.forward([_fitting(a, b) for a, b in zip(arrays, self.program.inputs)])

    def backward(self, gradients: Sequence[np.ndarray]) -> list[np.ndarray]:
        """The gradients of arguments and parameters, from those of the results."""
        if isinstance(self.program, DeviceProgram):
            return self.program.backward(gradients)
        blocks = self.program.inputs[self.n_argument :]
        return self.program.backward([_fitting(a, b) for a, b in zip(gradients, blocks)])

    def forget(self) -> None:
        """Release what `forward` keeps for `backward`."""
        self.program.forget()

    @property
    def n_step(self) -> int:
        return self.program.n_call + self.program.n_function

    @property
    def planned_peak(self) -> int:
        return self.program.plan.nbytes + self.program.external_nbytes

    @property
    def lower_bound(self) -> int:
        return self.program.lower_bound

    def summary(self) -> str:
        """A table with each step's operation, time in the captured call, result and memory offset."""
        return summary_of(self)

    def draw(self, path: str | os.PathLike) -> None:
        """Write an SVG image of the memory plan: steps on the x axis, addresses on the y axis, one box per block."""
        draw_memory(self, path)


def _fitting(array: np.ndarray, like: Block) -> np.ndarray:
    """The array in the captured memory format."""
    if array.strides == like.strides:
        return array
    return laid_out(array, like.strides)


def build_training(
    call: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    *,
    without: frozenset[int],
    arena: Arena | PrivatePool,
    parameters: Iterable[Parameter],
    recompute: bool,
) -> TrainingGraph:
    """Returns the graph of a call and its backward pass; arrays changed in place and the random state are restored.

    without: indexes of the results without gradients
    arena: the memory to compute in; a pool for arrays on a GPU
    parameters: all parameters that the call may read
    recompute: cheap results are recomputed in the backward pass (gradient checkpointing)
    The call is captured with copies of the arguments, and with other values in a dry run (a full run if that fails).
    Both graphs must be equal, and the replay's results and gradients must agree with those of the first capture
    within 1e-5.
    Raises NotTrainableError if they are not.
    """
    state = get_random_state()
    first = Capture()
    try:
        parameters = list(parameters)
        _unpack(parameters)  # reordered copies would be stale after the next update anyway
        pool.release()
        with using_random_state(state), watching_parameters(parameters):
            context = arena, TrainingGuard(parameters), recompute
            return _build(call, args, kwargs, without, context, first)
    except NotATreeError as error:
        raise NotTrainableError(f"it takes or returns {error}, expected arrays") from None
    finally:
        first.undo()
        _unpack(parameters)  # the dry run may have made copies with undefined values
        pool.release()


def _build(
    call: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    without: frozenset[int],
    context: tuple[Arena | PrivatePool, TrainingGuard, bool],
    first: Capture,
) -> TrainingGraph:
    start = time.perf_counter()
    memory, guard, recompute = context
    on_device = isinstance(memory, PrivatePool)
    random_state = get_random_state()
    copied_args, copied_kwargs = _copied(args, kwargs, lambda x: x.copy(order="K"))
    result, gradients = first.capture_training(call, copied_args, copied_kwargs, without=without)
    if first.reasons:
        raise NotTrainableError(_reason_of(first))
    pool.release()  # free memory of one pass would add to the next one's peak
    graph = _recaptured(first, call, args, kwargs, without, on_device)
    if not first.seeds:
        raise NotTrainableError(NO_GRADIENTS)
    pool.release()
    n_record = len(graph.records)
    changed: dict[str, int] = {}
    graph.is_on_device = on_device
    for change in (*(DEVICE_PASSES if on_device else RECORD_PASSES), *((recompute_pass,) if recompute else ())):
        changed[change.__name__] = changed.get(change.__name__, 0) + change(graph)
    leaves: list[Variable | Array] = []
    flatten((copied_args, copied_kwargs), leaves)
    first.undo()  # results may depend on arrays that functions change in place
    arrays = [*[x._array if isinstance(x, Variable) else x for x in leaves], *first.seed_gradients]
    program: Program | DeviceProgram
    if isinstance(memory, PrivatePool):
        program, results = _captured(graph, arrays, memory, random_state)
    else:
        with using_random_state(random_state):
            lowered = lower(graph, arrays)
        pool.release()
        for step_pass in STEP_PASSES:
            changed[step_pass.__name__] = step_pass(lowered)
        program = Program(lowered, memory)
        first.undo()
        with using_random_state(random_state):
            results = program.forward(arrays[: graph.n_input])
        results += program.backward(first.seed_gradients)
    expected: list[Variable | Array] = []
    structure = flatten(result, expected)
    del result
    reference = [x._array if isinstance(x, Variable) else x for x in (*expected, *gradients)]
    is_same = are_close_on_device(results, reference) if on_device else all(map(is_close, results, reference))
    if not is_same:
        raise NotTrainableError("a replay gave different results")
    compiled = TrainingGraph(program, first, structure, guard, n_record=n_record, changed=changed)
    compiled.seconds = time.perf_counter() - start
    return compiled


def _captured(
    graph: Graph, arrays: Sequence[Array], pool: PrivatePool, random_state: dict
) -> tuple[DeviceProgram, list[Array]]:
    """The graph as a captured GPU program, and its outputs for `arrays`."""
    try:
        with using_random_state(random_state):
            program = DeviceProgram(graph, arrays, pool)
    except NotCapturedError as error:
        raise NotTrainableError(f"it cannot be captured on a GPU ({error})") from error
    with using_random_state(random_state):
        results = program.forward(arrays[: graph.n_input])
    return program, results + program.backward(arrays[graph.n_input :])


def _reason_of(capture: Capture) -> str:
    first = capture.reasons[0]
    return f"it contains {first}" if first.startswith("what ") else f"values are read in {first}"


def _unpack(parameters: Iterable[Parameter]) -> None:
    """Drop the parameters' reordered copies."""
    for parameter in parameters:
        if parameter._packs is not None and not parameter._packs.is_empty:
            parameter.touch()


def _recaptured(
    first: Capture,
    call: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    without: frozenset[int],
    on_device: bool,
) -> Graph:
    """The graph of a second capture, which must equal the first; to be replayed."""
    reason: str | None = None
    second = first
    for is_idle in (False,) if on_device else (True, False):
        second = Capture()
        second.is_idle = is_idle
        try:
            second.capture_training(call, *_copied(args, kwargs, random_like), without=without)
        except Exception as error:
            if is_idle:
                continue  # values are undefined in a dry run, so that any error is possible
            # an error for values that the caller did not pass is no error of this call
            raise NotTrainableError(f"it raises {type(error).__name__} for other values") from error
        finally:
            second.undo()
        reason = _reason_of(second) if second.reasons else difference(first.graph, second.graph)
        if reason is None and not _same_leaves(first, second):
            reason = "which parameters have gradients depends on the input"
        if reason is None:
            break
    if reason is not None:
        raise NotTrainableError(reason)
    return to_replay(first.graph, second.graph)


def _same_leaves(a: Capture, b: Capture) -> bool:
    return [*map(id, a.leaves)] == [*map(id, b.leaves)] and (a.grad_arguments, a.seeds) == (b.grad_arguments, b.seeds)


def _copied(args: tuple[Any, ...], kwargs: dict[str, Any], change: Callable[[np.ndarray], np.ndarray]) -> Any:
    leaves: list[Variable | Array] = []
    structure = flatten((args, kwargs), leaves)
    copies = [make_output(change(x._array), x.requires_grad) if isinstance(x, Variable) else change(x) for x in leaves]
    return unflatten(structure, iter(copies), lambda variable: variable)
