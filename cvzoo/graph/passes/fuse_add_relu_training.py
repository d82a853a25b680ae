"""A rectifier behind a sum is done while the sum is still at hand."""

from cvzoo.functions.activation.relu import ReLU
from cvzoo.functions.math.add import Add
from cvzoo.functions.math.add_relu import AddReLU
from cvzoo.graph.records import Graph, Record


def fuse_add_relu_training(graph: Graph) -> int:
    """Let sums of two arrays of one shape and relu of nothing but the sum be one record; how many there were.

    The numbers stay to the bit; what was NaN before relu may be 0 behind it.
    """
    found = 0
    makers, readers = graph.makers(), graph.readers()
    for relu in list(graph.records):
        if not isinstance(relu.function, ReLU):
            continue
        total = relu.reads[0]
        maker = makers.get(total)
        if maker is None or not isinstance(maker.function, Add) or len(readers[total]) != 1 or total in graph.outputs:
            continue
        if len({graph.values[value].shape for value in (*maker.reads, total)}) != 1:
            continue
        function = AddReLU()
        seconds = maker.seconds + relu.seconds
        new = Record(function, maker.reads, relu.writes, dict(vars(function)), seconds, in_backward=relu.in_backward)
        graph.records[graph.records.index(relu)] = new
        graph.records.remove(maker)
        found += 1
    graph.drop_unused()
    return found
