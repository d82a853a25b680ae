"""The normalization that a network's maker chose."""

from typing import Literal

from cvzoo.errors.exceptions import ValueRangeError
from cvzoo.links.connection.batch_normalization import BatchNormalization
from cvzoo.links.connection.frozen_batch_normalization import FrozenBatchNormalization
from cvzoo.links.connection.group_normalization import GroupNormalization
from cvzoo.links.link import Link

Norm = Literal["batch", "frozen", "group"]
NORMS = ("batch", "frozen", "group")


def make_norm(norm: Norm, size: int, eps: float) -> Link:
    """A normalization of `size` channels: "batch" (trained), "frozen" (batch norm that stays) or "group".

    Groups are of at least 8 channels, and at most 32 in number. Raises ValueRangeError for another name.
    """
    if norm == "batch":
        return BatchNormalization(size, eps=eps)
    if norm == "frozen":
        return FrozenBatchNormalization(size, eps=eps)
    if norm == "group":
        groups = next(n for n in (32, 16, 8, 4, 2, 1) if size % n == 0 and (size // n >= 8 or n == 1))
        return GroupNormalization(groups, size, eps=eps)
    raise ValueRangeError("there is no such normalization", expected=" or ".join(map(repr, NORMS)), got=repr(norm))
