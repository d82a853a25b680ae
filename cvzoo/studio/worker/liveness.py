"""Whether a job makes progress, by the marks that it leaves; of the standard library, as a supervisor needs it."""

import statistics
from collections.abc import Callable, Hashable

from cvzoo.studio.worker.attempt import Limits

HUNG, START_TIMEOUT = "hung", "start-timeout"
_N_KEPT = 200  # iterations whose median is taken
_TIMES = 10  # as long as usual, or more, is too long


class Liveness:
    """Follows the marks of one attempt. limits: see there; clock: seconds that do not pass while the machine sleeps

    An iteration may take ten times the median of those before, a validation ten times the last one.
    """

    def __init__(self, limits: Limits, clock: Callable[[], float]):
        self._limits, self._clock = limits, clock
        self._mark: Hashable = None
        self._step: int | None = None
        self._n_step = 0  # changes of the step
        self._at = self._seen = clock()  # of the last step, and of the last mark
        self._validates = False
        self._took: list[float] = []
        self._validation = 0.0

    def look(self, step: int | None, beat: Hashable, mark: Hashable) -> str | None:
        """HUNG or START_TIMEOUT if it hangs, else None.

        step: the number of iterations, None of a job that has none; beat: changes with each batch that is read
        mark: changes with anything that it writes
        """
        now = self._clock()
        if step != self._step and step is not None:
            if self._step is not None:
                self._count(now, step - self._step)
            self._step, self._at, self._seen, self._validates = step, now, now, False
            self._mark = (beat, mark)
            return None
        if (beat, mark) != self._mark:
            if isinstance(self._mark, tuple) and beat != self._mark[0]:
                self._validates = True  # batches are read, and no iteration ends
            self._mark, self._seen = (beat, mark), now
        return self._judge(now - self._seen)

    def _count(self, now: float, n: int) -> None:
        self._n_step += 1
        if self._validates:
            self._validation = now - self._at
        elif n > 0:
            self._took = [*self._took[1 - _N_KEPT :], (now - self._at) / n]

    def _judge(self, silent: float) -> str | None:
        limits = self._limits
        if self._step is None:
            if limits.setup is not None:
                return START_TIMEOUT if silent > limits.setup else None
            return HUNG if silent > limits.validation else None
        if not self._n_step:
            return START_TIMEOUT if silent > limits.start else None
        if self._validates:
            limit = max(limits.validation, _TIMES * self._validation)
        else:
            limit = max(limits.iteration, _TIMES * (statistics.median(self._took) if self._took else 0.0))
        return HUNG if silent > limit else None
