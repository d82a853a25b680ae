"""Operator fusion: accumulation of gradients in the convolution that computes the later one."""

from cvzoo.functions.connection.convolution_2d import Deconvolution2D
from cvzoo.functions.connection.deconvolution_and_sum import DeconvolutionAndSum
from cvzoo.functions.math.add import Add
from cvzoo.graph.records import Graph, Record
from cvzoo.graph.uses import Uses


def fuse_sums_of_gradients(graph: Graph) -> int:
    """Fuse sums of an earlier gradient and a convolution's into that convolution; returns their number.

    Results are bitwise equal.
    """
    found = 0
    uses = Uses(graph)
    makers = uses.makers
    place = {id(record): k for k, record in enumerate(graph.records)}
    for record in list(graph.records):
        if not record.in_backward or not isinstance(record.function, Add):
            continue
        # the later one: moving the earlier one behind it would only keep its inputs alive
        pair = sorted(record.reads, key=lambda value: place[id(makers[value])] if value in makers else -1)
        other, last = pair
        conv = makers.get(last)
        if conv is None or not conv.in_backward or other == last:
            continue
        if not isinstance(conv.function, Deconvolution2D) or len(conv.reads) != 2:
            continue
        if conv.function._window["groups"] != 1:  # the kernel of several groups sums in another order then
            continue
        if uses.only_reader(last) is None:
            continue
        if graph.values[other].shape != graph.values[last].shape:
            continue
        function = DeconvolutionAndSum(conv.function._window, conv.function._out_size)
        reads = (*conv.reads, other)
        seconds = conv.seconds + record.seconds
        new = Record(function, reads, record.writes, dict(vars(function)), seconds, in_backward=True)
        place[id(new)] = place[id(conv)]
        uses.put(new, conv, (record,))
        found += 1
    graph.drop_unused()
    return found
