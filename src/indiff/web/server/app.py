"""The application: routes, error sentences, the queue's life, and the guard around it all."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from fastapi import APIRouter, FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import Response
from starlette.staticfiles import StaticFiles

from indiff.errors import UserError
from indiff.version import __version__
from indiff.web.access.answers import refusal
from indiff.web.access.guard import Guard, Refused
from indiff.web.access.sessions import Sessions
from indiff.web.api import datasets, results, runs
from indiff.web.api.common import ERRORS, Server
from indiff.web.api.models import SessionInfo
from indiff.web.jobs.queue import Queue
from indiff.web.pages import assets, data, entry, release
from indiff.web.pages import runs as run_pages
from indiff.web.store.settings import Settings
from indiff.web.store.store import NotFoundError, Store

V1 = "/api/v1"
_ID = "[0-9a-f]{16}"
UPLOADS = re.compile(
    rf"/data/upload|/data/{_ID}/(hierarchy|release/upload)|{V1}/datasets"
    rf"|{V1}/datasets/{_ID}/(releases|hierarchies/.+)",
    re.DOTALL,
)


def make_app(settings: Settings) -> FastAPI:
    """Return the application of one server; its queue lives as long as it is served."""
    store = Store.open(settings)
    server = Server(settings, store, Queue(store), Sessions(settings.password))

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
    api = APIRouter(prefix=V1)
    api.include_router(_session_router())
    for router in (datasets.router, runs.router, results.router):
        api.include_router(router)
    app.include_router(api)
    for router in (assets.router, entry.router, data.router, release.router, run_pages.router):
        app.include_router(router)
    static = Path(__file__).parent.parent / "static"
    app.mount("/static", StaticFiles(directory=static), name="static")
    _explain_errors(app)
    app.add_middleware(
        Guard,
        sessions=server.sessions,
        host=settings.host,
        address=settings.address,
        uploads=lambda path: UPLOADS.fullmatch(path) is not None,
    )
    return app


def _session_router() -> APIRouter:
    router = APIRouter(tags=["session"], responses=ERRORS)

    @router.get("/session")
    def session(request: Request) -> SessionInfo:
        """Return the token that every request that changes something must carry."""
        return SessionInfo(csrf=request.state.session.csrf, version=__version__)

    return router


def _explain_errors(app: FastAPI) -> None:
    async def bad_input(request: Request, error: Exception) -> Response:
        return refusal(request.scope, 422, str(error))

    async def not_found(request: Request, error: Exception) -> Response:
        return refusal(request.scope, 404, str(error))

    async def refused(request: Request, error: Exception) -> Response:
        assert isinstance(error, Refused)
        return refusal(request.scope, error.status, error.reason)

    async def not_valid(request: Request, error: Exception) -> Response:
        assert isinstance(error, RequestValidationError)
        return refusal(request.scope, 422, in_one_sentence(error))

    async def http(request: Request, error: Exception) -> Response:
        assert isinstance(error, HTTPException)
        return refusal(request.scope, error.status_code, f"{error.detail}.")

    app.add_exception_handler(UserError, bad_input)
    app.add_exception_handler(NotFoundError, not_found)
    app.add_exception_handler(Refused, refused)
    app.add_exception_handler(RequestValidationError, not_valid)
    app.add_exception_handler(HTTPException, http)


def in_one_sentence(error: RequestValidationError) -> str:
    """Say what is wrong first, without the value that was sent."""
    first: Any = error.errors()[0]
    place = ".".join(str(part) for part in first["loc"])
    return f"{place}: {first['msg']}."
