"""The zoo's pretrained models, listed by the command line, as the server imports no networks."""

import re
import threading
import time
from collections.abc import Callable
from typing import Any

from cvzoo.studio.jobs.answer_of import answer_of

_TIMEOUT_S = 60
_FRESH_S = 300.0  # models may be downloaded by commands meanwhile
NAME = re.compile(r"[A-Za-z0-9][\w.-]{0,79}", re.ASCII)


class Zoo:
    """The members of the zoo. clock: seconds"""

    def __init__(self, clock: Callable[[], float] = time.monotonic):
        self._clock = clock
        self._lock = threading.Lock()
        self._listed: tuple[float, list[dict[str, Any]]] | None = None

    def members(self) -> list[dict[str, Any]]:
        """All members as `cvzoo models --json` writes them. Raises ConfigError if they cannot be listed."""
        with self._lock:
            if self._listed is None or self._clock() - self._listed[0] > _FRESH_S:
                self._listed = self._clock(), _list()
            return self._listed[1]

    def forget(self) -> None:
        """Lists them anew when they are asked for next."""
        with self._lock:
            self._listed = None

    def member(self, name: str) -> dict[str, Any] | None:
        """The member of this name; None if there is none."""
        return next((each for each in self.members() if each["name"] == name), None)


def _list() -> list[dict[str, Any]]:
    members: list[dict[str, Any]] = answer_of(
        ["cvzoo", "models", "--json"], failed="the zoo could not be listed", timeout=_TIMEOUT_S
    )
    return members
