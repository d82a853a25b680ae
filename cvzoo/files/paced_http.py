"""HTTP with a time limit for headers and a minimum speed for bodies, against servers that send slowly forever.

A socket's timeout applies to each read, however small, so a byte from time to time would never time out.
"""

import http.client
import io
import time
from typing import Any

HEAD_SECONDS = 60.0  # for status and headers
WINDOW = 60.0  # seconds over which the speed is averaged
LOWEST_SPEED = 1024  # bytes per second
_now = time.monotonic


class SlowServerError(OSError):
    """A server is too slow. Not a TimeoutError, whose message urllib3 would replace."""


class PacedBytes(io.RawIOBase):
    """A raw stream of a connection. Raises SlowServerError if it is too slow.

    raw: the connection's stream
    head_seconds: time limit until `end_head` is called, after which the minimum speed applies
    """

    def __init__(self, raw: io.RawIOBase, *, head_seconds: float):
        self._raw = raw
        self._deadline: float | None = _now() + head_seconds
        self._begun, self._n = _now(), 0

    def end_head(self) -> None:
        """To be called at the end of the headers."""
        self._deadline = None
        self._begun, self._n = _now(), 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int | None:
        """As in `io.RawIOBase`."""
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
    """A response that is read from `PacedBytes`."""

    def __init__(self, *args: Any, **keywords: Any):
        super().__init__(*args, **keywords)
        self._paced = PacedBytes(self.fp.detach(), head_seconds=HEAD_SECONDS)
        self.fp = io.BufferedReader(self._paced)

    def begin(self) -> None:
        super().begin()
        self._paced.end_head()


def paced_adapter(max_retries: Any) -> Any:
    """A transport adapter of requests with such responses. max_retries: its Retry"""
    from requests.adapters import HTTPAdapter

    class Adapter(HTTPAdapter):
        def get_connection_with_tls_context(self, *args: Any, **keywords: Any) -> Any:
            pool: Any = super().get_connection_with_tls_context(*args, **keywords)
            if pool.ConnectionCls.response_class is not _PacedResponse:  # pools are reused for the same host
                pool.ConnectionCls = type("Connection", (pool.ConnectionCls,), {"response_class": _PacedResponse})
            return pool

    return Adapter(max_retries=max_retries)
