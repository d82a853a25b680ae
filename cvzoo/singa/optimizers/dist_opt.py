"""SINGA's DistOpt: an optimizer of several ranks, over cvzoo's communicators."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from cvzoo.autodiff.parameter import Parameter
from cvzoo.backends.arrays import to_numpy
from cvzoo.backends.device import device_of
from cvzoo.distributed.create_communicator import create_communicator, launched_size
from cvzoo.distributed.sender import Sender
from cvzoo.errors.exceptions import GraphError, ShapeError, ValueRangeError, WeightsMismatchError
from cvzoo.singa.backward import backward
from cvzoo.singa.optimizers.optimizer import Optimizer
from cvzoo.singa.optimizers.sgd import SGD
from cvzoo.singa.tensor_class import Tensor, hold

_THRESHOLD = 2097152  # elements, SINGA's default


class DistOpt:
    """Updates by the mean gradients of all ranks, by the formula of another optimizer.

    opt: that optimizer; None: SGD()
    world_size: None, or the number of ranks that is expected; other arguments are SINGA's and not used: messages go by
        MPI, and the launcher decides on ranks

    world_size, global_rank, local_rank: number of ranks, number of this one, and its number on its machine

    >>> model.set_optimizer(opt.DistOpt(opt.SGD(lr=0.1)))

    Each rank calls it with the loss of its own batch. All ranks must start with the same weights, from the same seed.
    Raises ValueRangeError for another world_size, WeightsMismatchError on all ranks if their weights differ at first.
    """

    def __init__(
        self,
        opt: Optimizer | None = None,
        nccl_id: object = None,
        local_rank: int | None = None,
        world_size: int | None = None,
        buffSize: int = 4194304,
    ):
        self.opt = SGD() if opt is None else opt
        self.communicator = create_communicator("mpi" if launched_size() > 1 else "null")
        self.world_size = self.communicator.size
        self.global_rank = self.communicator.rank
        self.local_rank = self.communicator.intra_rank
        if world_size not in (None, self.world_size):
            raise ValueRangeError(
                "DistOpt: the launcher started another number of ranks", expected=world_size, got=self.world_size
            )
        self._sender = Sender(self.communicator, overlap=False, wire_dtype=None)
        self._half = Sender(self.communicator, overlap=False, wire_dtype="float16")
        self._is_checked = False
        self._turn = 0  # of the parts of `backward_and_partial_update`
        self._residual: np.ndarray | None = None  # what `backward_and_sparse_update` has not sent yet

    def __call__(self, loss: Tensor) -> None:
        self.backward_and_update(loss)

    def step(self) -> None:
        """Count a step, and update the scheduled hyperparameters."""
        self.opt.step()

    def get_states(self) -> dict[str, Any]:
        """The state of the optimizer."""
        return self.opt.get_states()

    def set_states(self, states: Mapping[str, Any]) -> None:
        """Restore the state of `get_states`."""
        self.opt.set_states(states)

    def device_check(self, *inputs: Any) -> None:
        """No-op: functions check the devices of their arguments."""

    def update(self, param: Tensor, grad: Tensor) -> None:
        """Update one parameter by the sum of the ranks' gradients, which is divided by their number."""
        self.opt.update(param, hold(grad._array / np.float32(self.world_size)))

    def all_reduce(self, tensor: Tensor) -> None:
        """Replace the values by their sums over all ranks."""
        self.communicator.allreduce(tensor._array)

    def fused_all_reduce(self, tensors: Sequence[Tensor], send: bool = True) -> None:
        """Replace the values of several tensors by their sums over all ranks, in one message.

        send: SINGA's argument, not used: nothing is buffered
        """
        flat = np.concatenate([to_numpy(tensor._array).reshape(-1) for tensor in tensors])
        self._sum(flat, self._sender)
        for tensor, part in zip(tensors, _parts(flat, [tensor._array for tensor in tensors])):
            tensor._array[...] = device_of(tensor._array).asarray(part)

    def wait(self) -> None:
        """Does nothing: sums are complete when the methods return."""

    def backward_and_update(self, loss: Tensor, threshold: int = _THRESHOLD) -> None:
        """Update by the mean gradients. threshold: SINGA's argument, not used."""
        self._update_by_mean(loss, self._sender, None)

    def backward_and_update_half(
        self, loss: Tensor, threshold: int = _THRESHOLD, clipping: bool = False, clip_Value: float = 100
    ) -> None:
        """Update by the mean gradients, sent in float16 and summed in float32.

        clipping: whether gradients are clipped to [-clip_Value, clip_Value] before they are sent
        """
        self._update_by_mean(loss, self._half, clip_Value if clipping else None)

    def backward_and_partial_update(self, loss: Tensor, threshold: int = _THRESHOLD) -> None:
        """Update by this rank's own gradients, then replace one part of the parameters by its mean over the ranks.

        threshold: number of elements of a part; the parts take turns, so that the ranks stay close. For research, as in
            SINGA
        """
        params, grads = self._gradients(loss)
        for param, grad in zip(params, grads):
            self.opt.apply(param.name or str(id(param)), param, hold(grad))
        parts: list[list[Parameter]] = [[]]
        for param in params:
            if sum(each.size for each in parts[-1]) >= threshold:
                parts.append([])
            parts[-1].append(param)
        part = parts[self._turn % len(parts)]
        self._turn += 1
        flat = np.concatenate([to_numpy(param.array).reshape(-1) for param in part])
        self._sum(flat, self._sender)
        flat /= np.float32(self.world_size)
        for param, mean in zip(part, _parts(flat, [param.array for param in part])):
            param.array[...] = device_of(param.array).asarray(mean)
        self.opt.step()

    def backward_and_sparse_update(
        self,
        loss: Tensor,
        threshold: int = _THRESHOLD,
        spars: float = 0.05,
        topK: bool = False,
        corr: bool = True,
    ) -> None:
        """Update by the mean of the ranks' largest gradients; other elements count as zeros.

        threshold: SINGA's argument, not used: the largest are those of all gradients together
        spars: the fraction of elements that are sent with topK, else the magnitude from which on they are
        corr: whether elements that were not sent are kept and added to those of the next step (the residual)
        Raises ValueRangeError if `spars` is out of range.
        """
        if not spars > 0 or (topK and spars > 1):
            raise ValueRangeError("backward_and_sparse_update: spars is out of range", got=spars)
        params, grads = self._gradients(loss)
        flat = np.concatenate([to_numpy(grad).reshape(-1) for grad in grads])
        if self._residual is not None and corr:
            if self._residual.shape != flat.shape:
                raise ShapeError("the residual is of other parameters", expected=flat.shape, got=self._residual.shape)
            flat += self._residual
        indices = _largest(flat, max(1, int(spars * flat.size))) if topK else np.flatnonzero(np.abs(flat) >= spars)
        total = np.zeros_like(flat)
        everyone = zip(self.communicator.allgather(indices), self.communicator.allgather(flat[indices]))
        for theirs, values in everyone:
            total[theirs] += values
        flat[indices] = 0
        self._residual = flat if corr else None
        self._apply(params, _parts(total / np.float32(self.world_size), grads))

    def _update_by_mean(self, loss: Tensor, sender: Sender, clip: float | None) -> None:
        params, grads = self._gradients(loss)
        flat = np.concatenate([to_numpy(grad).reshape(-1) for grad in grads])
        if clip is not None:
            np.clip(flat, -clip, clip, out=flat)
        self._sum(flat, sender)
        self._apply(params, _parts(flat / np.float32(self.world_size), grads))

    def _gradients(self, loss: Tensor) -> tuple[list[Parameter], list[np.ndarray]]:
        pairs = list(backward(loss))
        params = [param for param, _ in pairs]
        if not params:
            raise GraphError("DistOpt: the loss depends on no parameter", hint="stores_grad=True")
        if not self._is_checked:
            self._check([param.array for param in params])
        return params, [grad._array for _, grad in pairs]

    def _check(self, arrays: Sequence[np.ndarray]) -> None:
        sums = np.array([float(np.sum(to_numpy(array), dtype=np.float64)) for array in arrays])
        everyone = self.communicator.allgather(sums)
        if any(each.shape != sums.shape or (each != everyone[0]).any() for each in everyone):
            raise WeightsMismatchError(
                "DistOpt: the weights of the ranks differ", hint="the same seed on all ranks: dev.SetRandSeed(0)"
            )
        self._is_checked = True

    def _sum(self, flat: np.ndarray, sender: Sender) -> None:
        sender.add(flat)
        sender.wait()

    def _apply(self, params: Sequence[Parameter], grads: Sequence[np.ndarray]) -> None:
        for param, grad in zip(params, grads):
            self.opt.apply(param.name or str(id(param)), param, hold(device_of(param.array).asarray(grad)))
        self.opt.step()


def _parts(flat: np.ndarray, like: Sequence[np.ndarray]) -> list[np.ndarray]:
    """The vector, cut into arrays of those shapes."""
    ends = np.cumsum([array.size for array in like])
    return [part.reshape(array.shape) for part, array in zip(np.split(flat, ends[:-1]), like)]


def _largest(flat: np.ndarray, k: int) -> np.ndarray:
    """(k,): the indices of the k elements of largest magnitude, ascending."""
    return np.sort(np.argpartition(-np.abs(flat), k - 1)[:k])
