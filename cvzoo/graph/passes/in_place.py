"""In-place execution of element-wise kernels whose input has no later use."""

from cvzoo.backends.onednn.primitives import DIFF_DST, DIFF_SRC
from cvzoo.graph.memory import Area
from cvzoo.graph.steps import ARENA, Call, Lowered, Moves, Operand

_ELEMENTWISE = ("eltwise", "binary")
_OPERATIONS = (*_ELEMENTWISE, "batch normalization")


def in_place(lowered: Lowered) -> int:
    """Make such calls, and gradients of normalizations, write in place; returns their number."""
    changed = 0
    moves = Moves(lowered)
    alive = moves.lifetimes
    for k, step in enumerate(lowered.steps):
        if not isinstance(step, Call) or step.operation not in _OPERATIONS:
            continue
        target, sources = _operand_indexes(step)
        if target is None or lowered.blocks[target.owner].kind != ARENA:
            continue
        for operand in sources:
            if not isinstance(operand, Area) or operand.owner == target.owner or alive[operand.owner][1] != k:
                continue
            if _fits(lowered, step, operand, target):
                moves.move(target.owner, operand.owner)
                changed += 1
                break
    return changed


def _operand_indexes(step: Call) -> tuple[Area | None, list[Operand]]:
    """The area that a call writes, and the operands that it may overwrite; None if it may overwrite none."""
    if step.operation in _ELEMENTWISE and len(step.written) == 1:
        target = step.operands[next(iter(step.written))]
        return (target, step.operands) if isinstance(target, Area) else (None, [])
    kinds = step.primitive.kinds
    if step.operation not in _ELEMENTWISE and DIFF_DST in kinds:
        target = step.operands[kinds.index(DIFF_SRC)]
        return (target, [step.operands[kinds.index(DIFF_DST)]]) if isinstance(target, Area) else (None, [])
    return None, []


def _fits(lowered: Lowered, step: Call, operand: Area, target: Area) -> bool:
    """Whether the operand is an entire block of the arena with the target's layout."""
    block = lowered.blocks[operand.owner]
    if block.kind != ARENA or block.nbytes != lowered.blocks[target.owner].nbytes:
        return False
    # every element must be read before it is overwritten: all views of the block must have the target's layout
    views = [each for each in step.operands if isinstance(each, Area) and each.owner == operand.owner]
    return all(each[1:] == target[1:] for each in views)
