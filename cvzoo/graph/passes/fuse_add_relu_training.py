"""Operator fusion for training: sum and ReLU."""

from cvzoo.functions.activation.relu import ReLU
from cvzoo.functions.math.arithmetic import Add, AddReLU
from cvzoo.functions.normalization.batch_normalization import BatchNormalization
from cvzoo.functions.normalization.batch_normalization_relu import BatchNormalizationReLU
from cvzoo.functions.pooling.pooling_2d import MaxPooling2D
from cvzoo.graph.def_use_chains import DefUseChains
from cvzoo.graph.records import Graph, Record

_WATCHED = (BatchNormalization, BatchNormalizationReLU, AddReLU, MaxPooling2D)


def fuse_add_relu_training(graph: Graph) -> int:
    """Fuse sums of two arrays of one shape with a following ReLU; returns the number of fused pairs.

    Results are bitwise equal. ReLU turns NaN into 0, so both operands must be covered by `keep_nan`: outputs of
    normalizations, or values computed from them or from maxima.
    """
    n_fused = 0
    uses = DefUseChains(graph)
    for relu in list(graph.records):
        if type(relu.function) is not ReLU:
            continue
        total = relu.reads[0]
        maker = uses.writers.get(total)
        if maker is None or not isinstance(maker.function, Add) or uses.only_reader(total) is None:
            continue
        if len({graph.values[value].shape for value in (*maker.reads, total)}) != 1:
            continue
        if not all(_is_covered(uses.writers.get(value), uses.writers) for value in maker.reads):
            continue
        function = AddReLU()
        seconds = maker.seconds + relu.seconds
        new = Record(function, maker.reads, relu.writes, dict(vars(function)), seconds, in_backward=relu.in_backward)
        uses.put(new, relu, (maker,))
        n_fused += 1
    graph.drop_unused()
    return n_fused


def _is_covered(record: Record | None, writers: dict[int, Record]) -> bool:
    while record is not None and isinstance(record.function, ReLU):
        record = writers.get(record.reads[0])
    return record is not None and isinstance(record.function, _WATCHED)
