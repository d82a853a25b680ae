"""Predicted speed-up of data-parallel training, and what it is lost to."""

import dataclasses
import functools
import math
from typing import NamedTuple

import numpy as np

from cvzoo.distributed.bucket_size import BUCKET_MB
from cvzoo.distributed.simulation.allreduce import ALGORITHMS, Cluster, fastest_algorithm
from cvzoo.errors.exceptions import ValueRangeError


@dataclasses.dataclass(frozen=True)
class Workload:
    """A training step of one rank alone, and the gradients that it exchanges.

    step_seconds: of forward, backward and update on one rank, without communication
    nbytes: of the gradients, in the dtype in which they are sent
    jitter: standard deviation of a rank's step time, relative to it
    fixed_seconds: per step on several ranks, such as copies of gradients to a buffer
    overlap: fraction of the step, at its end, in which gradients become final one bucket after the other and are sent
        while others are computed; 0: they are sent after the backward pass
    bucket_bytes: size of a bucket, by default that of `create_multi_node_optimizer`
    Raises ValueRangeError for negative values and an overlap of 1 or more.
    """

    step_seconds: float
    nbytes: int
    jitter: float = 0.01
    fixed_seconds: float = 0.0
    overlap: float = 0.6
    bucket_bytes: int = int(BUCKET_MB * (1 << 20))

    def __post_init__(self) -> None:
        is_valid = self.step_seconds > 0 and self.nbytes > 0 and self.bucket_bytes > 0 and 0 <= self.overlap < 1
        if not (is_valid and self.jitter >= 0 and self.fixed_seconds >= 0):
            raise ValueRangeError(
                "a workload needs positive times and sizes, a jitter of at least 0, and an overlap in [0, 1)", got=self
            )

    @property
    def n_bucket(self) -> int:
        """Number of messages of a step; without overlap one."""
        return max(1, math.ceil(self.nbytes / self.bucket_bytes)) if self.overlap else 1


class Prediction(NamedTuple):
    """The predicted step of all ranks, in seconds, and what follows from it.

    n_rank, n_node: numbers of ranks and of machines
    compute: one rank's own step
    wait: for the slowest rank, on average
    fixed: of the workload
    communication: of all buckets, hidden or not
    exposed: of the communication that is not hidden behind the backward pass
    algorithm: of the allreduce
    """

    n_rank: int
    n_node: int
    compute: float
    wait: float
    fixed: float
    communication: float
    exposed: float
    algorithm: str

    @property
    def step(self) -> float:
        """Seconds of a step."""
        return self.compute + self.wait + self.fixed + self.exposed

    @property
    def efficiency(self) -> float:
        """Speed-up of one rank's throughput, divided by the number of ranks."""
        return self.compute / self.step

    @property
    def speedup(self) -> float:
        """Throughput relative to one rank with the same batch of its own (weak scaling)."""
        return self.n_rank * self.efficiency

    @property
    def hidden(self) -> float:
        """Fraction of the communication that is hidden behind the backward pass; 1 without communication."""
        return 1 - self.exposed / self.communication if self.communication else 1.0

    def reason(self) -> str:
        """What costs most, in words."""
        parts = {
            "waiting for the slowest rank": self.wait,
            "communication that is not hidden": self.exposed,
            "fixed costs of a step": self.fixed,
        }
        name = max(parts, key=parts.__getitem__)
        lost = self.step - self.compute
        if lost <= 0:
            return "nothing is lost"
        return f"{lost / self.step:.1%} of the step is lost, most of it ({parts[name] / lost:.0%}) to {name}"


def predict_scaling(cluster: Cluster, workload: Workload, *, algorithm: str | None = None) -> Prediction:
    """The step of a workload on a cluster: compute, wait for the slowest of the ranks, and communication.

    algorithm: ring, tree or hierarchical; None: the faster of ring and tree
    The wait is `jitter` times the expected maximum of normal variables. Of K buckets, which become final at equal
    distances in the window of the overlap, the last is never hidden: max(c / K, c - w (K - 1) / K) of the communication
    c is exposed for a window of w seconds.
    Raises ValueRangeError for an unknown algorithm.
    """
    bucket = workload.nbytes / workload.n_bucket
    if algorithm is None:
        algorithm = fastest_algorithm(cluster, bucket)
    if algorithm not in ALGORITHMS:
        raise ValueRangeError(f"unknown algorithm {algorithm!r}", expected=" or ".join(ALGORITHMS))
    n, k = cluster.size, workload.n_bucket
    communication = k * ALGORITHMS[algorithm](cluster, bucket).total
    window = workload.overlap * workload.step_seconds
    exposed = max(communication / k, communication - window * (k - 1) / k)
    wait = workload.step_seconds * workload.jitter * expected_maximum(n)
    fixed = workload.fixed_seconds if n > 1 else 0.0
    return Prediction(n, cluster.n_node, workload.step_seconds, wait, fixed, communication, exposed, algorithm)


@functools.cache
def expected_maximum(n: int) -> float:
    """The expected maximum of `n` independent standard normal variables, to 1e-6."""
    if n < 1:
        raise ValueRangeError("the maximum needs at least one variable", got=n)
    if n == 1:
        return 0.0
    x = np.linspace(-9.0, 10.0, 2001)  # the trapezoid rule converges exponentially for smooth tails
    below = 0.5 * np.array([math.erfc(-value / math.sqrt(2)) for value in x])
    density = np.exp(-(x**2) / 2) / math.sqrt(2 * math.pi)
    return float(np.sum(x * n * density * below ** (n - 1)) * (x[1] - x[0]))


def cluster_sizes(cluster: Cluster) -> list[Cluster]:
    """Smaller clusters of the same kind, by powers of two: within a node, then of whole nodes; the cluster is last."""
    inside = [
        dataclasses.replace(cluster, n_node=1, per_node=2**i) for i in range(math.ceil(math.log2(cluster.per_node)))
    ]
    nodes = [dataclasses.replace(cluster, n_node=2**i) for i in range(math.ceil(math.log2(cluster.n_node)))]
    return [*inside, *nodes, cluster]
