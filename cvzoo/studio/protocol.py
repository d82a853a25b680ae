"""HTTP/1.1 whose headers must arrive within seconds, and be short: else a few clients could hold all connections."""

import asyncio
import typing

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

HEADERS_S = 10.0
MAX_HEADERS = 1 << 16


class BoundedHeaders(HttpToolsProtocol):
    """uvicorn's protocol with limits of the time and the length of the headers of each request."""

    _timer: asyncio.TimerHandle | None = None
    _n_byte = 0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(typing.cast(asyncio.Transport, transport))  # as uvicorn narrows it
        self._expect_headers()

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self._expect_headers()

    def on_headers_complete(self) -> None:
        self._stop_timer()
        super().on_headers_complete()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_timer()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self._timer is not None:
            self._n_byte += len(data)
            if self._n_byte > MAX_HEADERS:
                self.transport.close()

    def _expect_headers(self) -> None:
        if self._timer is None:
            self._n_byte = 0
            self._timer = self.loop.call_later(HEADERS_S, self.transport.close)

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
