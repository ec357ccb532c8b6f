"""Starts the server: a port, the one-time link, uvicorn, and connections that must not dawdle."""

from __future__ import annotations

import asyncio
import contextlib
import os
import select
import signal
import socket
import sys
import tempfile
import threading
import time
import webbrowser
from collections.abc import Callable
from types import FrameType

import h11
import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from indiff.errors import UserError
from indiff.sanitizers.sanitizer import as_sanitizer
from indiff.web.api.planning import as_text
from indiff.web.jobs.queue import lock_data_dir
from indiff.web.server.app import make_app
from indiff.web.store.settings import Settings, is_loopback

DONE = "Nothing was left unfinished; tables and results are kept."
HEAD_SECONDS = 20.0
TYPED_EVERY = 1.0
MOST_CONNECTIONS = 500  # from here on a request is told to come later (503)
MOST_SOCKETS = 600  # and from here on a connection is closed at once: files are needed too


def serve(settings: Settings, *, browser: bool, say: Callable[[str], None]) -> None:
    """Serve until interrupted; ``say`` gets the lines for the terminal."""
    for command in settings.commands.values():
        as_sanitizer(as_text(command))  # one that could never run is refused before it is chosen
    os.umask(0o077)  # whatever is written is for its owner only
    settings.make_folders()
    tempfile.tempdir = str(settings.data_dir)  # where a form's file is while it comes
    with lock_data_dir(settings.data_dir):
        _serve(settings, browser, say)


def _serve(settings: Settings, browser: bool, say: Callable[[str], None]) -> None:
    app = make_app(settings)
    listener = _listen(settings.host, settings.port)
    port = listener.getsockname()[1]
    server = app.state.server
    waiting = len(server.store.unfinished())
    place = f"{settings.address or f'http://{_shown(settings.host)}:{port}'}/"

    def new_link() -> str:
        link = place
        if settings.password is None:
            link += f"open?token={server.sessions.new_link()}"
        say(f"indiff is at {link}")
        return link

    link = new_link()
    enter = "Sign in with the password" if settings.password else "The link works once"
    again = "Enter for a new link, " if is_typed_at() else ""
    say(f"{enter}. Press {again}Ctrl-C to stop.")
    if not is_loopback(settings.host) and settings.address is None:
        say("Other machines can reach it, unencrypted: put it behind a proxy with TLS.")
    if waiting:
        say(f"Unfinished jobs of an earlier start go on: {waiting}.")
    sys.stdout.flush()
    if browser:
        webbrowser.open(link)
    if is_typed_at():
        threading.Thread(target=_on_enter, args=(new_link,), name="enter", daemon=True).start()

    class Running(uvicorn.Server):
        def handle_exit(self, sig: int, frame: FrameType | None) -> None:
            server.queue.ending = True
            super().handle_exit(sig, frame)

    running = Running(
        uvicorn.Config(
            app,
            access_log=False,  # addresses may hold names of columns and the link's token
            log_level="warning",
            http=Impatient,  # on h11, which refuses a head above 64 kB
            ws="none",
            limit_concurrency=MOST_CONNECTIONS,
            server_header=False,
            proxy_headers=False,
            timeout_graceful_shutdown=2,
        )
    )
    with contextlib.suppress(KeyboardInterrupt):  # uvicorn has ended everything before
        running.run(sockets=[listener])
    left = len(server.store.unfinished())
    say(f"Stopped. {f'Unfinished jobs that go on at the next start: {left}.' if left else DONE}")


def is_typed_at() -> bool:
    """Tell whether somebody can press a key for this program."""
    return sys.stdin is not None and sys.stdin.isatty()


def _on_enter(act: Callable[[], object]) -> None:
    """Do something whenever Enter is pressed in the terminal, as long as the program runs.

    The terminal is read by its number: a reader of Python's would hold a lock while it waits, and
    no program can end with that held.
    """
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTTIN])  # in the background: an error
    number = sys.stdin.fileno()
    while True:
        try:
            if select.select([number], [], [], None)[0] and not os.read(number, 4096):
                return
        except OSError:  # it is another program's turn to be typed at
            time.sleep(TYPED_EVERY)
            continue
        act()
        sys.stdout.flush()


def _listen(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host.strip("[]"), port))
    except OSError as error:
        listener.close()
        raise UserError(
            f"the server must be able to listen at {host}, port {port}; it is not "
            f"({error.strerror})",
            way_out="Choose another --port, or leave it out for a free one",
        ) from None
    return listener


def _shown(host: str) -> str:
    if host in ("0.0.0.0", "::"):
        return socket.gethostname()
    return f"[{host}]" if ":" in host else host


class Impatient(H11Protocol):
    """A connection that is closed if a head has not come as a whole in time, byte by byte or not.

    The server's own timeouts begin after a first answer, and the guard's with a request's body; a
    connection that waits between two requests is the server's business (``timeout_keep_alive``).
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
