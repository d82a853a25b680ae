"""How deep and how wide a ConvNeXt is."""

from typing import Literal, NamedTuple

from cvzoo.errors.exceptions import ValueRangeError
from cvzoo.links.model.one_of import one_of
from cvzoo.links.model.plan_numbers import check_plan_numbers

Size = Literal["tiny", "small", "base", "large"]


class Plan(NamedTuple):
    """The network's shape.

    channels, depths: of the four stages: channels of the maps, how many blocks
    drop_path: with what probability the last block is left out while training; it grows from 0 block by block
    """

    channels: tuple[int, int, int, int]
    depths: tuple[int, int, int, int]
    drop_path: float


# the paper's table 10; drop_path as torchvision trained them
PLANS: dict[str, Plan] = {
    "tiny": Plan((96, 192, 384, 768), (3, 3, 9, 3), 0.1),
    "small": Plan((96, 192, 384, 768), (3, 3, 27, 3), 0.4),
    "base": Plan((128, 256, 512, 1024), (3, 3, 27, 3), 0.5),
    "large": Plan((192, 384, 768, 1536), (3, 3, 27, 3), 0.5),
}


def plan_of(size: str, plan: Plan | None) -> Plan:
    """The plan, or without one that of the size. Raises ValueRangeError for another size or numbers of no network."""
    usual = one_of(PLANS, size, "ConvNeXt: there is no size")
    if plan is None:
        return usual
    what = "ConvNeXt: plan"
    check_plan_numbers(what, {"channels": plan.channels, "depths": plan.depths}, drop_path=plan.drop_path)
    if len(plan.channels) != 4 or len(plan.depths) != 4:
        raise ValueRangeError(what, expected="four stages", got=f"{len(plan.channels)} and {len(plan.depths)}")
    return plan
