"""How deep and how wide a Vision Transformer is."""

from typing import Literal, NamedTuple

from cvzoo.links.model.one_of import one_of
from cvzoo.links.model.plan_numbers import check_plan_numbers

Size = Literal["b_16", "b_32", "l_16", "l_32", "h_14"]


class Plan(NamedTuple):
    """The network's shape.

    patch: side of the squares that the photo is cut into, pixels
    n_layer: how many blocks
    n_head: heads of attention in each
    n_unit: channels of a token
    n_hidden: units between the two layers behind the attention
    """

    patch: int
    n_layer: int
    n_head: int
    n_unit: int
    n_hidden: int


# the paper's table 1
PLANS: dict[str, Plan] = {
    "b_16": Plan(16, 12, 12, 768, 3072),
    "b_32": Plan(32, 12, 12, 768, 3072),
    "l_16": Plan(16, 24, 16, 1024, 4096),
    "l_32": Plan(32, 24, 16, 1024, 4096),
    "h_14": Plan(14, 32, 16, 1280, 5120),
}


def plan_of(size: str, plan: Plan | None) -> Plan:
    """The plan, or without one that of the size. Raises ValueRangeError for another size or numbers of no network."""
    usual = one_of(PLANS, size, "ViT: there is no size")
    if plan is None:
        return usual
    check_plan_numbers("ViT: plan", plan._asdict())
    return plan
