"""Estimates of the rate and the remaining time of a training."""

_MEMORY = 0.9  # decay of the moving mean, after the first few updates


class Pace:
    """Estimates the remaining time from the durations of all iterations.

    Updates and pauses between them are separate: a validation of minutes after each epoch does not change the duration
    of an update. The first update is left out: workers start, and kernels are selected and compiled.

    seconds_each: moving mean of the seconds per update; None before the second
    """

    def __init__(self) -> None:
        self.seconds_each: float | None = None
        self._n = -1  # updates in the mean; -1 before the first of all
        self._start = self._last = 0.0  # the fraction of training that was done after the first and the last update
        self._each = 0.0  # the fraction of training of one update
        self._between = 0.0  # seconds between updates
        self._first_pause: tuple[float, float] | None = None  # fraction and total pause, at the end of the first pause
        self._pause_rate = 0.0  # seconds between updates, for the whole of training

    def add(self, update: float, between: float, share: float | None, epoch: float | None) -> None:
        """Adds an iteration.

        update, between: seconds of the update, and of the pause before it; share: fraction of training that is done, in
        [0, 1], None if unknown; epoch: the fraction of one epoch
        """
        share = share or 0.0
        self._n += 1
        if self._n == 0:
            self._start = self._last = share
            return
        memory = min(_MEMORY, (self._n - 1) / self._n)
        self.seconds_each = update if self.seconds_each is None else memory * self.seconds_each + (1 - memory) * update
        self._each, self._last = share - self._last, share
        self._between += between
        done = share - self._start
        if done <= 0:
            return
        if between > self.seconds_each:
            self._pause(share, done, epoch or 0.0)
        elif self._first_pause is None:
            self._pause_rate = self._between / done

    def _pause(self, share: float, done: float, epoch: float) -> None:
        # the rate is exact only at the end of a pause
        if self._first_pause is None:
            self._first_pause = share, self._between
            self._pause_rate = self._between / max(done, epoch)  # after a resume within an epoch, a pause comes early
        else:
            first_share, first_seconds = self._first_pause
            self._pause_rate = (self._between - first_seconds) / (share - first_share)

    def seconds_left(self, share: float | None) -> float | None:
        """Seconds until the end of training; None if unknown."""
        if not share or share >= 1 or self.seconds_each is None or self._each <= 0:
            return None
        return (1 - share) * (self.seconds_each / self._each + self._pause_rate)
