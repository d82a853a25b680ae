"""Asks processes about images; an image that ends three of them, or takes too long, is lost, and nothing else."""

import json
import pathlib
import subprocess
import sys
from types import TracebackType
from typing import Any

from cvzoo.files.atomic_write import atomic_write
from cvzoo.studio.inference.frames import killed_after, read_frame, write_frame
from cvzoo.studio.photos.store import ImageStore
from cvzoo.studio.worker.attempt import kept_environment

TIMEOUT_S = 30.0
_RENEWED_AFTER = 5000
_N_TRY = 3  # a process may also be killed, by the kernel for memory or by a user, while its image is sound


class Imaging:
    """One process that decodes images of a store.

    store: the images; timeout: seconds per image; command: the process, for tests
    """

    def __init__(self, store: ImageStore, timeout: float = TIMEOUT_S, command: tuple[str, ...] | None = None):
        self._store, self._timeout = store, timeout
        self._command = command or (sys.executable, "-m", "cvzoo.studio.photos.imaging_worker", str(store.root))
        self._process: subprocess.Popen[bytes] | None = None
        self._n = 0

    def __enter__(self) -> "Imaging":
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        self._end()

    def size(self, sha256: str, name: str) -> tuple[int, int]:
        """(H, W) of an image of the store, (0, 0) if it cannot be decoded; its thumbnail and properties are written.

        name: of the file
        """
        facts = read_facts(self._store, sha256)
        if facts is None:
            answer, payload = self._ask({"path": str(self._store.image(sha256)), "name": name})
            facts = answer.get("facts") or _unreadable(str(answer["error"]))
            self._keep(sha256, facts, payload, answer.get("n_thumbnail", 0))
        height, width = facts["size"] or (0, 0)
        return int(height), int(width)

    def _keep(self, sha256: str, facts: dict[str, Any], payload: bytes, n_thumbnail: int) -> None:
        """Writes what the process, which may write nothing, said of an image; the properties last."""
        files = (
            (self._store.thumbnail(sha256), payload[:n_thumbnail]),
            (self._store.view(sha256), payload[n_thumbnail:]),
            (self._store.facts(sha256), json.dumps(facts).encode()),
        )
        for path, data in files:
            if data:
                with atomic_write(path, is_durable=False) as file:
                    file.write(data)

    def _ask(self, question: dict[str, str]) -> tuple[dict[str, Any], bytes]:
        for _ in range(_N_TRY):
            answer = self._ask_once(question)
            if answer is not None:
                return answer
        return {"error": "decoding it ended the process"}, b""

    def _ask_once(self, question: dict[str, str]) -> tuple[dict[str, Any], bytes] | None:
        """The answer; None if the process has ended."""
        if self._n >= _RENEWED_AFTER:
            self._end()
        process = self._started()
        assert process.stdin is not None
        assert process.stdout is not None
        self._n += 1
        with killed_after(process, self._timeout) as expired:
            try:
                write_frame(process.stdin, question)
                return read_frame(process.stdout)
            except (EOFError, OSError):
                pass
        self._end()
        return ({"error": f"decoding it took more than {self._timeout:g} s"}, b"") if expired.is_set() else None

    def _started(self) -> "subprocess.Popen[bytes]":
        if self._process is None:
            self._process = subprocess.Popen(
                self._command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env=kept_environment() | {"OPENBLAS_NUM_THREADS": "1"},
            )
            self._n = 0
        return self._process

    def _end(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            process.wait()
            for pipe in (process.stdin, process.stdout):
                if pipe is not None:
                    try:
                        pipe.close()
                    except OSError:  # it sends what the process did not live to read; and is closed all the same
                        pass


def _unreadable(reason: str) -> dict[str, Any]:
    """The properties of an image that could not be looked at."""
    facts = {"trouble": ["photo-unreadable", reason], "size": None, "stored_size": None, "orientation": 1}
    return facts | {"format": None, "ending_fits": True, "is_blank": False, "fingerprint": None, "look": None}


def read_facts(store: ImageStore, sha256: str) -> dict[str, Any] | None:
    """The properties of an image, None if it was not looked at, or its thumbnail is missing or empty."""
    path: pathlib.Path = store.facts(sha256)
    # what a power failure damaged is made again, so that nothing waits until it is on the disk
    try:
        facts: dict[str, Any] = json.loads(path.read_bytes())
        is_whole = facts["trouble"] is not None or store.thumbnail(sha256).stat().st_size > 0
    except (OSError, ValueError):
        return None
    return facts if is_whole else None
