"""Lets people in: by a link that works once, or a password; then by a session."""

from __future__ import annotations

import hmac
import secrets
import threading
import time
from dataclasses import dataclass, field

IDLE_HOURS = 12  # that a session lasts without use, in the server and as the browser's cookie
IDLE_SECONDS = IDLE_HOURS * 3600.0
TRIES, TRY_SECONDS = 5, 60.0


@dataclass
class Session:
    """One browser that was let in, and the token its forms must carry."""

    csrf: str
    seen: float


@dataclass
class Sessions:
    """The sessions of one server, in its memory only: a new start needs a new link."""

    password: str | None = None
    _link: str | None = None
    _sessions: dict[str, Session] = field(default_factory=dict)
    _failures: list[float] = field(default_factory=list)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def new_link(self) -> str:
        """Return the token of the one-time link; an earlier one stops working."""
        with self._lock:
            self._link = secrets.token_urlsafe(32)
            return self._link

    def open_with_link(self, token: str) -> str | None:
        """Use the one-time link up: the name of a new session, or None if it is not valid."""
        with self._lock:
            if self.password is not None or self._link is None:
                return None
            if not hmac.compare_digest(token.encode(), self._link.encode()):
                return None
            self._link = None
            return self._open()

    def open_with_password(self, password: str) -> str | None:
        """Return the name of a new session, or None if the password is wrong."""
        with self._lock:
            # Counted here again: many guesses may have arrived at once, before the first failed.
            if self.password is None or self._failed_often():
                return None
            if not hmac.compare_digest(password.encode(), self.password.encode()):
                self._failures.append(time.monotonic())
                return None
            return self._open()

    def too_many_failures(self) -> bool:
        """Tell whether passwords were guessed too often within a minute."""
        with self._lock:
            return self._failed_often()

    def _failed_often(self) -> bool:
        limit = time.monotonic() - TRY_SECONDS
        self._failures = [moment for moment in self._failures if moment > limit]
        return len(self._failures) >= TRIES

    def _open(self) -> str:
        name = secrets.token_urlsafe(32)
        self._sessions[name] = Session(secrets.token_urlsafe(32), time.monotonic())
        return name

    def find(self, name: str | None) -> Session | None:
        """Return a session that is known and was used within the last hours."""
        with self._lock:
            session = self._sessions.get(name or "")
            if session is None:
                return None
            if time.monotonic() - session.seen > IDLE_SECONDS:
                del self._sessions[name or ""]
                return None
            session.seen = time.monotonic()
            return session

    def close(self, name: str | None) -> None:
        """End a session."""
        with self._lock:
            self._sessions.pop(name or "", None)


def same(given: str | None, wanted: str) -> bool:
    """Compare secrets in a time that does not tell how far they agree."""
    return given is not None and hmac.compare_digest(given.encode(), wanted.encode())
