"""How deep and how wide a Swin Transformer is."""

from typing import Literal, NamedTuple

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
