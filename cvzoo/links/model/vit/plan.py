"""How deep and how wide a Vision Transformer is."""

from typing import Literal, NamedTuple

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
