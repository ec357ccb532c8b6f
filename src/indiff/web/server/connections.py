"""Closes connections that are held open for nothing: a request's head must come within a time.

The server's own timeouts begin after a first answer, and the guard's with a request's body.
"""

from __future__ import annotations

import asyncio

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

HEAD_SECONDS = 20.0
MOST_CONNECTIONS = 500  # from here on a request is told to come later (503)
MOST_SOCKETS = 600  # and from here on a connection is closed at once: files are needed too


class Impatient(H11Protocol):
    """A connection that is closed if a head has not come as a whole in time, byte by byte or not.

    A connection that waits between two requests is the server's own business
    (``timeout_keep_alive``).
    """

    _head: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin to wait for the first head."""
        super().connection_made(transport)
        if len(self.connections) > MOST_SOCKETS:
            transport.abort()
        else:
            self._await_head()

    def data_received(self, data: bytes) -> None:
        """Go on waiting for a head that is not whole, and stop where it is."""
        super().data_received(data)
        answered = self.conn.our_state is h11.DONE  # what still comes of a body is of no use
        if self.conn.their_state is h11.IDLE or answered:
            self._await_head()
        else:
            self._stop_waiting()

    def connection_lost(self, exc: Exception | None) -> None:
        """Wait no longer."""
        self._stop_waiting()
        super().connection_lost(exc)

    def _await_head(self) -> None:
        if self._head is None:  # more bytes of the same head give it no more time
            self._head = self.loop.call_later(HEAD_SECONDS, self.transport.abort)

    def _stop_waiting(self) -> None:
        if self._head is not None:
            self._head.cancel()
            self._head = None
