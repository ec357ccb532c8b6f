"""Checks Host, Origin, session and CSRF before any route sees a request.

Plain ASGI, so that an upload streams through it; every answer leaves with the same headers.
"""

from __future__ import annotations

import asyncio
import socket
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from urllib.parse import parse_qs

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import cookie_parser
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from indiff.web.access.sessions import Session, Sessions, same
from indiff.web.refusals import API, Refused, exhausted, refusal
from indiff.web.store.settings import is_loopback

UNSAFE = ("POST", "PUT", "PATCH", "DELETE")
SMALL_BODY = 1_000_000
TOO_LARGE = f"a request must be at most {SMALL_BODY:,} bytes; this one is larger."
FIELDS_BYTES = 100_000  # of a form around its file
STALLED_SECONDS = 60.0
FORM = "application/x-www-form-urlencoded"
CSRF_HEADER, CSRF_FIELD = "x-csrf-token", "csrf"

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "font-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; "
    "frame-ancestors 'none'"
)
HEADERS = {
    "content-security-policy": POLICY,
    "cache-control": "no-store",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    # Not "no-referrer": a browser would then name no origin for a form, and it would be refused.
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
}

NEW_LINK = "Press Enter in the terminal of 'indiff serve' for a new one"
# What a person needs before there is a session.
OPEN_PATHS = ("/open", "/login", "/ended")


class Guard:
    """Wraps the application; ``uploads`` tells how many bytes of a file a path takes, if any.

    ``address`` is where a proxy with TLS shows this server, as in ``https://audit.example.org``.
    """

    def __init__(
        self,
        app: ASGIApp,
        sessions: Sessions,
        host: str,
        uploads: Callable[[str], int | None],
        address: str | None = None,
    ) -> None:
        self.app, self.sessions, self.uploads = app, sessions, uploads
        self.names = {"127.0.0.1", "localhost", "::1", host.lower()}
        if not is_loopback(host):
            self.names |= {socket.gethostname().lower(), socket.getfqdn().lower()}
        self.outside = None if address is None else address.removeprefix("https://")

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Check one request and pass it on, or answer it with a refusal."""
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self.app(scope, receive, send)
            return
        sent = False

        async def with_headers(message: Message) -> None:
            nonlocal sent
            if message["type"] == "http.response.start":
                sent = True
                given = MutableHeaders(scope={"headers": [], **message})
                for name, value in HEADERS.items():
                    given.setdefault(name, value)
                if message["status"] in (408, 413):
                    given["connection"] = "close"  # what is still to come is not read
                message = {**message, "headers": given.raw}
            await send(message)

        try:
            receive = await self._checked(scope, receive)
            await self.app(scope, receive, with_headers)
        except Exception as error:  # noqa: BLE001 - the one place that turns a bug into an answer
            answer = refusal(scope, _as_refused(error))
            if not sent:
                await answer(scope, receive, with_headers)

    async def _checked(self, scope: Scope, receive: Receive) -> Receive:
        headers = Headers(scope=scope)
        host = self._checked_host(scope, headers)
        path, method = str(scope["path"]), str(scope["method"])
        if method in UNSAFE:
            _check_origin(scope, headers, host)
        kind = headers.get("content-type", "")
        largest = None if kind.startswith(FORM) else self.uploads(path)
        limit = largest or SMALL_BODY
        too_large = too_large_file(limit) if largest else Refused(413, TOO_LARGE)
        if largest and not path.startswith(API):
            limit += FIELDS_BYTES
        bounded = _awaited(receive, headers, limit, too_large)
        # What other programs on this machine left in the header may be anything.
        name = cookie_parser(headers.get("cookie", "")).get(cookie_name(scope))
        session = self.sessions.find(name)
        scope["state"] = {**scope.get("state", {}), "session": session, "session_name": name}
        if session is None and self.sessions.password is not None:
            scope["state"]["way_in"] = "/login"
        if path in OPEN_PATHS or path.startswith("/static/"):
            return bounded
        if session is None:
            raise Refused(401, self._way_in())
        if method in UNSAFE:
            bounded = await self._check_csrf(scope, headers, bounded, session)
        return bounded

    def _way_in(self) -> str:
        if self.sessions.password is not None:
            return "a session is needed: sign in with the password at /login."
        return (
            "a session is needed: open the link that 'indiff serve' printed; it works once. "
            f"{NEW_LINK}."
        )

    def _checked_host(self, scope: Scope, headers: Headers) -> str:
        host = headers.get("host", "")
        if self.outside is not None and host.lower() == self.outside:
            scope["scheme"] = "https"  # the proxy's: its cookies never travel unencrypted
            return host
        name, port = _split_host(host)
        server = scope.get("server") or ("", None)
        known = name in self.names or (name == server[0] and not is_loopback(name))
        if not known or (server[1] is not None and port != server[1]):
            raise Refused(400, "the Host header must name this server; it names another.")
        return host

    async def _check_csrf(
        self, scope: Scope, headers: Headers, receive: Receive, session: Session
    ) -> Receive:
        if same(headers.get(CSRF_HEADER), session.csrf):
            scope["state"]["csrf_checked"] = True
            return receive
        kind, path = headers.get("content-type", ""), str(scope["path"])
        own_form = kind.startswith("multipart/form-data") and not path.startswith(API)
        if own_form and self.uploads(path) is not None:
            return receive  # a page's form: its field is checked before its file is kept
        if kind.startswith(FORM) and CSRF_HEADER not in headers:
            body = await _whole(receive)
            field = parse_qs(body.decode("latin-1")).get(CSRF_FIELD, [None])[0]
            if same(field, session.csrf):
                scope["state"]["csrf_checked"] = True
                return _again(body, receive)
        raise Refused(
            403,
            "every request that changes something must carry the session's CSRF token, in the "
            "header X-CSRF-Token or as the form's field 'csrf'; this one does not.",
        )


def _as_refused(error: Exception) -> Refused:
    if isinstance(error, Refused):
        return error
    if (known := exhausted(error)) is not None:
        return known
    log_without_values(error)
    return Refused(500, f"internal error ({type(error).__name__}); please report it.")


def cookie_name(scope: Scope) -> str:
    """Return the cookie's name: browsers do not keep the cookies of two ports apart."""
    server = scope.get("server") or ("", 0)
    return f"indiff_{server[1] or 0}"


