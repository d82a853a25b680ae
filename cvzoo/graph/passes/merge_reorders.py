"""Elimination of repeated memory format conversions."""

import numpy as np

from cvzoo.graph.steps import ARENA, Call, Lowered, Moves


def merge_reorders(lowered: Lowered) -> int:
    """Remove reorders that repeat an earlier one; returns their number."""
    first: dict[tuple, int] = {}
    merged = 0
    moves = Moves(lowered)
    for step in list(lowered.steps):
        if not isinstance(step, Call) or step.operation != "reorder":
            continue
        written = list(step.blocks(written=True))
        # blocks are compared by their numbers; constants, such as int8 scales, by identity
        reads = tuple(
            id(operand) if isinstance(operand, np.ndarray) else (operand,)
            for k, operand in enumerate(step.operands)
            if k not in step.written
        )
        if len(written) != 1 or lowered.blocks[written[0]].kind != ARENA or len(list(step.blocks(written=False))) != 1:
            continue
        known = first.setdefault((id(step.primitive), reads), written[0])
        if known != written[0]:
            lowered.steps.remove(step)
            moves.move(written[0], known)
            merged += 1
    return merged
