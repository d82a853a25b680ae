"""A rectifier behind a batch normalization that learns is done in the same pass over memory, there and back."""

import math

import numpy as np

from cvzoo.functions.activation.relu import ReLU
from cvzoo.functions.normalization.batch_normalization import BatchNormalization, BatchNormalizationGrad
from cvzoo.functions.normalization.batch_normalization_relu import BatchNormalizationReLU, BatchNormalizationReLUGrad
from cvzoo.graph.gradient_of import GradientOf
from cvzoo.graph.records import Graph, Record

CHANNELS = 16  # of other numbers than multiples of it oneDNN's kernels round differently, fused and apart


def fuse_batch_norm_relu_training(graph: Graph) -> int:
    """Let a normalization and relu be one record, and their gradients, too; how many such there were.

    Only where the number of channels is a multiple of 16: the numbers stay to the bit then. What was NaN before relu
    may be 0 behind it.
    """
    found = 0
    readers = graph.readers()
    for norm in list(graph.records):
        if not isinstance(norm.function, BatchNormalization) or set(norm.hidden_writes) != {"mean", "var"}:
            continue
        if graph.values[norm.writes[0]].shape[1] % CHANNELS:
            continue
        relu = _only_reader(graph, readers, norm.writes[0])
        if relu is None or not isinstance(relu.function, ReLU) or relu.in_backward:
            continue
        grads = _gradients(graph, readers, norm, relu)
        if grads is None:
            continue
        _fuse(graph, norm, relu, grads)
        readers = graph.readers()
        found += 1
    graph.drop_unused()
    return found


def _only_reader(graph: Graph, readers: dict[int, list[Record]], value: int) -> Record | None:
    return readers[value][0] if len(readers[value]) == 1 and value not in graph.outputs else None


def _gradients(
    graph: Graph, readers: dict[int, list[Record]], norm: Record, relu: Record
) -> tuple[Record, Record] | None:
    """The records of relu's gradient and of the normalization's behind it; None if they are not such a pair."""
    through = [each for each in readers[relu.writes[0]] if _is_gradient(each, relu)]
    if len(through) != 1:
        return None
    back = _only_reader(graph, readers, through[0].writes[0])
    if back is None or not isinstance(back.function, BatchNormalizationGrad):
        return None
    statistics = {f"_{name}": value for name, value in norm.hidden_writes.items()}
    fits = back.reads == (*norm.reads[:2], through[0].writes[0]) and back.hidden_reads == statistics
    return (through[0], back) if fits else None


def _is_gradient(record: Record, relu: Record) -> bool:
    return isinstance(record.function, GradientOf) and record.function.of is relu.function


def _fuse(graph: Graph, norm: Record, relu: Record, grads: tuple[Record, Record]) -> None:
    through, back = grads
    eps = norm.function._eps
    mean, var = norm.hidden_writes["mean"], norm.hidden_writes["var"]
    size = math.prod(graph.values[norm.writes[0]].shape)
    mask = graph.add_value(np.empty(-(-size // 8), np.uint8), "mask")
    forward = BatchNormalizationReLU(eps)
    writes = (relu.writes[0], mean, var, mask)
    first = Record(forward, norm.reads, writes, dict(vars(forward)), norm.seconds + relu.seconds)
    backward = BatchNormalizationReLUGrad(eps)
    x, gamma, _ = back.reads
    reads = (x, gamma, through.reads[1], mean, var, mask)
    second = Record(
        backward, reads, back.writes, dict(vars(backward)), through.seconds + back.seconds, in_backward=True
    )
    records = graph.records
    records[records.index(norm)] = first
    records[records.index(back)] = second
    records.remove(relu)
    records.remove(through)
