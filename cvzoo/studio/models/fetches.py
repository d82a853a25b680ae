"""Downloads of the zoo's weights that the server was asked for: each a process, followed in memory."""

import dataclasses
import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable
from typing import Any

from cvzoo.studio.clock import Clock
from cvzoo.studio.place import Place
from cvzoo.studio.problems import Problem
from cvzoo.studio.worker.attempt import kept_environment

MAX_AT_ONCE = 2
_PATIENCE_S = 20.0  # in which a network that is not there is told at once
_OF_NETWORK = ("http_proxy", "https_proxy", "no_proxy", "all_proxy", "ssl_cert_file", "ssl_cert_dir")


@dataclasses.dataclass(frozen=True)
class Fetch:
    """A download. begun_at, ended_at: milliseconds since 1970; done, total: bytes of the file that is downloaded now

    error: why it ended without the weights
    """

    name: str
    begun_at: int
    done: int = 0
    total: int | None = None
    ended_at: int | None = None
    error: str = ""

    def to_json(self) -> dict[str, Any]:
        """For the REST interface."""
        return dataclasses.asdict(self)


class Fetches:
    """The downloads of a server since it started. place, clock: of the studio; on_end: called when one has ended

    command: that downloads; the model's name and what it may not read follow
    """

    def __init__(
        self,
        place: Place,
        clock: Clock,
        on_end: Callable[[], None],
        command: tuple[str, ...] = (sys.executable, "-m", "cvzoo.studio.worker.fetch_weights"),
    ):
        self._place, self._clock, self._on_end, self._command = place, clock, on_end, command
        self._lock = threading.Lock()
        self._known: dict[str, Fetch] = {}
        self._threads: dict[str, threading.Thread] = {}

    def start(self, name: str, patience: float = _PATIENCE_S) -> Fetch:
        """The download of a model, which is begun unless it runs, once its first bytes came or `patience` is over.

        Raises Problem 429 while two others run, 502 if the publisher does not give the weights.
        """
        heard = threading.Event()
        with self._lock:
            running = [each.name for each in self._known.values() if each.ended_at is None]
            if name in running:
                return self._known[name]
            if len(running) >= MAX_AT_ONCE:
                raise Problem(429, f"{' and '.join(running)} are downloaded now", hint="when they are there")
            self._known[name] = Fetch(name, self._clock())
            # a thread of its own: the process ends with the one that starts it
            thread = self._threads[name] = threading.Thread(target=self._follow, args=(name, heard), daemon=True)
            thread.start()
        heard.wait(patience)
        found = self._known[name]
        if found.error:
            raise Problem(502, f"{name} cannot be downloaded: {found.error}", hint="later, or put its files there")
        return found

    def get(self, name: str) -> Fetch | None:
        """The last download of a model; None if there was none since the server started."""
        return self._known.get(name)

    def join(self) -> None:
        """Waits for all."""
        for thread in list(self._threads.values()):
            thread.join()

    def _follow(self, name: str, heard: threading.Event) -> None:
        error = "its process could not be followed"
        try:
            error = self._run(name, heard)
        finally:
            self._on_end()
            self._known[name] = dataclasses.replace(self._known[name], ended_at=self._clock(), error=error)
            heard.set()

    def _run(self, name: str, heard: threading.Event) -> str:
        """Why there are no weights; "" if there are."""
        network = {key: value for key, value in os.environ.items() if key.lower() in _OF_NETWORK}
        process = subprocess.Popen(
            [*self._command, name, *self._place.secrets],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
            env=kept_environment() | network,
        )
        error: str | None = None
        assert process.stdout is not None
        with process.stdout:
            for line in process.stdout:
                tree = json.loads(line)
                if "done" in tree:
                    self._known[name] = dataclasses.replace(self._known[name], done=tree["done"], total=tree["total"])
                    heard.set()
                else:
                    error = str(tree.get("error", ""))
        code = process.wait()
        return f"its process ended with exit status {code}" if error is None else error
