"""Failed attempts to sign in: after five, each further one waits, twice as long as the one before."""

import dataclasses
import threading

from cvzoo.studio.clock import Clock

FREE = 5
FIRST_MS = 60_000
LONGEST_MS = 3_600_000
_MAX_KEYS = 10_000
_LOOK_MS = 60_000  # all are looked through this often, so that an attempt costs the same with many


@dataclasses.dataclass
class _Failures:
    n: int
    until: int  # no attempt is judged before this
    last: int


class Attempts:
    """Counts failures of a name from an address, in memory. They are forgotten some 60 minutes after the last one."""

    def __init__(self, clock: Clock):
        self._clock = clock
        self._lock = threading.Lock()
        self._failures: dict[tuple[str, str], _Failures] = {}
        self._look_at = 0

    def begin(self, name: str, address: str) -> int:
        """Seconds to wait; 0: the attempt may be judged, and counts as failed until `succeeded` is called."""
        now = self._clock()
        with self._lock:
            self._forget(now)
            found = self._failures.setdefault((name, address), _Failures(0, now, now))
            if found.until > now:
                return -((now - found.until) // 1000)
            found.n, found.last = found.n + 1, now
            if found.n >= FREE:
                found.until = now + min(FIRST_MS << min(found.n - FREE, 10), LONGEST_MS)
            return 0

    def succeeded(self, name: str, address: str) -> None:
        """Forgets the failures."""
        with self._lock:
            self._failures.pop((name, address), None)

    def _forget(self, now: int) -> None:
        if now < self._look_at and len(self._failures) < _MAX_KEYS:
            return
        self._look_at = now + _LOOK_MS
        old = [key for key, each in self._failures.items() if now - max(each.last, each.until) > LONGEST_MS]
        if len(self._failures) - len(old) >= _MAX_KEYS:  # somebody invents names
            rest = sorted(self._failures, key=lambda key: self._failures[key].last)
            old += rest[: _MAX_KEYS // 2]
        for key in old:
            self._failures.pop(key, None)