def _split_host(host: str) -> tuple[str, int]:
    """Split a Host header; the port of plain HTTP is 80."""
    if host.startswith("["):
        name, _, rest = host[1:].partition("]")
        port = rest.removeprefix(":")
    else:
        name, _, port = host.partition(":")
    known = int(port) if port.isdecimal() and len(port) < 6 else -1
    return name.lower(), known if port else 80


def _check_origin(scope: Scope, headers: Headers, host: str) -> None:
    """Refuse what another page makes a browser send."""
    origin = headers.get("origin")
    site = headers.get("sec-fetch-site", "same-origin")
    foreign = origin is not None and origin.lower() not in (
        f"http://{host.lower()}",
        f"https://{host.lower()}",
    )
    if foreign or site not in ("same-origin", "none"):
        raise Refused(403, "a request that changes something must come from this server's pages.")


def too_large_file(limit: int) -> Refused:
    """The refusal of a file above the limit."""
    rule = f"a file must be at most {limit:,} bytes; this one is larger"
    return Refused(413, rule, way_out="Start the server with a larger --max-upload")


def _awaited(receive: Receive, headers: Headers, limit: int, too_large: Refused) -> Receive:
    """Refuse a body that is too large, declared or counted, and end one that stops coming."""
    declared = headers.get("content-length", "0")
    if not declared.isdecimal() or len(declared) > 18 or int(declared) > limit:
        raise too_large
    count, whole = 0, False

    async def awaited() -> Message:
        nonlocal count, whole
        if whole:  # what follows may take its time
            return await receive()
        try:
            message = await asyncio.wait_for(receive(), STALLED_SECONDS)
        except TimeoutError:
            silent = f"{STALLED_SECONDS:.0f} seconds"
            raise Refused(408, f"this request sent nothing for {silent}; send it again.") from None
        count += len(message.get("body", b""))
        if count > limit:
            raise too_large
        whole = message["type"] != "http.request" or not message.get("more_body", False)
        return message

    return awaited


async def _whole(receive: Receive) -> bytes:
    body = b""
    while True:
        message = await receive()
        body += message.get("body", b"")
        if message["type"] == "http.disconnect" or not message.get("more_body", False):
            return body


def _again(body: bytes, receive: Receive) -> Receive:
    """Give a body that was read once more, then whatever follows it."""
    pending = True

    async def replay() -> Message:
        nonlocal pending
        if pending:
            pending = False
            return {"type": "http.request", "body": body, "more_body": False}
        return await receive()

    return replay


def log_without_values(error: BaseException) -> None:
    """Write where a bug is to standard error, without its message, which may hold values."""
    frames = traceback.extract_tb(error.__traceback__)
    places = " < ".join(f"{Path(f.filename).name}:{f.lineno}" for f in reversed(frames[-6:]))
    sys.stderr.write(f"indiff: internal error ({type(error).__name__}) at {places}\n")
