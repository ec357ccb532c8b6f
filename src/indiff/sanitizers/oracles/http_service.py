"""Oracles behind an HTTP address: a service that is sent the table and answers with a release."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from dataclasses import dataclass
from http.client import HTTPException, HTTPResponse, IncompleteRead
from pathlib import Path
from typing import Any
from urllib.parse import SplitResult, urlsplit

import numpy as np
from numpy.random import Generator

from indiff.data.table import Table
from indiff.errors import UserError, check_whole, marked, said
from indiff.files import write_frame
from indiff.release.release import Release
from indiff.sanitizers.oracles.command import FORMATS, TIMEOUT, Format
from indiff.sanitizers.oracles.connection import LimitedConnection, TimeIsUp, addresses_of
from indiff.sanitizers.oracles.function import BlackBox, OracleFailed, read_returned
from indiff.temporary import private_folder

RETRIES = 2
MOST_BYTES = 1 << 30  # of an answer
_SEED = "{seed}"
_TYPES = {"csv": "text/csv; charset=utf-8", "parquet": "application/vnd.apache.parquet"}
_AGAIN = (429, 500, 502, 503, 504)  # what may be over a moment later
_FIRST_WAIT = 0.2  # seconds, doubled from one try to the next
_PIECE = 1 << 16
_TOLD = 500  # characters of what a service says of its failure
_WRITTEN = re.compile(r"\s*(https?)(?:\(([^)]*)\))?:(//.*)", re.DOTALL)


class _Unsteady(OracleFailed):
    """A failure that may be over a moment later."""


@dataclass(frozen=True)
class Http(BlackBox):
    """A service that is sent the table by POST and answers 200 with its release.

    The table is the body, as CSV or with ``format="parquet"`` as Parquet; so is the answer, unless
    its ``Content-Type`` names the other one. A call may take ``timeout`` seconds in all; one that
    cannot connect, breaks off or is answered by 429, 500, 502, 503 or 504 is repeated ``retries``
    times. A ``{seed}`` in the address makes it a randomized sanitizer that takes its seed from us.

    The table leaves this process, so the address must be this machine's or of a private network
    (10.0.0.0/8, 172.16.0.0/12, 192.168.0.0/16, fc00::/7) unless ``remote``. What is checked is the
    address that the name stands for in this very call, and the connection goes to that one.
    Redirections are refused, proxies of the environment are not used.

    On the command line it is written ``http://127.0.0.1:8000/anonymize``, with other settings
    ``http(timeout=60,format=parquet)://…``.

    >>> str(Http("http://127.0.0.1:8000/anonymize", timeout=60))
    'http(timeout=60)://127.0.0.1:8000/anonymize'
    >>> Http("http://127.0.0.1/anonymize?seed={seed}").randomized
    True
    """

    url: str
    timeout: float = TIMEOUT
    format: Format = "csv"
    retries: int = RETRIES
    remote: bool = False

    def __post_init__(self) -> None:
        timeout = self.timeout
        if isinstance(timeout, bool) or not isinstance(timeout, int | float) or not timeout > 0:
            raise UserError("timeout must be a number of seconds above 0", f"{timeout!r}")
        if self.format not in FORMATS:
            raise UserError("format must be 'csv' or 'parquet'", f"{self.format!r}")
        check_whole("retries", self.retries, 0)
        parts = self._parts
        if parts.username is not None or parts.password is not None:
            raise UserError(
                "an address must not have a user or a password in it, since reports name it",
                way_out="Leave them out; a service of your own network need not ask for them",
            )
        if parts.fragment or any(sign <= " " or sign > "~" for sign in self.url):
            rule = "an address is written in letters, digits and signs of ASCII, without '#'"
            raise UserError(rule, f"{self.url!r}", "Write other signs as %20")

    @property
    def _parts(self) -> SplitResult:
        try:
            parts = urlsplit(self.url)
            known = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0
        except ValueError:
            known = False
        if not known:
            rule = "an HTTP sanitizer is an address such as http://127.0.0.1:8000/anonymize"
            raise UserError(rule, f"{self.url!r}")
        return parts

    @property
    def randomized(self) -> bool:
        """Whether the address takes a seed."""
        return _SEED in self.url

    def __str__(self) -> str:
        usual: dict[str, Any] = {"timeout": TIMEOUT, "format": "csv", "retries": RETRIES}
        chosen = [
            f"{name}={value:g}" if isinstance(value, float) else f"{name}={value}"
            for name, value in ((name, getattr(self, name)) for name in usual)
            if value != usual[name]
        ]
        chosen += ["remote=yes"] if self.remote else []
        scheme, _, rest = self.url.partition(":")
        return f"{scheme}{_in_brackets(chosen)}:{rest}"

    def sanitize(self, table: Table, rng: Generator | None = None) -> Release:
        """Send the table and read the answer; try again where that may help."""
        url = self.url
        if self.randomized:
            generator = np.random.default_rng() if rng is None else rng
            url = url.replace(_SEED, str(int(generator.integers(2**31))))
        with private_folder() as room:
            sent = room / f"input.{self.format}"
            write_frame(table.frame(), sent, lasting=False)
            for last in self._tries():
                try:
                    return self._call(urlsplit(url), sent, room, table)
                except _Unsteady as error:
                    if last:
                        raise OracleFailed(marked(error)) from None
        raise AssertionError("the last try returns or raises")

    def _tries(self) -> Iterator[bool]:
        """Yield whether a try is the last one, and wait in between, longer each time."""
        for number in range(self.retries + 1):
            yield number == self.retries
            time.sleep(_FIRST_WAIT * 2**number)

    def _call(self, parts: SplitResult, sent: Path, room: Path, table: Table) -> Release:
        host = str(parts.hostname)
        port = parts.port or (443 if parts.scheme == "https" else 80)
        where = addresses_of(host, port, remote=self.remote)
        target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        connection = LimitedConnection(
            host, port, where, secure=parts.scheme == "https", seconds=self.timeout
        )
        try:
            with connection, sent.open("rb") as body:
                headers = {
                    "Content-Type": _TYPES[self.format],
                    "Content-Length": str(sent.stat().st_size),
                    "Accept": ", ".join(_TYPES.values()),
                }
                answer = connection.post(target, body, headers)
                self._check(answer, len(table))
                file = room / f"output.{self._format_of(answer)}"
                self._receive(answer, file, len(table))
        except TimeIsUp:
            raise OracleFailed(
                f"a service must answer in time; {str(self)!r} had not after {self.timeout:g} "
                f"seconds, on {len(table):,} records. Give it longer: timeout=1200, or "
                "http(timeout=1200)://… on the command line."
            ) from None
        except (OSError, HTTPException) as error:
            raise _Unsteady(
                f"a service must answer; {str(self)!r} did not on {len(table):,} records "
                f"({_named(error)}). Check that it runs, and its address."
            ) from None
        try:
            return read_returned(file, table, str(self))
        except OracleFailed as error:  # where the file lay means nothing to anybody
            raise OracleFailed(marked(error).replace(repr(str(file)), "its answer")) from None

    def _check(self, answer: HTTPResponse, records: int) -> None:
        """Refuse every answer but one: 200, itself, not compressed."""
        if 300 <= answer.status < 400:
            place = answer.getheader("Location") or "nowhere"
            raise OracleFailed(
                f"a service must answer itself, since a table is sent nowhere else; {str(self)!r} "
                f"redirects to {said(place[:_TOLD])}. Give that address, if it is right."
            )
        if answer.status != 200:
            words = answer.read(_TOLD).decode("utf-8", "replace")
            told = f" It said: {said(' '.join(words.split()))}" if words.strip() else ""
            kind = _Unsteady if answer.status in _AGAIN else OracleFailed
            raise kind(
                f"a service must answer 200; {str(self)!r} answered {answer.status} on "
                f"{records:,} records.{told}"
            )
        if answer.getheader("Content-Encoding", "identity").lower() != "identity":
            raise OracleFailed(
                f"a service must answer with a plain file; the answer of {str(self)!r} is "
                "compressed. Let it leave that out."
            )
        if answer.length is None and not answer.chunked:  # its end could be a broken connection
            raise OracleFailed(
                f"a service must say how long its answer is; {str(self)!r} sent neither "
                "Content-Length nor chunks. Let it send one of them."
            )

    def _format_of(self, answer: HTTPResponse) -> str:
        kind = answer.getheader("Content-Type", "").lower()
        return next((name for name in FORMATS if name in kind), self.format)

    def _receive(self, answer: HTTPResponse, file: Path, records: int) -> None:
        """Write the answer to a file, which may not grow for ever."""
        size, wanted = 0, answer.length
        with file.open("wb") as kept:
            while piece := answer.read(_PIECE):
                size += len(piece)
                if size > MOST_BYTES:
                    raise OracleFailed(
                        f"a service may answer with at most {MOST_BYTES:,} bytes; {str(self)!r} "
                        f"sent more on {records:,} records. Let it answer with the release alone."
                    )
                kept.write(piece)
        if wanted is not None and size < wanted:
            raise IncompleteRead(b"", wanted - size)
        if not size:
            raise OracleFailed(
                f"a service must answer with a release; {str(self)!r} answered 200 and sent "
                f"nothing on {records:,} records."
            )


def _in_brackets(words: list[str]) -> str:
    return f"({','.join(words)})" if words else ""


def _named(error: Exception) -> str:
    """Name what went wrong on the way, in the words of the operating system where it has any."""
    words = getattr(error, "strerror", None) or type(error).__name__
    return re.sub(r"(?<=[a-z])(?=[A-Z])", " ", str(words)).lower()


def is_address(text: str) -> bool:
    """Tell whether a sanitizer's text is that of a service.

    >>> is_address("http(timeout=60)://127.0.0.1/"), is_address("mondrian:k=5")
    (True, False)
    """
    return _WRITTEN.fullmatch(text) is not None


def parse_http(text: str) -> Http:
    """Return the service of ``http(options)://…``.

    >>> parse_http("http(format=parquet,retries=0)://localhost:8000/x").retries
    0
    """
    found = _WRITTEN.fullmatch(text)
    assert found is not None
    chosen: dict[str, Any] = {}
    for part in filter(None, (piece.strip() for piece in (found[2] or "").split(","))):
        key, sign, value = part.partition("=")
        if not sign or key not in _READ or (key == "remote" and value not in ("yes", "no")):
            raise UserError(
                "a service takes timeout=SECONDS, format=csv or parquet, retries=N and remote=yes "
                "or no",
                f"{part!r}",
                "Write http(timeout=60)://…",
            )
        try:
            chosen[key] = _READ[key](value)
        except ValueError:
            raise UserError(f"{key} cannot be {value!r} in {text!r}; give a number.") from None
    return Http(f"{found[1]}:{found[3].strip()}", **chosen)


_READ: dict[str, Any] = {
    "timeout": float, "format": str, "retries": int, "remote": "yes".__eq__,
}  # fmt: skip


def with_remote(text: str) -> str:
    """Let a service be anywhere; the text of another sanitizer stays as it is.

    >>> with_remote("http(timeout=60)://example.org/x"), with_remote("mondrian:k=5")
    ('http(timeout=60,remote=yes)://example.org/x', 'mondrian:k=5')
    """
    if not is_address(text):
        return text
    service = parse_http(text)
    return str(Http(service.url, service.timeout, service.format, service.retries, remote=True))
