"""The exchange of gradients between ranks: sent in buckets while the backward pass continues."""

import contextlib
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from cvzoo.autodiff.final_gradients import final_gradients
from cvzoo.autodiff.parameter import Parameter
from cvzoo.autodiff.variable import Variable
from cvzoo.backends.arrays import is_array, to_numpy
from cvzoo.backends.device import device_of, get_device
from cvzoo.config.randomness import get_random_state, random_generator, set_seed, using_random_state
from cvzoo.config.switches import no_backprop_mode, using_config
from cvzoo.distributed.batch_normalization import check_may_be_idle
from cvzoo.distributed.buckets import BucketPlan
from cvzoo.distributed.communicator import AbstractCommunicator
from cvzoo.distributed.model_arrays import check_same_model, check_same_values
from cvzoo.distributed.nccl_communicator import NCCLCommunicator
from cvzoo.distributed.sender import Sender
from cvzoo.distributed.timeline import Kind, open_timeline
from cvzoo.functions.loss.batch_part import using_part
from cvzoo.graph.readers import report_read
from cvzoo.links.link import Link
from cvzoo.optimizers.gradient_exchange import AbstractGradientExchange
from cvzoo.optimizers.optimizer import AbstractOptimizer
from cvzoo.typing.aliases import Array

_HEAD = 2  # values of the last message before the flags of the parameters: weight, whether the plan is out of date


