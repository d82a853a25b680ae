"""Operator fusion for training: batch normalization, an optional sum, and ReLU, forward and backward."""

import math

import numpy as np

from cvzoo.functions.activation.relu import ReLU
from cvzoo.functions.math.arithmetic import Add
from cvzoo.functions.normalization.batch_normalization import BatchNormalization, BatchNormalizationGrad
from cvzoo.functions.normalization.batch_normalization_relu import BatchNormalizationReLU, BatchNormalizationReLUGrad
from cvzoo.graph.def_use_chains import DefUseChains
from cvzoo.graph.gradient_of import GradientOf
from cvzoo.graph.records import Graph, Record

_CHANNELS = 16  # where channels are no multiple of it, oneDNN's fused and separate kernels round differently


def fuse_batch_norm_relu_training(graph: Graph) -> int:
    """Fuse batch normalization and ReLU, and their gradients; returns the number of fused pairs.

    Only on a GPU or where the number of channels is a multiple of 16: results are bitwise equal then. NaN may
    become 0.
    """
    n_fused = 0
    uses = DefUseChains(graph)
    norms = [record for record in graph.records if isinstance(record.function, BatchNormalization)]
    for norm in norms:
        if not is_training_norm(norm) or not rounds_equally(graph, norm.writes[0]):
            continue
        relu = uses.only_reader(norm.writes[0])
        if relu is None or not is_forward_relu(relu):
            continue
        grads = gradients(uses, norm, relu)
        if grads is None or uses.only_reader(grads[0].writes[0]) is None:
            continue
        first, second = fused(graph, norm, relu, grads)
        uses.put(first, norm, (relu,))
        uses.put(second, grads[1], (grads[0],))
        n_fused += 1
    graph.drop_unused()
    return n_fused


def rounds_equally(graph: Graph, value: int) -> bool:
    """Whether all kernels that compute or recompute the normalization give the same bits."""
    return graph.is_on_device or not graph.values[value].shape[1] % _CHANNELS


def is_training_norm(record: Record) -> bool:
    """Whether it is a batch normalization in training mode."""
    return isinstance(record.function, BatchNormalization) and set(record.hidden_writes) == {"mean", "var"}


def is_forward_relu(record: Record) -> bool:
    """Whether it is a ReLU of the forward pass."""
    return isinstance(record.function, ReLU) and not record.in_backward


def gradients(uses: DefUseChains, norm: Record, relu: Record) -> tuple[Record, Record] | None:
    """The records of the gradients of ReLU and of the normalization; None if they are not such a pair."""
    relu_grad = [each for each in uses.readers[relu.writes[0]] if _is_gradient(each, relu)]
    if len(relu_grad) != 1:
        return None
    statistics = {f"_{name}": value for name, value in norm.hidden_writes.items()}
    reads = (*norm.reads[:2], relu_grad[0].writes[0])
    norm_grad = [
        each
        for each in uses.readers[relu_grad[0].writes[0]]
        if isinstance(each.function, BatchNormalizationGrad) and (each.reads, each.hidden_reads) == (reads, statistics)
    ]
    return (relu_grad[0], norm_grad[0]) if len(norm_grad) == 1 else None


def _is_gradient(record: Record, relu: Record) -> bool:
    return isinstance(record.function, GradientOf) and record.function.of is relu.function


def fused(
    graph: Graph,
    norm: Record,
    relu: Record,
    grads: tuple[Record, Record],
    *,
    addends: tuple[int, ...] = (),
    gsum: tuple[int, ...] = (),
) -> tuple[Record, Record]:
    """The fused records, forward and backward.

    addends: the operand of the sum, if any; gsum: its gradient, if requested
    """
    relu_grad, norm_grad = grads
    eps = vars(norm.function)["_eps"]
    mean, var = norm.hidden_writes["mean"], norm.hidden_writes["var"]
    size = math.prod(graph.values[norm.writes[0]].shape)
    mask = graph.add_value(np.empty(-(-size // 8), np.uint8))
    forward = BatchNormalizationReLU(eps)
    writes = (relu.writes[0], mean, var, mask)
    first = Record(forward, (*norm.reads, *addends), writes, dict(vars(forward)), norm.seconds + relu.seconds)
    backward = BatchNormalizationReLUGrad(eps, bool(gsum))
    x, gamma, _ = norm_grad.reads
    reads = (x, gamma, relu_grad.reads[1], mean, var, mask)
    seconds = relu_grad.seconds + norm_grad.seconds
    second = Record(backward, reads, (*norm_grad.writes, *gsum), dict(vars(backward)), seconds, in_backward=True)
    return first, second


def fuse_batch_norm_add_relu_training(graph: Graph) -> int:
    """Fuse batch normalization, a sum and ReLU, and their gradients; returns the number of fused triples.

    Of a sum of two normalizations the later one is fused. The gradient of ReLU is that of the sum's operand, and is
    computed as well if it is used; a mask of one bit per value is kept for it. oneDNN has no such kernel, so this
    applies to GPUs only. NaN may become 0.
    """
    n_fused = 0
    uses = DefUseChains(graph)
    position = {id(record): k for k, record in enumerate(graph.records)}
    for norm in list(graph.records):
        if not is_training_norm(norm):
            continue
        h = norm.writes[0]
        total = uses.only_reader(h)
        if total is None or total.in_backward or not isinstance(total.function, Add):
            continue
        (addend,) = [value for value in total.reads if value != h]
        writer = uses.writers.get(addend)
        is_earlier = writer is None or position[id(writer)] < position[id(norm)]
        if not is_earlier or _shape_and_dtype(graph, addend) != _shape_and_dtype(graph, h):
            continue
        relu = uses.only_reader(total.writes[0])
        if relu is None or not is_forward_relu(relu):
            continue
        grads = gradients(uses, norm, relu)
        if grads is None:
            continue
        needs_gsum = uses.only_reader(grads[0].writes[0]) is None
        new = _fuse(graph, uses, (norm, total, relu), grads, addend, needs_gsum)
        position[id(new)] = position[id(norm)]
        n_fused += 1
    graph.drop_unused()
    return n_fused


def _shape_and_dtype(graph: Graph, value: int) -> tuple[tuple[int, ...], str]:
    return graph.values[value].shape, graph.values[value].dtype


def _fuse(
    graph: Graph,
    uses: DefUseChains,
    forward: tuple[Record, Record, Record],
    grads: tuple[Record, Record],
    addend: int,
    needs_gsum: bool,
) -> Record:
    norm, total, relu = forward
    relu_grad, norm_grad = grads
    gsum = relu_grad.writes if needs_gsum else ()
    first, second = fused(graph, norm, relu, grads, addends=(addend,), gsum=gsum)
    first.seconds += total.seconds
    uses.put(first, norm, (total, relu))
    uses.put(
        second, relu_grad, (norm_grad,)
    )  # at the position of ReLU's gradient, as records before the normalization's gradient read the sum's
    return first
