"""What goes through an array element by element may leave its results there, if nobody reads it again."""

from cvzoo.graph.memory import Area
from cvzoo.graph.steps import ARENA, Call, Lowered

_ELEMENTWISE = ("eltwise", "binary")


def in_place(lowered: Lowered) -> int:
    """Let such calls write where they read; how many they were."""
    changed = 0
    for k, step in enumerate(lowered.steps):
        if not isinstance(step, Call) or step.operation not in _ELEMENTWISE:
            continue
        written = list(step.blocks(written=True))
        if len(written) != 1 or lowered.blocks[written[0]].kind != ARENA:
            continue
        target = next(step.operands[i] for i in step.written)
        alive = lowered.lifetimes()
        for operand in step.operands:
            if not isinstance(operand, Area) or operand.owner == target.owner or alive[operand.owner][1] != k:
                continue
            if _fits(lowered, step, operand, target):
                lowered.move(target.owner, operand.owner)
                changed += 1
                break
    return changed


def _fits(lowered: Lowered, step: Call, operand: Area, target: Area) -> bool:
    """Whether the operand is a whole block of the replay's own that looks like the target."""
    block = lowered.blocks[operand.owner]
    if block.kind != ARENA or block.nbytes != lowered.blocks[target.owner].nbytes:
        return False
    others = [each for each in step.operands if isinstance(each, Area) and each.owner == operand.owner]
    return all(each[1:] == target[1:] for each in others)
