"""How fast training is, and how long the rest will take."""

_MEMORY = 0.9  # how much of the older mean stays at each update, once there were a few


class Pace:
    """Told of every iteration, estimates what is left.

    Updates are told apart from what is done between them: a validation that takes minutes after each epoch says nothing
    of how long an update takes. The first update is left out: workers start, and kernels are chosen and compiled.

    seconds_each: a moving mean of the seconds that an update takes; None before the second
    """

    def __init__(self) -> None:
        self.seconds_each: float | None = None
        self._n = -1  # updates in the mean; -1 before the first of all
        self._start = self._last = 0.0  # the share that was done after the first update, and after the last one
        self._each = 0.0  # the share of training that an update is
        self._between = 0.0  # seconds between updates
        self._first_pause: tuple[float, float] | None = None  # share and seconds between updates, when one had ended
        self._pause_rate = 0.0  # seconds between updates, for the whole of training

    def add(self, update: float, between: float, share: float | None, epoch: float | None) -> None:
        """An iteration is done.

        update, between: seconds of the update, and of the rest since the one before; share: of training that is done,
        in [0, 1], None if nobody knows; epoch: the share that an epoch is
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
        # between two pauses their rate is wrong; it is looked at when one has just ended
        if self._first_pause is None:
            self._first_pause = share, self._between
            self._pause_rate = self._between / max(done, epoch)  # resumed in the midst of an epoch, it came too soon
        else:
            first_share, first_seconds = self._first_pause
            self._pause_rate = (self._between - first_seconds) / (share - first_share)

    def seconds_left(self, share: float | None) -> float | None:
        """Seconds until training ends; None if nobody can know."""
        if not share or share >= 1 or self.seconds_each is None or self._each <= 0:
            return None
        return (1 - share) * (self.seconds_each / self._each + self._pause_rate)
