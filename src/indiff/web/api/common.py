"""What every part of the interface needs: the server behind a request, and typed errors."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, Any

from fastapi import Depends, Path, Request

from indiff.web.access.sessions import Sessions
from indiff.web.api.models import Problem
from indiff.web.jobs.queue import Queue
from indiff.web.store.edits import Edits
from indiff.web.store.settings import Settings
from indiff.web.store.store import Store


@dataclass(frozen=True)
class Server:
    """The parts of a running server."""

    settings: Settings
    store: Store
    queue: Queue
    sessions: Sessions
    edits: Edits = field(default_factory=Edits)


def server_of(request: Request) -> Server:
    """Return the server that a request came to."""
    server: Server = request.app.state.server
    return server


TheServer = Annotated[Server, Depends(server_of)]
ID = r"^[0-9a-f]{16}$"
DatasetId = Annotated[str, Path(pattern=ID, description="The dataset's id.")]
RunId = Annotated[str, Path(pattern=ID, description="The run's id.")]
BatchId = Annotated[str, Path(pattern=ID, description="The id shared by runs started together.")]
ReleaseId = Annotated[str, Path(pattern=ID, description="The uploaded release's id.")]
ColumnName = Annotated[str, Path(min_length=1, max_length=20_000, description="A column's name.")]

ERRORS: dict[int | str, dict[str, Any]] = {
    status: {"model": Problem, "description": text}
    for status, text in {
        400: "The Host header names another server, or the request cannot be read.",
        401: "There is no session.",
        403: "The CSRF token is missing or the request comes from another page.",
        404: "There is no such thing, or no longer.",
        413: "What was sent is too large.",
        422: "Bad input: the sentence says what to change.",
    }.items()
}
