"""Puts the application together: routes, errors, the queue's life, and the guard around it all."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import Response
from starlette.staticfiles import StaticFiles

from indiff.errors import UserError
from indiff.version import __version__
from indiff.web.access.guard import Guard
from indiff.web.access.sessions import Sessions
from indiff.web.access.uploads import LARGEST_HIERARCHY
from indiff.web.api import archive, datasets, made_up, results, runs
from indiff.web.api.common import ERRORS, Server
from indiff.web.api.models import SessionInfo
from indiff.web.jobs.queue import Queue
from indiff.web.pages import data, entry, history, next_steps, release
from indiff.web.pages import runs as run_pages
from indiff.web.refusals import ID, refusal
from indiff.web.store.settings import Settings
from indiff.web.store.store import Store

V1 = "/api/v1"
# Where a file may be sent to: a table or a release, or else a hierarchy.
UPLOADS = re.compile(
    rf"(/data/upload|/data/{ID}/release/upload|{V1}/datasets(/{ID}/releases)?)"
    rf"|/data/{ID}/hierarchy|{V1}/datasets/{ID}/hierarchies/.+",
    re.DOTALL,
)


def make_app(settings: Settings) -> FastAPI:
    """Return the application of one server; its queue lives as long as it is served."""
    store = Store.open(settings)
    server = Server(settings, store, Queue(store), Sessions(settings.password))

    def largest(path: str) -> int | None:
        found = UPLOADS.fullmatch(path)
        return found and (settings.max_upload if found[1] else LARGEST_HIERARCHY)

    @asynccontextmanager
    async def life(app: FastAPI) -> AsyncIterator[None]:
        with store.database.held_open():
            server.queue.start()
            try:
                yield
            finally:
                server.queue.stop()

    app = FastAPI(
        title="indiff",
        version=__version__,
        description="The audit over HTTP: what the pages of 'indiff serve' can do, for scripts.",
        openapi_url=f"{V1}/openapi.json",
        docs_url=None,  # these pages would come from elsewhere
        redoc_url=None,
        lifespan=life,
    )
    app.state.server = server
    for part in (made_up, datasets, runs, results, archive):
        app.include_router(part.router, prefix=V1)
    for page in (entry, data, release, run_pages, history, next_steps):
        app.include_router(page.router)
    app.get(f"{V1}/session", tags=["session"], responses=ERRORS)(session)
    static = Path(__file__).parent.parent / "static"
    app.mount("/static", StaticFiles(directory=static), name="static")
    for kind in (UserError, RequestValidationError, HTTPException):
        app.add_exception_handler(kind, _explain)
    app.add_middleware(
        Guard,
        sessions=server.sessions,
        host=settings.host,
        address=settings.address,
        uploads=largest,
    )
    return app


def session(request: Request) -> SessionInfo:
    """Return the token that every request that changes something must carry."""
    return SessionInfo(csrf=request.state.session.csrf, version=__version__)


async def _explain(request: Request, error: Exception) -> Response:
    return refusal(request.scope, error)
