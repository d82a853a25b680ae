"""An optimizer that updates by the mean gradients of all ranks."""

import math
from typing import TypeVar

from cvzoo.distributed.bucket_size import BUCKET_MB
from cvzoo.distributed.communicator import AbstractCommunicator
from cvzoo.distributed.gradient_exchange import MultiNodeExchange
from cvzoo.distributed.wire import check_wire_dtype
from cvzoo.errors.exceptions import ValueRangeError
from cvzoo.optimizers.optimizer import AbstractOptimizer

Optimizer = TypeVar("Optimizer", bound=AbstractOptimizer)


def create_multi_node_optimizer(
    optimizer: Optimizer,
    comm: AbstractCommunicator,
    bucket_mb: float = BUCKET_MB,
    overlap: bool = True,
    wire_dtype: str | None = None,
    double_buffering: bool = False,
) -> Optimizer:
    """The same optimizer, updating by the mean gradients of all ranks, as of one process with the whole batch.

    bucket_mb: size in MiB of the messages; gradients are sent in buckets, in the order in which rank 0's became final
    overlap: buckets are sent while `backward` continues; False: afterwards
    wire_dtype: "float16" or "bfloat16": messages have 16 bits per element, sums are made in float32; None: the
        gradients' dtype
    double_buffering: an update applies the gradients of the step before, while this step's are sent; the first one
        applies none

    The ranks' gradients are weighted by their numbers of examples, the length of the first array or list that the loss
    function is called with; a rank whose part of the batch is empty takes part without computing. Parameters that only
    some ranks use count as zeros on the others; those that none uses have no gradient. The first `update` gives all
    ranks the model of rank 0. Gradient hooks, such as clipping, see the mean.

    Raises ValueRangeError for an unknown dtype or size. Source: ChainerMN's function of the same name. Where we differ:
    buckets during `backward`, weights, unused parameters; the optimizer itself is returned.
    """
    check_wire_dtype(wire_dtype)
    if not (math.isfinite(bucket_mb) and bucket_mb > 0):
        raise ValueRangeError("create_multi_node_optimizer: bucket_mb must be positive", got=bucket_mb)
    if comm.size > 1 or double_buffering:
        optimizer.exchange = MultiNodeExchange(
            comm, bucket_mb=bucket_mb, overlap=overlap, wire_dtype=wire_dtype, double_buffering=double_buffering
        )
    return optimizer
