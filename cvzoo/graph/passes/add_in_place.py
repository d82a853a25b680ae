"""In-place accumulation: a fused convolution and sum writes to the operand of the sum if that has no later use."""

import numpy as np

from cvzoo.backends.onednn.pool import pool
from cvzoo.backends.onednn.primitives import DST, WEIGHTS, Primitive
from cvzoo.graph.memory import Area
from cvzoo.graph.noise import fill_with_noise
from cvzoo.graph.steps import ARENA, Call, Lowered, Moves

_ADDED = {32768 | 2, 65536 | 2}  # operand of the first post-op, or of the second: int8 operands are rescaled first


def add_in_place(lowered: Lowered) -> int:
    """Make such convolutions write in place; returns their number.

    The memory that is written was read just before, so that it need not be fetched: a quarter of the time for large
    maps. A kernel that accumulates partial sums in its output would read these instead, so each is tested on noise.
    """
    changed = 0
    moves = Moves(lowered)
    proven: dict[Primitive, bool] = {}
    for k, step in enumerate(lowered.steps):
        if not isinstance(step, Call) or "convolution" not in step.operation or not _ADDED & set(step.primitive.kinds):
            continue
        target, added = (step.operands[k] for k in _operand_indexes(step.primitive))
        if not isinstance(target, Area) or not isinstance(added, Area) or not _fits(lowered, step, target, added):
            continue
        if moves.lifetimes[added.owner][1] != k:
            continue
        if step.primitive not in proven:
            proven[step.primitive] = _is_bitwise_equal(step)
        if proven[step.primitive]:
            moves.move(target.owner, added.owner)
            changed += 1
    return changed


def _operand_indexes(primitive: Primitive) -> tuple[int, int]:
    """The operand indexes of the result and of the addend."""
    kinds = primitive.kinds
    return kinds.index(DST), next(k for k, kind in enumerate(kinds) if kind in _ADDED)


def _fits(lowered: Lowered, step: Call, target: Area, added: Area) -> bool:
    """Whether both have the same layout and each is an entire block of the arena that the call uses once."""
    blocks = [lowered.blocks[area.owner] for area in (target, added)]
    owners = [operand.owner for operand in step.operands if isinstance(operand, Area)]
    return (
        target[1:] == added[1:]
        and all(block.kind == ARENA for block in blocks)
        and blocks[0].nbytes == blocks[1].nbytes
        and owners.count(target.owner) == owners.count(added.owner) == 1
    )


def _is_bitwise_equal(step: Call) -> bool:
    arrays = [
        _noise(operand, kind == WEIGHTS) if isinstance(operand, Area) else operand
        for operand, kind in zip(step.operands, step.primitive.kinds)
    ]
    target, added = _operand_indexes(step.primitive)
    step.primitive(*arrays)
    expected, arrays[target] = arrays[target], arrays[added]
    step.primitive(*arrays)
    bits = f"u{expected.itemsize}"
    return np.array_equal(expected.view(bits), arrays[target].view(bits))


def _noise(area: Area, is_weights: bool) -> np.ndarray:
    """Arbitrary values in the memory format of the area."""
    dtype = np.dtype(area.dtype)
    nbytes = sum((n - 1) * stride for n, stride in zip(area.shape, area.strides)) + dtype.itemsize
    memory = pool.take((nbytes // dtype.itemsize,), (dtype.itemsize,), dtype, nbytes)
    # packed weights are bytes of any dtype: values of bfloat16 are such of float32, too, and no sum of them is infinite
    fill_with_noise(memory.view(np.uint16) if is_weights and nbytes % 2 == 0 else memory)
    return np.ndarray(area.shape, dtype, memory, 0, area.strides)
