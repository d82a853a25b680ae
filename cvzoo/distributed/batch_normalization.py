"""Batch normalization by the statistics of the whole batch, whose parts are on several ranks."""

from typing import TypeVar

import numpy as np

from cvzoo.autodiff.function_node import FunctionNode
from cvzoo.autodiff.variable import Variable, as_array, as_variable
from cvzoo.backends.arrays import to_numpy
from cvzoo.backends.device import device_of
from cvzoo.backends.dispatch import backend_of
from cvzoo.config.switches import switches
from cvzoo.distributed.communicator import AbstractCommunicator
from cvzoo.errors.exceptions import GraphError
from cvzoo.functions.loss.batch_part import AbstractBatchLoss
from cvzoo.functions.normalization.batch_normalization import RunningMean, check_statistics
from cvzoo.graph.readers import report_read
from cvzoo.links.connection.batch_normalization import BatchNormalization
from cvzoo.links.link import InitialValue, Link
from cvzoo.typing.aliases import Array

L = TypeVar("L", bound=Link)


class _OverRanks(FunctionNode):
    """x (B, C, ...), gamma (C,), beta (C,) to y, by mean and variance over the ranks' batches."""

    mean: Array
    var: Array
    total: float  # number of elements per channel, over all ranks

    def __init__(self, comm: AbstractCommunicator, eps: float):
        self._comm = comm
        self._eps = eps

    def forward(self, inputs: tuple[Array, ...]) -> tuple[Array, ...]:
        x, gamma, beta = inputs
        self.retain_inputs((0, 1))
        backend = backend_of(x)
        mean, var = backend.batch_norm_statistics(x)
        count = x.size // x.shape[1]
        message = np.concatenate([[count], to_numpy(mean), count * to_numpy(var).astype(np.float64)])
        total, whole_mean, whole_squares = _merged(self._comm.allgather_equal(message))
        device = device_of(x)
        self.total = total
        self.mean = device.asarray(whole_mean.astype(mean.dtype))
        self.var = device.asarray((whole_squares / total).astype(var.dtype))
        return (backend.batch_norm_fixed(x, gamma, beta, self.mean, self.var, eps=self._eps),)

    def backward(self, indexes: tuple[int, ...], gys: tuple[Variable, ...]) -> tuple[Variable | None, ...]:
        x, gamma = self.get_retained_inputs()
        node = _OverRanksGrad(self._comm, self._eps, self.mean, self.var, self.total)
        grads = node.apply((x, gamma, gys[0]))
        return tuple([grads[i] for i in indexes])


def _merged(rows: np.ndarray) -> tuple[float, np.ndarray, np.ndarray]:
    """Count, means and sums of squared deviations of all ranks' elements, by Chan's formula."""
    n_channel = (rows.shape[1] - 1) // 2
    total, mean, squares = 0.0, np.zeros(n_channel), np.zeros(n_channel)
    for row in rows:
        count, difference = row[0], row[1 : 1 + n_channel] - mean
        total += count
        mean = mean + difference * (count / total)
        squares = squares + row[1 + n_channel :] + difference**2 * (count * (total - count) / total)
    return total, mean, squares


class _OverRanksGrad(FunctionNode):
    """x, gamma, gy to gx, ggamma, gbeta, all of the loss of this rank, as the optimizer weights them."""

    def __init__(self, comm: AbstractCommunicator, eps: float, mean: Array, var: Array, total: float):
        self._comm = comm
        self._eps = eps
        self._mean = mean
        self._var = var
        self._total = total

    def forward(self, inputs: tuple[Array, ...]) -> tuple[Array, ...]:
        x, gamma, gy = inputs
        gx, ggamma, gbeta = backend_of(x).batch_norm_grad(gy, x, gamma, self._mean, self._var, eps=self._eps)
        count = x.size // x.shape[1]
        # the loss of all ranks is the mean of theirs by number of examples, so of elements
        mine = np.stack([to_numpy(gbeta), to_numpy(ggamma)]).astype(np.float64)
        sums = self._comm.allgather_equal(mine * count).sum(axis=0) / (self._total * count)
        missing_beta, missing_gamma = mine / count - sums  # what the kernel subtracts too much
        u = 1 / np.sqrt(to_numpy(self._var).astype(np.float64) + self._eps)
        scale = to_numpy(gamma) * u
        slope = scale * u * missing_gamma
        shift = scale * missing_beta - slope * to_numpy(self._mean)
        shape = (1, -1, *[1] * (x.ndim - 2))
        slope, shift = (device_of(x).asarray(each.astype(gamma.dtype).reshape(shape)) for each in (slope, shift))
        return (gx + (slope * x + shift)).astype(gx.dtype, copy=False), ggamma, gbeta

    def backward(self, indexes: tuple[int, ...], gys: tuple[Variable | None, ...]) -> tuple[Variable | None, ...]:
        raise GraphError("batch normalization over several ranks has no second derivative")


