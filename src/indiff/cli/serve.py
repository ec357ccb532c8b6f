"""``indiff serve``: shows the audit in a browser, on the user's own machine."""

from __future__ import annotations

import importlib.util
import os
import sys
from pathlib import Path
from typing import Annotated

import typer

from indiff.errors import UserError

PARTS = ("fastapi", "uvicorn", "python_multipart")


def command(
    folder: Annotated[
        Path | None,
        typer.Option("--folder", metavar="DIR", help="Tables below it can be chosen by name."),
    ] = None,
    host: Annotated[
        str, typer.Option("--host", help="Another address than this machine needs a password.")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option("--port", help="0: any free one.")] = 0,
    password: Annotated[
        bool,
        typer.Option("--password", help="Ask for a password now; or set INDIFF_PASSWORD."),
    ] = False,
    named_command: Annotated[
        list[str] | None,
        typer.Option(
            "--command",
            metavar="NAME=COMMAND",
            help="A sanitizer that pages may name: 'ours=./anonymize.sh {input} {output}'.",
        ),
    ] = None,
    address: Annotated[
        str | None,
        typer.Option(
            "--address",
            metavar="URL",
            help="Where a proxy with TLS shows the server: 'https://audit.example.org'.",
        ),
    ] = None,
    browser: Annotated[bool, typer.Option("--browser/--no-browser", help="Open the link.")] = True,
    max_upload: Annotated[
        str, typer.Option("--max-upload", metavar="SIZE", help="The largest file.")
    ] = "1GB",
    worker_memory: Annotated[
        str | None,
        typer.Option("--worker-memory", metavar="SIZE", help="What one run may use at most."),
    ] = None,
    workers: Annotated[
        int | None,
        typer.Option("--workers", help="Runs at a time; by default one for each core."),
    ] = None,
    data_dir: Annotated[
        Path | None,
        typer.Option(
            "--data-dir",
            metavar="DIR",
            help="Where uploads and results are kept; by default the user's data folder.",
            show_default=False,
        ),
    ] = None,
) -> None:
    """Serve the audit to a browser on this machine; nothing leaves it."""
    missing = [part for part in PARTS if importlib.util.find_spec(part) is None]
    if missing:
        raise UserError(
            f"indiff serve needs {', '.join(missing)}; install with: pip install 'indiff[web]'."
        )
    from indiff.web.server.serving import serve
    from indiff.web.store.settings import Settings, as_bytes, as_commands, default_data_dir

    if workers is not None and workers < 1:
        raise UserError("--workers must be at least 1", workers)
    more = {} if workers is None else {"workers": workers}
    serve(
        Settings(
            data_dir=(data_dir or default_data_dir()).expanduser().absolute(),
            folder=None if folder is None else folder.expanduser().absolute(),
            host=host.strip("[]"),
            port=port,
            password=_password(password),
            address=None if address is None else address.rstrip("/"),
            commands=as_commands(named_command or ()),
            max_upload=as_bytes(max_upload, "--max-upload"),
            worker_memory=None
            if worker_memory is None
            else as_bytes(worker_memory, "--worker-memory"),
            **more,
        ),
        browser=browser,
        say=typer.echo,
    )


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
