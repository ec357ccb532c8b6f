"""Holds what a server is started with, and the folder where it keeps things."""

from __future__ import annotations

import ipaddress
import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from indiff.errors import UserError

UNITS = {"": 1, "b": 1, "kb": 10**3, "mb": 10**6, "gb": 10**9, "tb": 10**12}
GIGABYTE = 10**9


@dataclass(frozen=True)
class Settings:
    """How one server runs. ``folder`` is the only place whose files it reads by name."""

    data_dir: Path
    folder: Path | None = None
    host: str = "127.0.0.1"
    port: int = 0
    password: str | None = field(default=None, repr=False)
    address: str | None = None
    commands: Mapping[str, str] = field(default_factory=dict)
    max_upload: int = GIGABYTE
    workers: int = field(default_factory=lambda: max(1, os.cpu_count() or 1))
    worker_memory: int | None = None

    def __post_init__(self) -> None:
        if not is_loopback(self.host) and not self.password:
            raise UserError(
                "a server that other machines can reach needs a password",
                f"--host {self.host} without one",
                "Set INDIFF_PASSWORD, or leave out --host",
            )
        if self.password is not None and len(self.password) < 12:
            rule = "a password needs at least 12 characters"
            raise UserError(rule, len(self.password), "Choose a longer one")
        if self.password is not None and self.password != self.password.strip():
            raise UserError("a password begins and ends with a character that can be seen.")
        if self.address is not None and not re.fullmatch(
            r"https://[a-z0-9.-]+(:[0-9]{1,5})?", self.address
        ):
            raise UserError(
                "--address is where a proxy with TLS shows this server, in small letters, "
                "as in https://audit.example.org",
                f"{self.address!r}",
            )
        if not 0 <= self.port <= 65535:
            raise UserError("--port must be from 0 (any free one) to 65535", self.port)
        if self.folder is not None and not self.folder.is_dir():
            raise UserError(
                "--folder must be a folder that exists", f"{str(self.folder)!r}", "Check the path"
            )

    @property
    def database(self) -> Path:
        """The one SQLite file."""
        return self.data_dir / "indiff.sqlite"

    def dataset_folder(self, dataset: str) -> Path:
        """Where one dataset's own files are."""
        return self.data_dir / "datasets" / dataset

    def run_folder(self, run: str) -> Path:
        """Where one run's files are."""
        return self.data_dir / "runs" / run

    def make_folders(self) -> None:
        """Make the folders, for their owner alone."""
        for folder in (self.data_dir, self.data_dir / "datasets", self.data_dir / "runs"):
            try:
                folder.mkdir(mode=0o700, parents=True, exist_ok=True)
                folder.chmod(0o700)
            except OSError as error:
                raise UserError(
                    f"the data folder must be a place that can be written; {str(folder)!r} is "
                    f"not ({error.strerror})",
                    way_out="Choose another with --data-dir",
                ) from None


def is_loopback(host: str) -> bool:
    """Tell whether only this machine can reach a host.

    >>> is_loopback("127.0.0.1"), is_loopback("localhost"), is_loopback("0.0.0.0")
    (True, True, False)
    """
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def default_data_dir() -> Path:
    """Return the folder for indiff in the user's data folder (XDG)."""
    base = os.environ.get("XDG_DATA_HOME") or os.path.expanduser("~/.local/share")
    if base.startswith("~"):
        raise UserError(
            "indiff keeps its data in a folder of the user's, who has none here",
            way_out="Name one with --data-dir",
            field="data_dir",
        )
    return Path(base) / "indiff"


def as_bytes(text: str, option: str) -> int:
    """Read a size.

    >>> as_bytes("1GB", "--max-upload"), as_bytes("1.5 kB", "--max-upload")
    (1000000000, 1500)
    """
    match = re.fullmatch(r"\s*([0-9]+(?:\.[0-9]+)?)\s*([a-zA-Z]*)\s*", text)
    if match is None or match.group(2).lower() not in UNITS:
        raise UserError(f"{option} is a size such as 500MB or 1GB", f"{text!r}")
    size = int(float(match.group(1)) * UNITS[match.group(2).lower()])
    if size < 1:
        raise UserError(f"{option} must be at least 1 byte", f"{text!r}")
    return size


def as_commands(texts: Iterable[str]) -> dict[str, str]:
    """Read ``NAME=command …`` texts.

    >>> as_commands(["ours=./anonymize.sh {input} {output}"])
    {'ours': './anonymize.sh {input} {output}'}
    """
    commands: dict[str, str] = {}
    for text in texts:
        name, sign, command = text.partition("=")
        name, command = name.strip(), command.strip()
        if not sign or not command or not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}", name):
            raise UserError(
                "--command is written NAME=command with a name of letters and digits, as "
                "in 'ours=./anonymize.sh {input} {output}'",
                f"{text!r}",
            )
        if name in commands:
            raise UserError("--command may name a command once", f"{name!r} twice")
        commands[name] = command
    return commands
