"""The HTTP protocol of the streams listener: uvicorn's, with a deadline for the headers of a request."""

from __future__ import annotations

import asyncio

from uvicorn.protocols.http.h11_impl import H11Protocol

HEADERS_WITHIN_S = 30.0


class DeadlineProtocol(H11Protocol):
    """Ends a connection whose headers do not arrive: it would stay open, and keep its file, for ever."""

    _late: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn's own
        """Wait for the first request."""
        super().connection_made(transport)
        self._await_headers()

    def data_received(self, data: bytes) -> None:
        """Take a part of a request."""
        super().data_received(data)
        self._await_headers()

    def connection_lost(self, exc: Exception | None) -> None:
        """Nothing is waited for any more."""
        super().connection_lost(exc)
        self._arrived()

    def _await_headers(self) -> None:
        if self.cycle is not None and not self.cycle.response_complete:
            self._arrived()
        elif self._late is None and self.timeout_keep_alive_task is None:
            self._late = self.loop.call_later(HEADERS_WITHIN_S, self.transport.close)

    def _arrived(self) -> None:
        if self._late is not None:
            self._late.cancel()
            self._late = None
