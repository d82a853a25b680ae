"""How long the steps of a replay take."""

import statistics
import time
from collections.abc import Callable, Sequence

import numpy as np

from cvzoo.graph.program import Program

_Run = Callable[[], int | None]


def seconds_of_steps(program: Program, inputs: Sequence[np.ndarray], n_run: int) -> list[float]:
    """How long each of `program.lowered.steps` takes, the median of n_run runs; 0 for what a replay need not do."""
    steps = program._steps
    runs = []
    for _ in range(n_run + 1):  # the first one warms up
        seconds = [0.0] * len(program.lowered.steps)
        program._steps = [_timed(step, k, seconds) for step, k in zip(steps, program._belongs)]
        try:
            program(inputs)
        finally:
            program._steps = steps
        runs.append(seconds)
    return [statistics.median(each) for each in zip(*runs[1:])]


def _timed(step: _Run, k: int, seconds: list[float]) -> _Run:
    def run() -> int | None:
        start = time.perf_counter()
        status = step()
        seconds[k] += time.perf_counter() - start
        return status

    return run
