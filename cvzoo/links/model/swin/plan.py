"""How deep and how wide a Swin Transformer is."""

from typing import Literal, NamedTuple

from cvzoo.errors.exceptions import ValueRangeError
from cvzoo.links.model.one_of import one_of
from cvzoo.links.model.plan_numbers import check_plan_numbers

Size = Literal["t", "s", "b", "v2_t", "v2_s", "v2_b"]


class Plan(NamedTuple):
    """The network's shape.

    n_channel: of the first stage; each next one has twice as many
    depths, heads: of the four stages: how many blocks, heads of attention in each
    window: side of the windows, in patches of 4 pixels at the first stage
    drop_path: with what probability the last block is left out while training; it grows from 0 block by block
    version: 1 or 2
    """

    n_channel: int
    depths: tuple[int, ...]
    heads: tuple[int, ...]
    window: int
    drop_path: float
    version: int = 1


# the papers' tables; drop_path as torchvision trained them
PLANS: dict[str, Plan] = {
    "t": Plan(96, (2, 2, 6, 2), (3, 6, 12, 24), 7, 0.2),
    "s": Plan(96, (2, 2, 18, 2), (3, 6, 12, 24), 7, 0.3),
    "b": Plan(128, (2, 2, 18, 2), (4, 8, 16, 32), 7, 0.5),
    "v2_t": Plan(96, (2, 2, 6, 2), (3, 6, 12, 24), 8, 0.2, 2),
    "v2_s": Plan(96, (2, 2, 18, 2), (3, 6, 12, 24), 8, 0.3, 2),
    "v2_b": Plan(128, (2, 2, 18, 2), (4, 8, 16, 32), 8, 0.5, 2),
}


def plan_of(size: str, plan: Plan | None) -> Plan:
    """The plan, or without one that of the size. Raises ValueRangeError for another size or numbers of no network."""
    usual = one_of(PLANS, size, "SwinTransformer: there is no size")
    if plan is None:
        return usual
    what = "SwinTransformer: plan"
    counts = {"n_channel": plan.n_channel, "depths": plan.depths, "heads": plan.heads, "window": plan.window}
    check_plan_numbers(what, counts, drop_path=plan.drop_path)
    if not 1 <= len(plan.depths) == len(plan.heads) <= 8 or plan.version not in (1, 2) or plan.window > 64:
        raise ValueRangeError(
            what, expected="as many heads as depths, windows of at most 64, version 1 or 2", got=repr(plan)[:200]
        )
    for i, n_head in enumerate(plan.heads):
        if plan.n_channel * 2**i % n_head:
            raise ValueRangeError(
                what, expected="channels that heads share evenly", got=f"{n_head} heads in stage {i + 1}"
            )
    return plan
