"""A batch normalization that learns, a sum and a rectifier behind it are one pass over memory, there and back."""

from cvzoo.functions.math.add import Add
from cvzoo.graph.passes.fuse_batch_norm_relu_training import (
    fused,
    gradients,
    is_forward_relu,
    is_learning_norm,
)
from cvzoo.graph.records import Graph, Record
from cvzoo.graph.uses import Uses


def fuse_batch_norm_add_relu_training(graph: Graph) -> int:
    """Let a normalization, the sum with an array like it, and relu be one record, and their gradients, too; how many
    such there were.

    Of a sum of two normalizations it is the later one. The gradient of relu is the one of what is added: it is made
    there, too, if somebody reads it, and between there and back a bit a number is kept for it. oneDNN has no kernel for
    that, so it is done on GPUs only. What was NaN before relu may be 0 behind it.
    """
    found = 0
    uses = Uses(graph)
    place = {id(record): k for k, record in enumerate(graph.records)}
    for norm in list(graph.records):
        if not is_learning_norm(norm):
            continue
        h = norm.writes[0]
        total = uses.only_reader(h)
        if total is None or total.in_backward or not isinstance(total.function, Add):
            continue
        (addend,) = [value for value in total.reads if value != h]
        maker = uses.makers.get(addend)
        is_there = maker is None or place[id(maker)] < place[id(norm)]
        if not is_there or _look(graph, addend) != _look(graph, h):
            continue
        relu = uses.only_reader(total.writes[0])
        if relu is None or not is_forward_relu(relu):
            continue
        grads = gradients(uses, norm, relu)
        if grads is None:
            continue
        is_wanted = uses.only_reader(grads[0].writes[0]) is None
        new = _fuse(graph, uses, (norm, total, relu), grads, addend, is_wanted)
        place[id(new)] = place[id(norm)]
        found += 1
    graph.drop_unused()
    return found


def _look(graph: Graph, value: int) -> tuple[tuple[int, ...], str]:
    return graph.values[value].shape, graph.values[value].dtype


def _fuse(
    graph: Graph,
    uses: Uses,
    forward: tuple[Record, Record, Record],
    grads: tuple[Record, Record],
    addend: int,
    is_wanted: bool,
) -> Record:
    norm, total, relu = forward
    through, back = grads
    gsum = through.writes if is_wanted else ()
    first, second = fused(graph, norm, relu, grads, addends=(addend,), gsum=gsum)
    first.seconds += total.seconds
    uses.put(first, norm, (total, relu))
    uses.put(second, through, (back,))  # others read the sum's gradient before the normalization's is made
    return first
