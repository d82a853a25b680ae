"""Interconnects between GPUs and between machines: bandwidth and latency."""

import dataclasses
import re

from cvzoo.errors.exceptions import ValueRangeError

_MICROSECOND = 1e-6
_GBIT = 1e9 / 8
_LINK = re.compile(r"(?:(\d+)x)?(\d+(?:\.\d+)?)(gbit|mbit)", re.IGNORECASE)
_HOP, _LEVEL = 9.6 * _MICROSECOND, 50 * _MICROSECOND


@dataclasses.dataclass(frozen=True)
class Interconnect:
    """What connects ranks: bandwidth and latency, as achieved by the messages of an allreduce.

    name: as shown
    bandwidth: bytes per second in one direction; of all cards of a node together
    ring_latency: seconds of one step of a ring
    tree_latency: seconds of one level of a tree
    Source of the latencies: NVIDIA NCCL, src/graph/tuning.cc (NVLink 3.4, PCI 5.7, network 9.6 microseconds of a ring's
    step; 28 and 50 microseconds of a tree's level).
    """

    name: str
    bandwidth: float
    ring_latency: float
    tree_latency: float

    def __post_init__(self) -> None:
        if not (self.bandwidth > 0 and self.ring_latency >= 0 and self.tree_latency >= 0):
            raise ValueRangeError(
                f"an interconnect needs a positive bandwidth and latencies of at least 0: {self.name}",
                got=f"{self.bandwidth} bytes/s, {self.ring_latency} s, {self.tree_latency} s",
            )

    def with_latency(self, seconds: float) -> "Interconnect":
        """The same with another latency of a ring's step; a tree's level changes in proportion."""
        ratio = self.tree_latency / self.ring_latency
        return dataclasses.replace(self, ring_latency=seconds, tree_latency=seconds * ratio)


def _inside(name: str, gigabytes: float, hop: float) -> Interconnect:
    return Interconnect(name, gigabytes * 1e9, hop * _MICROSECOND, 28 * _MICROSECOND)


# what connects the ranks of one node -> bandwidth of a ring through all of them
INSIDE_A_NODE = {
    "nvlink4": _inside("NVLink 4", 370, 3.4),
    "nvlink3": _inside("NVLink 3", 235, 3.4),
    "pcie4": _inside("PCIe 4", 12, 5.7),
    "pcie3": _inside("PCIe 3", 10, 5.7),
    "memory": _inside("shared memory", 1.45, 5.7),  # MPI's ranks on CPUs, measured with MPICH and with Open MPI
}


def network(text: str, *, efficiency: float | None = None, latency: float | None = None) -> Interconnect:
    """The network between nodes, from words such as `400gbit` (one card per node) or `8x400gbit`.

    efficiency: fraction of the nominal bandwidth that an allreduce achieves; None: 0.94 up to 1 Gbit/s (measured, TCP),
        0.88 for one faster card, 0.75 for several
    latency: seconds of a ring's step; None: 9.6 microseconds
    Raises ValueRangeError for other words or an efficiency outside of (0, 1].
    """
    match = _LINK.fullmatch(text.strip())
    if match is None or float(match[2]) == 0 or match[1] == "0":
        raise ValueRangeError(f"not a network link: {text!r}", expected="such as 25gbit, 400gbit, or 8x400gbit")
    cards, rate = int(match[1] or 1), float(match[2]) / (1000 if match[3].lower() == "mbit" else 1)
    if efficiency is None:
        efficiency = 0.75 if cards > 1 else 0.94 if rate <= 1 else 0.88
    if not 0 < efficiency <= 1:
        raise ValueRangeError("the efficiency of a link must be in (0, 1]", got=efficiency)
    made = Interconnect(text.strip(), cards * rate * _GBIT * efficiency, _HOP, _LEVEL)
    return made if latency is None else made.with_latency(latency)
