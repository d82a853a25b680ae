"""Operator fusion: accumulation of gradients in the convolution that computes the later one."""

from cvzoo.functions.connection.convolution_2d import Deconvolution2D, DeconvolutionAndSum
from cvzoo.functions.math.arithmetic import Add
from cvzoo.graph.def_use_chains import DefUseChains
from cvzoo.graph.records import Graph, Record


def fuse_sums_of_gradients(graph: Graph) -> int:
    """Fuse sums of an earlier gradient and a convolution's into that convolution; returns their number.

    Results are bitwise equal.
    """
    n_fused = 0
    uses = DefUseChains(graph)
    writers = uses.writers
    position = {id(record): k for k, record in enumerate(graph.records)}
    for record in list(graph.records):
        if not record.in_backward or not isinstance(record.function, Add):
            continue
        # the later one: moving the earlier one after it would extend its inputs' lifetimes
        pair = sorted(record.reads, key=lambda value: position[id(writers[value])] if value in writers else -1)
        other, last = pair
        conv = writers.get(last)
        if conv is None or not conv.in_backward or other == last:
            continue
        if not isinstance(conv.function, Deconvolution2D) or len(conv.reads) != 2:
            continue
        if conv.function._window["groups"] != 1:  # the grouped kernel would sum in another order
            continue
        if uses.only_reader(last) is None:
            continue
        if graph.values[other].shape != graph.values[last].shape:
            continue
        function = DeconvolutionAndSum(conv.function._window, conv.function._out_size)
        reads = (*conv.reads, other)
        seconds = conv.seconds + record.seconds
        new = Record(function, reads, record.writes, dict(vars(function)), seconds, in_backward=True)
        position[id(new)] = position[id(conv)]
        uses.put(new, conv, (record,))
        n_fused += 1
    graph.drop_unused()
    return n_fused
