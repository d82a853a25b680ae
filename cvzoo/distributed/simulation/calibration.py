"""Jitter and fixed costs from measured speed-ups."""

import dataclasses
from collections.abc import Callable, Mapping

import numpy as np

from cvzoo.distributed.simulation.allreduce import Cluster
from cvzoo.distributed.simulation.scaling import Workload, predict_scaling
from cvzoo.errors.exceptions import ValueRangeError

_STEP = 1e-6  # of the difference quotients, relative
_ROUNDS = 50


def calibrate(
    workload: Workload,
    measured: Mapping[int, float],
    cluster_of: Callable[[int], Cluster],
    *,
    algorithm: str | None = None,
) -> Workload:
    """The workload with the `jitter` and `fixed_seconds` that fit measured speed-ups best, by relative squared errors.

    measured: number of ranks -> speed-up over one rank
    cluster_of: the cluster of so many ranks
    Raises ValueRangeError for fewer than two numbers of ranks above 1, or speed-ups that are not positive.
    """
    points = {n: speedup for n, speedup in measured.items() if n > 1}
    if len(points) < 2 or min(points.values()) <= 0:
        raise ValueRangeError(
            "calibration needs positive speed-ups of at least two numbers of ranks above 1", got=dict(measured)
        )
    target = np.array(list(points.values()))

    def errors(values: np.ndarray) -> np.ndarray:
        tried = dataclasses.replace(workload, jitter=values[0], fixed_seconds=values[1] * workload.step_seconds)
        speedups = [predict_scaling(cluster_of(n), tried, algorithm=algorithm).speedup for n in points]
        return np.array(speedups) / target - 1

    # Gauss-Newton; a value that would be negative is 0, and the other one is fitted alone
    values = np.array([0.01, 0.01])
    free = [0, 1]
    for _ in range(_ROUNDS):
        here = errors(values)
        slopes = np.stack([(errors(values + _STEP * np.eye(2)[i]) - here) / _STEP for i in free], axis=1)
        values[free] -= np.linalg.lstsq(slopes, here, rcond=None)[0]
        if (values < 0).any():
            free = [i for i in free if values[i] >= 0] or free
            values = values.clip(0)
    return dataclasses.replace(
        workload, jitter=float(values[0]), fixed_seconds=float(values[1]) * workload.step_seconds
    )