class NormalizeOverRanks:
    """`batch_normalization` by the statistics of all ranks' batches; see `create_mnbn_model`."""

    def __init__(self, comm: AbstractCommunicator):
        self.comm = comm

    def __call__(
        self,
        x: Variable | Array,
        gamma: Variable | Array,
        beta: Variable | Array,
        *,
        eps: float,
        running_mean: Array,
        running_var: Array,
        decay: float,
    ) -> Variable:
        """x, normalized; the running statistics are changed in place, alike on all ranks."""
        report_read("what communicates with other processes")  # is not replayed by a compiled network
        x, gamma, beta = as_variable(x), as_variable(gamma), as_variable(beta)
        check_statistics("MultiNodeBatchNormalization", x, (gamma, beta), ("gamma", "beta"), eps)
        node = _OverRanks(self.comm, eps)
        y = node.apply((x, gamma, beta))[0]
        if not switches.in_recomputing:
            RunningMean(as_array(running_mean), decay, 1.0).apply((node.mean,))
            RunningMean(as_array(running_var), decay, node.total / max(node.total - 1, 1)).apply((node.var,))
        return y


def MultiNodeBatchNormalization(
    size: int | None,
    comm: AbstractCommunicator,
    decay: float = 0.9,
    eps: float = 2e-5,
    use_gamma: bool = True,
    use_beta: bool = True,
    initial_gamma: InitialValue = 1,
    initial_beta: InitialValue = 0,
) -> BatchNormalization:
    """A `BatchNormalization` that normalizes by the statistics of all ranks' batches while training.

    comm: the communicator; other arguments: see `BatchNormalization`

    Means and variances are merged by Chan's formula, with one message per layer in each direction. Parts of different
    sizes are weighted, so that a rank's gradients are as in one process with the whole batch if losses are means over
    examples. Every rank needs at least one example.
    Source: ChainerMN's link; Chan, Golub and LeVeque, Updating Formulae and a Pairwise Algorithm for Computing Sample
    Variances, 1979.
    """
    link = BatchNormalization(size, decay, eps, use_gamma, use_beta, initial_gamma, initial_beta)
    link.normalize = NormalizeOverRanks(comm)
    return link


def create_mnbn_model(link: L, comm: AbstractCommunicator) -> L:
    """A copy of the network whose batch normalizations are over all ranks, see `MultiNodeBatchNormalization`.

    Names and files of weights stay the same. Source: ChainerMN's function.
    """
    copy = link.copy("copy")
    if comm.size > 1:
        for each in copy.links():
            if isinstance(each, BatchNormalization):
                each.normalize = NormalizeOverRanks(comm)
    return copy


def check_may_be_idle(model: Link) -> None:
    """Raises GraphError if a rank without examples would be waited for by layers or losses of others."""
    for path, link in model.namedlinks():
        if isinstance(link, AbstractBatchLoss):
            raise GraphError(
                f"a rank has no examples, but {type(link).__name__} counts in the parts of all ranks",
                hint="a global batch of at least one example per rank",
            )
        if isinstance(link, BatchNormalization) and isinstance(link.normalize, NormalizeOverRanks):
            raise GraphError(
                f"rank {link.normalize.comm.rank} has no examples, but {path} normalizes over all ranks",
                hint="a global batch of at least one example per rank",
            )