class MultiNodeExchange(AbstractGradientExchange):
    """Replaces gradients by their mean over all ranks, weighted by the numbers of examples.

    See `create_multi_node_optimizer` for the arguments.
    """

    def __init__(
        self,
        comm: AbstractCommunicator,
        *,
        bucket_mb: float,
        overlap: bool,
        wire_dtype: str | None,
        double_buffering: bool,
    ):
        self._comm = comm
        self._bucket_bytes = max(1, int(bucket_mb * (1 << 20)))
        self._double = double_buffering
        self._overlap = overlap and not double_buffering
        self._timeline = open_timeline(comm.rank)
        self._sender = Sender(comm, overlap=overlap, wire_dtype=wire_dtype, timeline=self._timeline)
        weakref.finalize(self, self._sender.close)
        self._plan: BucketPlan | None = None
        self._is_synchronized = False
        self._seed: int | None = None  # of random numbers in losses, the same on all ranks
        self._unit = 1.0  # number of examples of weight 1
        self._last: np.ndarray | None = None  # double buffering: the last message of the step that is being sent
        self._delayed: dict[str, Array] | None = None  # double buffering: restored from a state
        self._reset()

    def _reset(self) -> None:
        """Forgets the step."""
        self._examples: float | None = None  # of this rank; None: `backward` was not called
        self._order: list[int] = []  # `id`s of parameters, as their gradients became final
        self._filled: set[int] = set()  # of those whose gradients are in their buckets
        self._missing: list[int] = []  # by bucket: number of gradients that it lacks
        self._sent = 0  # buckets

    # --- computing --------------------------------------------------------------------------------------------------
    def backward(
        self,
        optimizer: AbstractOptimizer,
        lossfun: Callable[..., Variable],
        args: tuple[Any, ...],
        kwds: Mapping[str, Any],
        is_last: bool,
    ) -> None:
        n = _n_example((*args, *kwds.values()))
        if not self._is_synchronized:
            self._synchronize(optimizer.target, None if n == 0 else lambda: lossfun(*args, **kwds))
            self._unit = float(self._comm.bcast_obj(n or 0)) or 1.0
            self._seed = self._comm.bcast_obj(_peeked() if self._seed is None else self._seed)
        part = self._unit if n is None else float(n)
        self._examples = (self._examples or 0.0) + part
        if n == 0:  # the rank has no part of this batch
            check_may_be_idle(optimizer.target)
            return
        counted = using_part(lambda number: self._count(number, part))
        with self._span("compute", "forward and backward"), counted, self._own_random_numbers(optimizer):
            self._compute(optimizer, lossfun, args, kwds, is_last)

    @contextlib.contextmanager
    def _own_random_numbers(self, optimizer: Any) -> Iterator[None]:
        """A block whose random numbers are those of this rank and step; rank 0 keeps those of the program.

        They do not depend on earlier steps, so that one state resumes all ranks with the same bits.
        """
        if self._comm.rank == 0:
            yield
            return
        with using_random_state(get_random_state()):
            words = (self._seed or 0, self._comm.rank, optimizer.t, optimizer._n_gradient)
            set_seed(int(np.random.SeedSequence(words).generate_state(1, np.uint64)[0]))
            yield

    def _count(self, number: float, part: float) -> tuple[float, float]:
        """The number in all parts of the batch, and the fraction of its examples in this part, which has `part`."""
        report_read("what communicates with other processes")  # is not replayed by a compiled network
        total = self._comm.allreduce(np.array([number, part], np.float64))
        return float(total[0]), part / float(total[1])

    def _compute(
        self,
        optimizer: AbstractOptimizer,
        lossfun: Callable[..., Variable],
        args: tuple[Any, ...],
        kwds: Mapping[str, Any],
        is_last: bool,
    ) -> None:
        loss = lossfun(*args, **kwds)
        if not (is_last and self._overlap):
            optimizer.backward(loss)
            return
        self._missing = [] if self._plan is None else [len(bucket.places) for bucket in self._plan.buckets]
        with final_gradients(self._became_final):
            optimizer.backward(loss)

    def _span(self, kind: Kind, name: str) -> contextlib.AbstractContextManager[None]:
        return contextlib.nullcontext() if self._timeline is None else self._timeline.span(kind, name)

    def _wait(self) -> None:
        """Returns when all messages are summed."""
        with self._span("wait", "for gradients"):
            self._sender.wait()
        if self._timeline is not None:
            self._timeline.flush()

    def _synchronize(self, model: Link, call: Callable[[], object] | None) -> None:
        """Gives all ranks the same model, after parameters of layers that infer their shapes were initialized."""
        missing = np.array([any(not param.is_initialized for param in model.params())], np.uint8)
        if self._comm.allreduce(missing, "max")[0] and call is not None:
            with no_backprop_mode(), using_config("train", False):
                call()
        self._comm.bcast_data(model)
        self._is_synchronized = True

    def _became_final(self, leaf: Variable) -> None:
        self._order.append(id(leaf))
        if self._plan is None or id(leaf) not in self._plan.at:
            return
        b, number = self._plan.at[id(leaf)]
        self._plan.buckets[b].fill(number, self._weight)
        self._filled.add(id(leaf))
        self._missing[b] -= 1
        while self._sent < len(self._missing) and not self._missing[self._sent]:
            self._sender.add(self._plan.buckets[self._sent].array)
            self._sent += 1

    @property
    def _weight(self) -> float:
        return 1.0 if self._examples is None else self._examples / self._unit

    # --- exchanging -------------------------------------------------------------------------------------------------
    def exchange(self, optimizer: AbstractOptimizer) -> bool:
        model = optimizer.target
        if not self._is_synchronized:  # gradients were computed by the caller
            check_same_values(self._comm, model)
            self._is_synchronized = True
        try:
            return self._exchange_delayed(model) if self._double else self._exchange_now(model)
        finally:
            self._reset()

    def _exchange_now(self, model: Link) -> bool:
        params = dict(model.namedparams())
        is_new = self._plan is None
        plan = self._plan = self._plan or self._agreed_plan(model)
        last = self._send(plan, params)
        self._wait()
        if last[1] and not is_new:  # on any rank
            plan = self._plan = self._agreed_plan(model)
            last = self._send(plan, params)
            self._wait()
        if not last[0]:
            return False
        used = plan.paths_where(last[_HEAD:])
        for bucket in plan.buckets:
            bucket.write(1 / last[0], used)
        return True

    def _exchange_delayed(self, model: Link) -> bool:
        params = dict(model.namedparams())
        before = self._received()
        is_old = self._plan is None or not self._plan.fits(params)
        if self._plan is None or self._comm.allreduce(np.array([is_old], np.uint8), "max")[0]:
            self._plan = self._agreed_plan(model)
        self._last = self._send(self._plan, params)
        if before is None:
            return False
        for path, param in params.items():
            param.grad = device_of(param.array).asarray(before[path]) if path in before else None
        return True

    def _received(self) -> dict[str, Array] | None:
        """Double buffering: the mean gradients of the step before, by path; None before the second step."""
        if self._last is None or self._plan is None:
            delayed, self._delayed = self._delayed, None
            return delayed
        self._wait()
        last, self._last = self._last, None
        used = self._plan.paths_where(last[_HEAD:])
        means = [bucket.means(1 / last[0]) for bucket in self._plan.buckets] if last[0] else []
        return {path: mean for each in means for path, mean in each.items() if path in used}

    def _send(self, plan: BucketPlan, params: Mapping[str, Parameter]) -> np.ndarray:
        """Sends the buckets that were not sent during the backward pass, and a last message, which is returned.

        That is the sum over the ranks of: the weight, whether the plan is out of date, which gradients there are.
        """
        for bucket in plan.buckets[self._sent :]:
            for number, place in enumerate(bucket.places):
                if id(place.param) not in self._filled:
                    bucket.fill(number, self._weight)
            self._sender.add(bucket.array)
        self._sent = len(plan.buckets)
        has = [plan.params[path].grad is not None for path in plan.order]
        last = np.array([self._weight, not plan.fits(params), *has], np.float64)
        self._sender.add(last, exact=True)
        return last

    def _agreed_plan(self, model: Link) -> BucketPlan:
        """A plan that is the same on all ranks: rank 0's order, then what only others have gradients of."""
        check_same_model(self._comm, model)
        params = dict(model.namedparams())
        paths = {id(param): path for path, param in params.items()}
        mine = [paths[number] for number in self._order if number in paths]
        mine += [path for path, param in reversed(params.items()) if param.grad is not None and path not in mine]
        order = list(dict.fromkeys(path for each in self._comm.allgather_obj(mine) for path in each))
        if any(self._comm.allgather_obj([path for path in order if not params[path].is_initialized])):
            self._comm.bcast_data(model)
        self._filled.clear()
        self._sent = 0
        gpus = isinstance(self._comm, NCCLCommunicator) and all(
            device_of(params[path].array).index >= 0 for path in order
        )
        return BucketPlan(order, params, self._bucket_bytes, self._comm.device if gpus else get_device("cpu"))

    # --- state ------------------------------------------------------------------------------------------------------
    def state(self) -> dict[str, Any]:
        """The seed of random numbers; with double buffering, the gradients that the next update applies."""
        if self._double:
            self._delayed = self._received()
        state: dict[str, Any] = {} if self._seed is None else {"seed": self._seed}
        if self._delayed is not None:
            state["delayed"] = {path: to_numpy(grad) for path, grad in self._delayed.items()}
        return state

    def load_state(self, state: Mapping[str, Any]) -> None:
        self._received()
        self._seed = int(state["seed"]) if "seed" in state else None
        delayed = state.get("delayed")
        self._delayed = None if delayed is None else {path: np.array(grad) for path, grad in delayed.items()}


def _peeked() -> int:
    """The next number of this thread's generator, which will be drawn again."""
    with using_random_state(get_random_state()):
        return int(random_generator().integers(1 << 32))


def _n_example(args: Sequence[object]) -> int | None:
    """The number of examples of a batch: the length of its first array or list; None without any."""
    for value in args:
        if isinstance(value, Variable) or is_array(value):
            if len(value.shape):
                return int(value.shape[0])
        elif isinstance(value, list | tuple):
            return len(value)
    return None
