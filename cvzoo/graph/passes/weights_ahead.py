"""Weight prepacking: weights are reordered once, not in each replay."""

import numpy as np

from cvzoo.backends.memory_views import address_of, view_at
from cvzoo.backends.onednn.pool import pool
from cvzoo.graph.memory import Area
from cvzoo.graph.steps import ARENA, Call, Evaluate, Lowered


def weights_ahead(lowered: Lowered) -> int:
    """Run calls that read only constants, and replace them by their results; returns their number."""
    computed: dict[int, np.ndarray] = {}
    named = {area.owner for area in lowered.areas.values()}
    remaining: list[Call | Evaluate] = []
    for step in lowered.steps:
        if not isinstance(step, Call):
            remaining.append(step)
            continue
        step.operands = [_constant(operand, computed) for operand in step.operands]
        written = set(step.blocks(written=True))
        reads = list(step.blocks(written=False))
        if reads or written & named or any(lowered.blocks[each].kind != ARENA for each in written):
            remaining.append(step)
            continue
        for number in written:
            block = lowered.blocks[number]
            computed[number] = pool.take(block.shape, block.strides, np.dtype(block.dtype), block.nbytes)
        step.operands = [_constant(operand, computed) for operand in step.operands]
        step.primitive(*[each for each in step.operands if not isinstance(each, Area)])
    n_moved = len(lowered.steps) - len(remaining)
    lowered.steps = remaining
    for number in computed:
        del lowered.blocks[number]
    return n_moved


def _constant(operand: Area | np.ndarray, computed: dict[int, np.ndarray]) -> Area | np.ndarray:
    if not isinstance(operand, Area) or operand.owner not in computed:
        return operand
    array = computed[operand.owner]
    return view_at(array, address_of(array) + operand.offset, *operand[2:])
