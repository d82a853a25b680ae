"""Time of an allreduce by its algorithm: latencies and transfer."""

import dataclasses
import math
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import NamedTuple

from cvzoo.distributed.simulation.interconnect import Interconnect
from cvzoo.errors.exceptions import ValueRangeError

_BASE = 8.4e-6  # start of NCCL's ring
_PLATEAU = 1.9  # factor of NCCL's ring for large messages between nodes
_PLATEAU_BYTES = 65536 / 16  # for each rank
_TREE_BANDWIDTH = 0.9


@dataclasses.dataclass(frozen=True)
class Cluster:
    """Ranks and what connects them.

    n_node: number of machines
    per_node: ranks of a machine, one per GPU
    inside, between: interconnect within a machine; between machines
    """

    n_node: int
    per_node: int
    inside: Interconnect
    between: Interconnect

    def __post_init__(self) -> None:
        if self.n_node < 1 or self.per_node < 1:
            raise ValueRangeError(
                "a cluster needs at least one node and one rank per node", got=f"{self.n_node} x {self.per_node}"
            )

    @property
    def size(self) -> int:
        """Number of ranks."""
        return self.n_node * self.per_node

    @property
    def bandwidth(self) -> float:
        """Bytes per second of a ring through all ranks: of the slower of its interconnects."""
        if self.n_node == 1:
            return self.inside.bandwidth
        if self.per_node == 1:
            return self.between.bandwidth
        return min(self.inside.bandwidth, self.between.bandwidth)


class AllreduceTime(NamedTuple):
    """Seconds of an allreduce. latency: of its steps, without data; transfer: of the bytes"""

    latency: float
    transfer: float

    @property
    def total(self) -> float:
        return self.latency + self.transfer


def ring_allreduce(cluster: Cluster, nbytes: float) -> AllreduceTime:
    """A ring through all ranks: 2(N - 1) steps, each rank sends 2(N - 1)/N of the bytes.

    nbytes: of the array
    Source: P. Patarasu, X. Yuan, Bandwidth optimal all-reduce algorithms for clusters of workstations, 2009; latencies
    as in NCCL's tuner.
    """
    n, m = cluster.size, cluster.n_node
    if n == 1:
        return AllreduceTime(0.0, 0.0)
    between = 2 * (m - 1)
    steps = (2 * (n - 1) - between) * cluster.inside.ring_latency + between * cluster.between.ring_latency
    latency = _BASE + steps
    if m > 1 and nbytes >= n * _PLATEAU_BYTES:
        latency *= _PLATEAU
    return AllreduceTime(latency, 2 * (n - 1) / n * nbytes / cluster.bandwidth)


def tree_allreduce(cluster: Cluster, nbytes: float) -> AllreduceTime:
    """A double binary tree between nodes, a chain inside of them: log2 of the nodes levels, at 0.9 of the bandwidth.

    nbytes: of the array
    Source: P. Sanders, J. Speck, J. L. Träff, Two-tree algorithms for full bandwidth broadcast, reduction and scan,
    2009; latencies as in NCCL's tuner.
    """
    if cluster.size == 1:
        return AllreduceTime(0.0, 0.0)
    levels = math.log2(cluster.n_node) * cluster.between.tree_latency
    latency = 2 * ((cluster.per_node - 1) * cluster.inside.tree_latency + levels)
    return AllreduceTime(latency, 2 * nbytes / (_TREE_BANDWIDTH * cluster.bandwidth))


def hierarchical_allreduce(cluster: Cluster, nbytes: float) -> AllreduceTime:
    """Reduce within each node, a ring between one rank of each, broadcast within each node: ChainerMN's `hierarchical`.

    nbytes: of the array
    Source: T. Akiba, K. Fukuda, S. Suzuki, ChainerMN: scalable distributed deep learning framework, 2017.
    """
    m, p = cluster.n_node, cluster.per_node
    latency = 2 * (p - 1) * cluster.inside.ring_latency + 2 * (m - 1) * cluster.between.ring_latency
    inside = 2 * (p - 1) / p * nbytes / cluster.inside.bandwidth
    between = 2 * (m - 1) / m * nbytes / cluster.between.bandwidth
    return AllreduceTime(latency, inside + between)


ALGORITHMS: Mapping[str, Callable[[Cluster, float], AllreduceTime]] = MappingProxyType(
    {"ring": ring_allreduce, "tree": tree_allreduce, "hierarchical": hierarchical_allreduce}
)


def fastest_algorithm(cluster: Cluster, nbytes: float) -> str:
    """The name of the faster of ring and tree for an array of `nbytes`, between which NCCL chooses."""
    return min(("ring", "tree"), key=lambda name: ALGORITHMS[name](cluster, nbytes).total)
