"""Processes with a loaded model each: started when they are asked, ended when idle, killed when they take too long."""

import concurrent.futures
import contextlib
import dataclasses
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

from cvzoo.studio.inference.frames import killed_after, read_frame, write_frame
from cvzoo.studio.problems import Problem
from cvzoo.studio.worker.attempt import kept_environment

LOAD_S, ANSWER_S = 90.0, 30.0
VERIFY_S = 300.0  # for each of both if the model is verified: files are hashed, and the machine may be busy
END_S = 1.0  # in which a process that has closed its output says with which status it ended
IDLE_S = 300.0
MAX_PROCESS = 2
MAX_WAITING = 16
# of reading and writing pipes of a process that ended; a ValueError if somebody else has closed them
_ENDED = (EOFError, OSError, ValueError)


@dataclasses.dataclass(frozen=True)
class Loaded:
    """Which model a process has. word: for the command line; changed_at: of its file; data: of its run, or "" """

    word: str
    changed_at: int
    data: str


class Pool:
    """Models in processes, at most two.

    clock: seconds
    command: that starts one; the model's word and data follow
    """

    def __init__(
        self,
        clock: Callable[[], float] = time.monotonic,
        command: tuple[str, ...] = (sys.executable, "-m", "cvzoo.studio.inference.worker"),
    ):
        self._clock, self._command = clock, command
        self._lock = threading.Lock()
        self._processes: dict[Loaded, _Process] = {}
        self._n_waiting = 0
        # a process ends with the thread that starts it: that of a request may end before
        self._starter = concurrent.futures.ThreadPoolExecutor(1, "inference")

    def ask(self, which: Loaded, tree: dict[str, Any], payload: bytes = b"") -> tuple[dict[str, Any], bytes]:
        """The answer of the model's process, which is started if there is none.

        Raises Problem: 415 for an image that cannot be read, 422 for what the model refuses or fails by itself, 429 if
        too many wait, 503 if the process takes too long or is killed, which may be the machine's fault.
        """
        with self._waiting(), self._process(which) as process:
            answer, payload = process.ask(tree, payload)
        if "error" in answer:
            status = 415 if answer.get("is_image") else 422
            raise Problem(status, str(answer["error"]), expected=answer.get("expected"), got=answer.get("got"))
        return answer, payload

    def reap(self) -> None:
        """Ends processes that were idle for five minutes, and forgets those that died."""
        with self._lock:
            for which, process in list(self._processes.items()):
                is_idle = not process.n_user and self._clock() - process.used_at > IDLE_S
                if process.is_dead or is_idle:
                    del self._processes[which]
                    process.end()

    def close(self) -> None:
        """Ends all processes; none is started again."""
        with self._lock:
            for process in self._processes.values():
                process.end()
            self._processes.clear()
            self._starter.shutdown()

    @property
    def pids(self) -> list[int]:
        """The identifiers of the processes."""
        with self._lock:
            return [process.pid for process in self._processes.values()]

    @contextlib.contextmanager
    def _waiting(self) -> Iterator[None]:
        with self._lock:
            if self._n_waiting >= MAX_WAITING:
                raise Problem(429, "too many predictions wait", hint="again in a few seconds")
            self._n_waiting += 1
        try:
            yield
        finally:
            with self._lock:
                self._n_waiting -= 1

    @contextlib.contextmanager
    def _process(self, which: Loaded) -> "Iterator[_Process]":
        with self._lock:
            process = self._processes.get(which)
            if process is None or process.is_dead:
                self._make_room(which)
                words = [*self._command, which.word, which.data]
                process = self._processes[which] = self._starter.submit(_Process, words).result()
            process.n_user += 1
        try:
            with process.lock:
                yield process
        finally:
            with self._lock:
                process.n_user -= 1
                process.used_at = self._clock()
                if process.is_dead and self._processes.get(which) is process:
                    del self._processes[which]
                    process.end()

    def _make_room(self, which: Loaded) -> None:
        """Ends an older version of the model's file, or the process that was used least recently."""
        known = self._processes
        for other, process in list(known.items()):
            if process.is_dead or (other.word == which.word and not process.n_user):
                del known[other]
                process.end()
        if len(known) < MAX_PROCESS:
            return
        idle = [other for other, process in known.items() if not process.n_user]
        if not idle:
            raise Problem(429, f"{MAX_PROCESS} other models are predicting", hint="again in a few seconds")
        oldest = min(idle, key=lambda other: known[other].used_at)
        known.pop(oldest).end()


class _Process:
    """One process. lock: of who asks; n_user: who ask or wait; used_at: seconds"""

    def __init__(self, words: list[str]):
        self._popen = subprocess.Popen(
            words,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
            env=kept_environment(),
        )
        self.lock = threading.Lock()
        self.n_user = 0
        self.used_at = 0.0
        self._is_loaded = False

    @property
    def pid(self) -> int:
        return self._popen.pid

    @property
    def is_dead(self) -> bool:
        return self._popen.poll() is not None

    def ask(self, tree: dict[str, Any], payload: bytes) -> tuple[dict[str, Any], bytes]:
        """The answer; {"error": ...} if the model cannot be loaded, or the process fails. Raises Problem 503."""
        assert self._popen.stdin is not None
        assert self._popen.stdout is not None
        is_verified = tree.get("op") == "verify"
        if not self._is_loaded:
            seconds = VERIFY_S if is_verified else LOAD_S
            with killed_after(self._popen, seconds) as expired:
                try:
                    answer, _ = read_frame(self._popen.stdout)
                except _ENDED:
                    answer = self._failed(expired, "loading the model", seconds)
            if "error" in answer:
                self._popen.kill()
                self._popen.wait()
                return answer, b""
            self._is_loaded = True
        seconds = VERIFY_S if is_verified else ANSWER_S
        with killed_after(self._popen, seconds) as expired:
            try:
                write_frame(self._popen.stdin, tree, payload)
                return read_frame(self._popen.stdout)
            except _ENDED:
                return self._failed(expired, "the verification" if is_verified else "the prediction", seconds), b""

    def end(self) -> None:
        """Ends the process, which has nothing to lose."""
        self._popen.kill()
        self._popen.wait()
        for file in (self._popen.stdin, self._popen.stdout):
            if file is not None:
                with contextlib.suppress(OSError):
                    file.close()

    def _failed(self, expired: threading.Event, what: str, seconds: float) -> dict[str, Any]:
        """{"error": the process ended by itself}. Raises Problem 503 if it was killed, or took too long."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._popen.wait(END_S)
        self._popen.kill()
        code = self._popen.wait()
        if expired.is_set():
            raise Problem(503, f"{what} took more than {seconds:g} s, and was ended", hint="again when less runs")
        if code < 0:
            raise Problem(503, f"the process of {what} died (signal {-code})", hint="again, or with another image")
        return {"error": f"the process of {what} died (exit status {code}); try another image"}
