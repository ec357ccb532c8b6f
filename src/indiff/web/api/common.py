"""Gives every part of the interface the server behind a request, and the errors it may answer."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, Any

from fastapi import Depends, Path, Request

from indiff.web import refusals
from indiff.web.access.sessions import Sessions
from indiff.web.api.models import Problem
from indiff.web.jobs.queue import Queue
from indiff.web.store.settings import Settings
from indiff.web.store.store import Store

MOST_FORMS = 1_000  # that are remembered; a request cannot be under way for as long as so many


@dataclass(frozen=True)
class Server:
    """The parts of a running server."""

    settings: Settings
    store: Store
    queue: Queue
    sessions: Sessions
    _edits: dict[str, int] = field(default_factory=dict)
    _written: dict[str, str] = field(default_factory=dict)

    def is_newest(self, form: str, edit: int) -> bool:
        """Note a state of a form; tell whether no newer one of it has come before.

        A browser sends each change by a connection of its own choice, so that an earlier state
        can come later. Called from the one event loop: asking and writing are one step.
        """
        newest = edit >= self._edits.get(form, edit)
        if newest:
            _remember(self._edits, form, edit)
        return newest

    def is_shown(self, form: str, opened: str, version: str) -> bool:
        """Tell whether a form shows a version: the one it was opened with, or wrote itself."""
        return not opened or version in (opened, self._written.get(form))

    def wrote(self, form: str, version: str) -> None:
        """Note the version that a form has made."""
        _remember(self._written, form, version)


def _remember(known: dict[str, Any], form: str, value: Any) -> None:
    known.pop(form, None)
    known[form] = value
    if len(known) > MOST_FORMS:
        del known[next(iter(known))]


def server_of(request: Request) -> Server:
    """Return the server that a request came to."""
    return request.app.state.server


TheServer = Annotated[Server, Depends(server_of)]
ID = f"^{refusals.ID}$"
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
        409: "It was changed since it was looked at.",
        413: "What was sent is too large.",
        422: "Bad input: the sentence says what to change.",
    }.items()
}
