"""``indiff serve``: shows the audit in a browser, on the user's own machine."""

from __future__ import annotations

import importlib.util
import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import typer

from indiff.audit.plan.option import Option
from indiff.audit.plan.recipe import Declared
from indiff.errors import UserError
from indiff.systems import require_posix

PARTS = ("fastapi", "uvicorn", "python_multipart")


def _option(name: str, kind: Any, default: Any, text: str, metavar: str | None = None) -> Declared:
    no = f"no-{name}" if default is True else None
    return Declared(name, "", name, kind, default, (), Option(text, metavar, no=no))


OPTIONS = [
    _option("folder", Path, None, "Tables below it can be chosen by name.", "DIR"),
    _option("host", str, "127.0.0.1", "Another address than this machine needs a password."),
    _option("port", int, 0, "0: any free one."),
    _option("password", bool, False, "Ask for a password now; or set INDIFF_PASSWORD."),
    _option(
        "command", list[str], None,
        "A sanitizer that pages may name: 'ours=./anonymize.sh {input} {output}'.", "NAME=COMMAND",
    ),
    _option(
        "address", str, None,
        "Where a proxy with TLS shows the server: 'https://audit.example.org'.", "URL",
    ),
    _option("browser", bool, True, "Open the link."),
    _option("max-upload", str, "1GB", "The largest file.", "SIZE"),
    _option("worker-memory", str, None, "What one run may use at most.", "SIZE"),
    _option("workers", int, None, "Runs at a time; by default one for each core."),
    _option(
        "data-dir", Path, None,
        "Where uploads and results are kept; by default the user's data folder.", "DIR",
    ),
]  # fmt: skip


def command(asked: Mapping[str, Any]) -> None:
    """Serve the audit to a browser on this machine; nothing leaves it."""
    require_posix("indiff serve")
    missing = [part for part in PARTS if importlib.util.find_spec(part) is None]
    if missing:
        raise UserError(
            f"indiff serve needs {', '.join(missing)}; install with: pip install 'indiff[web]'."
        )
    from indiff.web.server.serving import serve
    from indiff.web.store.settings import Settings, as_bytes, as_commands, default_data_dir

    folder, workers, memory = asked["folder"], asked["workers"], asked["worker-memory"]
    if workers is not None and workers < 1:
        raise UserError("--workers must be at least 1", workers)
    more = {} if workers is None else {"workers": workers}
    serve(
        Settings(
            data_dir=_place(asked["data-dir"] or default_data_dir()),
            folder=None if folder is None else _place(folder),
            host=asked["host"].strip("[]"),
            port=asked["port"],
            password=_password(asked["password"]),
            address=asked["address"] and asked["address"].rstrip("/"),
            commands=as_commands(asked["command"] or ()),
            max_upload=as_bytes(asked["max-upload"], "--max-upload"),
            worker_memory=None if memory is None else as_bytes(memory, "--worker-memory"),
            **more,
        ),
        browser=asked["browser"],
        say=typer.echo,
    )


def _place(folder: Path) -> Path:
    return Path(os.path.abspath(os.path.expanduser(folder)))  # ~nobody stays as it is


def _password(ask: bool) -> str | None:
    """Return the password from the environment or the keyboard, never from the command's words."""
    given = os.environ.get("INDIFF_PASSWORD")
    if given or not ask:
        return given or None
    if not sys.stdin.isatty():
        raise UserError(
            "--password asks at a terminal; there is none", way_out="Set INDIFF_PASSWORD"
        )
    asked: str = typer.prompt("Password", hide_input=True, confirmation_prompt=True)
    return asked
