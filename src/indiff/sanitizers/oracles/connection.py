"""HTTP connections to an address that was looked at first, which end in time."""

from __future__ import annotations

import contextlib
import ipaddress
import socket
import ssl
import threading
import time
from collections.abc import Mapping, Sequence
from http.client import HTTPConnection, HTTPResponse
from typing import Any, BinaryIO, Self

from indiff.errors import option
from indiff.sanitizers.oracles.function import OracleFailed

# This machine, and the private networks of RFC 1918 and RFC 4193. Link-local addresses are none:
# machines of a cloud keep their credentials there.
PRIVATE = tuple(
    ipaddress.ip_network(text)
    for text in (
        "127.0.0.0/8", "10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "::1/128", "fc00::/7",
    )
)  # fmt: skip


class TimeIsUp(Exception):
    """The seconds of a call are over."""


def is_private(address: str) -> bool:
    """Tell whether an address is this machine's or of a private network.

    >>> is_private("127.0.0.1"), is_private("::ffff:10.1.2.3"), is_private("169.254.169.254")
    (True, True, False)
    """
    found: Any = ipaddress.ip_address(address.partition("%")[0])
    found = getattr(found, "ipv4_mapped", None) or found
    return any(found.version == net.version and found in net for net in PRIVATE)


def addresses_of(host: str, port: int, *, remote: bool) -> list[str]:
    """Return the addresses that a name stands for now; refuse one of them that is not private."""
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        raise OracleFailed(
            f"a service needs an address that is known; there is none for {host!r}. Check its name."
        ) from None
    addresses = list(dict.fromkeys(str(one[4][0]) for one in found))
    stray = next((one for one in addresses if not is_private(one)), None)
    if stray is not None and not remote:
        shown = host if host == stray else f"{host} ({stray})"
        raise OracleFailed(
            "a service must be on this machine or in a private network, since the table is sent "
            f"there; {shown} is not. If the table may leave the building, say so with "
            f"{option('allow_remote')}, or remote=True in Python."
        )
    return addresses


class LimitedConnection:
    """A connection to one of the addresses of a host that is cut when its seconds are over.

    The limit is on everything together, so that neither a service that says nothing nor one that
    says a byte now and then holds a call for longer.
    """

    def __init__(
        self, host: str, port: int, addresses: Sequence[str], *, secure: bool, seconds: float
    ) -> None:
        self._host, self._port, self._addresses = host, port, addresses
        self._secure, self._deadline = secure, time.monotonic() + seconds
        self._over = threading.Event()
        self._socket: socket.socket | None = None
        self._timer: threading.Timer | None = None
        self._http = HTTPConnection(host, port)
        self._http.auto_open = 0  # never to whatever the name stands for by then

    def __enter__(self) -> Self:
        self._socket = self._open()
        left = min(max(self._deadline - time.monotonic(), 0.0), threading.TIMEOUT_MAX)
        self._timer = threading.Timer(left, self._cut)
        self._timer.daemon = True
        self._timer.start()
        try:
            self._http.sock = self._secured(self._socket) if self._secure else self._socket
        except BaseException as error:
            self.__exit__(type(error), error, None)
            raise
        return self

    def _open(self) -> socket.socket:
        """Connect to the first address that answers."""
        failure: OSError = OSError("no address")
        for address in self._addresses:
            left = self._deadline - time.monotonic()
            if left <= 0:
                break
            try:
                opened = socket.create_connection((address, self._port), timeout=left)
            except OSError as error:
                failure = error
                continue
            opened.settimeout(None)  # the timer ends it
            return opened
        if self._deadline <= time.monotonic():
            raise TimeIsUp
        raise failure

    def _secured(self, opened: socket.socket) -> ssl.SSLSocket:
        context = ssl.create_default_context()
        made = context.wrap_socket(
            opened, server_hostname=self._host, do_handshake_on_connect=False
        )
        self._socket = made  # which can be cut while hands are shaken
        made.do_handshake()
        return made

    def _cut(self) -> None:
        self._over.set()
        if self._socket is not None:
            with contextlib.suppress(OSError):
                socket.socket.shutdown(self._socket, socket.SHUT_RDWR)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: object
    ) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._http.close()
        if self._socket is not None:
            self._socket.close()
        if self._over.is_set() and (error is None or isinstance(error, Exception)):
            raise TimeIsUp from None  # whatever else was made of an answer that was cut

    def post(self, target: str, body: BinaryIO, headers: Mapping[str, str]) -> HTTPResponse:
        """Send a file and return the answer, whose body is still to be read."""
        self._http.request("POST", target, body, dict(headers))
        return self._http.getresponse()
