"""Starts the server: a port, the one-time link, and uvicorn without a log of requests."""

from __future__ import annotations

import contextlib
import os
import socket
import sys
import webbrowser
from collections.abc import Callable
from types import FrameType

from indiff.errors import UserError
from indiff.web.api.planning import as_text
from indiff.web.store.settings import Settings, is_loopback


def serve(settings: Settings, *, browser: bool, say: Callable[[str], None]) -> None:
    """Serve until interrupted; ``say`` gets the lines for the terminal."""
    from indiff.web.jobs.queue import lock_data_dir

    check_commands(settings)
    os.umask(0o077)  # whatever is written is for its owner only
    settings.make_folders()
    with lock_data_dir(settings.data_dir):
        _serve(settings, browser, say)


def _serve(settings: Settings, browser: bool, say: Callable[[str], None]) -> None:
    import uvicorn

    from indiff.web.server.app import make_app
    from indiff.web.server.connections import MOST_CONNECTIONS, Impatient

    app = make_app(settings)
    listener = _listen(settings.host, settings.port)
    port = listener.getsockname()[1]
    server = app.state.server
    waiting = len(server.store.unfinished())
    link = f"{settings.address or f'http://{_shown(settings.host)}:{port}'}/"
    if settings.password is None:
        link += f"open?token={server.sessions.new_link()}"
    say(f"indiff is at {link}")
    if settings.password is None:
        say("The link works once. Press Ctrl-C to stop.")
    else:
        say("Sign in with the password. Press Ctrl-C to stop.")
    if not is_loopback(settings.host) and settings.address is None:
        say("Other machines can reach it, unencrypted: put it behind a proxy with TLS.")
    if waiting:
        say(f"Unfinished jobs of an earlier start go on: {waiting}.")
    sys.stdout.flush()
    if browser:
        webbrowser.open(link)

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
    say("Stopped. Unfinished runs go on at the next start.")


def check_commands(settings: Settings) -> None:
    """Refuse a command that could never run, before anybody chooses it."""
    if settings.commands:
        from indiff.sanitizers.parse import as_sanitizer

        for command in settings.commands.values():
            as_sanitizer(as_text(command))


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
