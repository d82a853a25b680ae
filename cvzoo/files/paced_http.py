"""HTTP whose answers must come at a lowest speed, their heads in a given time: a server that drips is given up.

A timeout of the socket is for one piece of data only, however small; a byte now and then would satisfy it for ever.
"""

import http.client
import io
import time
from typing import Any

HEAD_SECONDS = 60.0  # for status and headers
WINDOW = 60.0  # seconds over which the speed is taken
LOWEST_SPEED = 1024  # bytes a second
_now = time.monotonic


class SlowServerError(OSError):
    """A server answers more slowly than we wait for; urllib3 would hide the words of a TimeoutError."""


class PacedBytes(io.RawIOBase):
    """What a connection gives, as a raw stream. Raises SlowServerError when it comes too slowly.

    raw: the connection's stream
    head_seconds: how long reading may take until `end_head` is called; the lowest speed is asked for from then on
    """

    def __init__(self, raw: io.RawIOBase, *, head_seconds: float):
        self._raw = raw
        self._deadline: float | None = _now() + head_seconds
        self._begun, self._n = _now(), 0

    def end_head(self) -> None:
        """The headers are there; the body begins."""
        self._deadline = None
        self._begun, self._n = _now(), 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int | None:
        """As of any raw stream."""
        n = self._raw.readinto(buffer)
        self._n += n or 0
        now = _now()
        if self._deadline is not None:
            if n and now > self._deadline:
                raise SlowServerError("the server takes too long for its headers")
        elif n and now - self._begun >= WINDOW:
            if self._n < LOWEST_SPEED * (now - self._begun):
                raise SlowServerError(f"the server sends less than {LOWEST_SPEED} bytes a second")
            self._begun, self._n = now, 0
        return n

    def close(self) -> None:
        self._raw.close()
        super().close()


class _PacedResponse(http.client.HTTPResponse):
    """An answer that is read from `PacedBytes`."""

    def __init__(self, *args: Any, **keywords: Any):
        super().__init__(*args, **keywords)
        self._paced = PacedBytes(self.fp.detach(), head_seconds=HEAD_SECONDS)
        self.fp = io.BufferedReader(self._paced)

    def begin(self) -> None:
        super().begin()
        self._paced.end_head()


def paced_adapter(max_retries: Any) -> Any:
    """A transport adapter of requests whose connections give such answers. max_retries: its Retry"""
    from requests.adapters import HTTPAdapter

    class Adapter(HTTPAdapter):
        def get_connection_with_tls_context(self, *args: Any, **keywords: Any) -> Any:
            pool: Any = super().get_connection_with_tls_context(*args, **keywords)
            if pool.ConnectionCls.response_class is not _PacedResponse:  # a pool is kept for a host's next request
                pool.ConnectionCls = type("Connection", (pool.ConnectionCls,), {"response_class": _PacedResponse})
            return pool

    return Adapter(max_retries=max_retries)
