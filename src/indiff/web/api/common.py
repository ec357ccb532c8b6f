"""Gives every part of the interface the server behind a request, and the errors it may answer."""

from __future__ import annotations

from collections import OrderedDict
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


@dataclass
class Edits:
    """The number of the newest state that came of each form, in this server's memory.

    A browser sends each change by a connection of its own choice, so that an earlier state can
    come later. It is called from the server's one event loop: asking and writing what was asked
    for is one step.
    """

    _newest: OrderedDict[str, int] = field(default_factory=OrderedDict)

    def is_newest(self, form: str, edit: int) -> bool:
        """Note a state of a form; tell whether no newer one of it has come before.

        >>> edits = Edits()
        >>> [edits.is_newest("a", edit) for edit in (0, 2, 1, 2)], edits.is_newest("b", 1)
        ([True, True, False, True], True)
        """
        if edit < self._newest.get(form, edit):
            return False
        self._newest[form] = edit
        self._newest.move_to_end(form)
        while len(self._newest) > MOST_FORMS:
            self._newest.popitem(last=False)
        return True


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
        413: "What was sent is too large.",
        422: "Bad input: the sentence says what to change.",
    }.items()
}
