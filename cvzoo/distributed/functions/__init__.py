"""Differentiable communication between ranks, for networks whose parts are on several of them."""

from typing import TYPE_CHECKING

from cvzoo.lazy_imports.on_demand import import_on_demand

if TYPE_CHECKING:
    from cvzoo.distributed.functions.collectives import allgather, alltoall, bcast, gather, scatter
    from cvzoo.distributed.functions.point_to_point import pseudo_connect, recv, send

__all__ = ["allgather", "alltoall", "bcast", "gather", "pseudo_connect", "recv", "scatter", "send"]

import_on_demand(__name__)
