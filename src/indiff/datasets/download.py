"""Finds a public data file in a local folder, in the cache or, when asked, on the network."""

from __future__ import annotations

import errno
import hashlib
import http.client
import os
import urllib.error
import urllib.request
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from indiff.errors import UserError, option
from indiff.files import open_private

_TIMEOUT = 60  # seconds without a single byte
_CHUNK = 1 << 16


@dataclass(frozen=True)
class RemoteFile:
    """A public file that never changes: its name, its address and the SHA-256 of its bytes."""

    name: str
    url: str
    sha256: str
    size: int


def locate(
    file: RemoteFile,
    *,
    folder: str | Path | None = None,
    download: bool = False,
    base_url: str | None = None,
) -> Path:
    """Return the path of a verified copy of ``file``.

    Looked for in ``folder`` (else in the folder that ``INDIFF_DATA`` names), then in the user's
    cache. Only with ``download=True`` is it fetched, from ``file.url`` or from below ``base_url``,
    into the cache. Whatever its origin, a copy with another SHA-256 is refused: results on other
    bytes could not be compared with anyone's.
    """
    chosen = folder if folder is not None else os.environ.get("INDIFF_DATA")
    if chosen:
        local = Path(chosen) / file.name
        if local.is_file():
            _verify_local(file, local)
            return local
    cached = cache_folder() / file.name
    if cached.is_file() and _sha256(cached) == file.sha256:
        return cached
    if not download:
        place = f"is not in {str(chosen)!r}" if chosen else "has no local copy"
        if cached.is_file():
            place = f"is damaged in the cache ({str(cached)!r})"
        raise UserError(
            f"the data file {file.name} {place}; set INDIFF_DATA to the folder that holds it, or "
            f"pass {option('download', True)} to fetch it.",
            field="download",
        )
    url = file.url if base_url is None else f"{base_url.rstrip('/')}/{file.name}"
    _fetch(file, url, cached)
    return cached


def cache_folder() -> Path:
    """Return the folder in the user's cache directory where downloaded files are kept."""
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "indiff" / "datasets"


def _verify_local(file: RemoteFile, path: Path) -> None:
    try:
        found = _sha256(path)
    except OSError as error:
        raise UserError(
            f"the data file {str(path)!r} cannot be read ({error.strerror}); check its permissions."
        ) from None
    if found != file.sha256:
        raise UserError(
            f"{str(path)!r} is not the published {file.name}: its SHA-256 starts with "
            f"{found[:16]}, expected {file.sha256[:16]}; replace the file."
        )


def _sha256(path: Path) -> str:
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _fetch(file: RemoteFile, url: str, target: Path) -> None:
    """Download to a temporary file beside ``target`` and rename it once its bytes are verified."""
    try:
        target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not os.access(target.parent, os.W_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
    except OSError as error:
        raise UserError(
            f"the cache folder {str(target.parent)!r} cannot be written ({error.strerror}); "
            "set XDG_CACHE_HOME to a folder that can."
        ) from None
    with open_private(target) as stream:
        received = _receive(file, url, stream.write)
        if received != file.sha256:
            raise UserError(
                f"the download of {url} has a SHA-256 that starts with {received[:16]}, expected "
                f"{file.sha256[:16]}; it was removed: try again, or point INDIFF_DATA to a good "
                "copy."
            )


def _receive(file: RemoteFile, url: str, write: Callable[[bytes], object]) -> str:
    """Pass the body at ``url`` to ``write`` and return its SHA-256."""
    if not url.startswith(("https://", "http://")):
        raise UserError("a download address must start with https://", repr(url), field="base_url")
    digest, received, failed = hashlib.sha256(), 0, ""
    try:
        with urllib.request.urlopen(url, timeout=_TIMEOUT) as response:
            # One chunk beyond the expected size is enough to know that the bytes are others.
            while received <= file.size and (chunk := response.read(_CHUNK)):
                digest.update(chunk)
                write(chunk)
                received += len(chunk)
        if received < file.size:
            failed = f"the download of {url} ended after {received:,} of {file.size:,} bytes"
    except urllib.error.HTTPError as error:
        error.close()
        failed = f"{url} cannot be downloaded (HTTP status {error.code})"
    except urllib.error.URLError as error:
        failed = f"{url} cannot be downloaded ({error.reason})"
    except (OSError, http.client.HTTPException) as error:
        failed = f"{url} cannot be downloaded ({error!r})"
    if failed:
        raise UserError(f"{failed}; check the connection, or point INDIFF_DATA to a local copy.")
    return digest.hexdigest()
