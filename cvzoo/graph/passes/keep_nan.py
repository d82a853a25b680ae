"""NaN propagation: diverged networks must return NaN although fused ReLU kernels turn NaN into 0."""

import math

import numpy as np

from cvzoo.autodiff.function_node import FunctionNode
from cvzoo.functions.math.arithmetic import AddReLU
from cvzoo.functions.normalization.batch_normalization import BatchNormalization
from cvzoo.functions.normalization.batch_normalization_relu import BatchNormalizationReLU
from cvzoo.graph.records import Graph, Record
from cvzoo.typing.aliases import Array


class KeepNaN(FunctionNode):
    """Returns y, filled with NaN in place if one of the vectors has a non-finite value."""

    def forward(self, inputs: tuple[Array, ...]) -> tuple[Array, ...]:
        y, *vectors = inputs
        with np.errstate(all="ignore"):
            if not all(math.isfinite(np.add.reduce(vector)) for vector in vectors):
                y[...] = np.nan
        return (y,)


def keep_nan(graph: Graph) -> int:
    """Make results NaN where a fused ReLU turned NaN into 0; returns the number of such results.

    Variances are checked: one is non-finite if an input is.
    """
    vectors: dict[int, None] = {}
    fused = False
    for record in graph.records:
        function = record.function
        if record.in_backward or not isinstance(function, BatchNormalization | BatchNormalizationReLU | AddReLU):
            continue
        fused = fused or not isinstance(function, BatchNormalization)
        if isinstance(function, BatchNormalizationReLU):
            vectors.update(dict.fromkeys((*record.reads[1:3], record.writes[2])))
        elif isinstance(function, BatchNormalization) and "var" in record.hidden_writes:
            vectors.update(dict.fromkeys((*record.reads[1:], record.hidden_writes["var"])))
    if not fused:
        return 0
    n_output = len(graph.outputs) if graph.n_output is None else graph.n_output
    written = {value for record in graph.records if not record.in_backward for value in record.writes}
    outputs = list(graph.outputs)
    new: list[Record] = []
    for k, value in enumerate(outputs[:n_output]):
        like = graph.values[value]
        if value not in written or np.dtype(like.dtype).kind != "f" or value in outputs[:k]:
            continue
        function = KeepNaN()
        outputs[k] = graph.add_value(np.empty(like.shape, like.dtype))
        new.append(Record(function, (value, *vectors), (outputs[k],), dict(vars(function))))
    graph.outputs = tuple(outputs)
    n_forward = graph.n_forward
    graph.records[n_forward:n_forward] = new
    return len(new)
