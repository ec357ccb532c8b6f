"""Lets a browser in and out, and gives it the report's own styles and charts as files."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Request
from starlette.responses import Response

from indiff.report.page.html import chart_bundle, resource
from indiff.web.access.guard import NEW_LINK, cookie_name
from indiff.web.api.common import Server, TheServer
from indiff.web.api.made_up import add_demo
from indiff.web.pages.common import fields, go, keep_session, page, text
from indiff.web.refusals import Refused

router = APIRouter(include_in_schema=False)
SCRIPT = "text/javascript; charset=utf-8"


@router.get("/")
def start() -> Response:
    """Begin with the data."""
    return go("/data")


@router.get("/open")
def open_link(
    request: Request, server: TheServer, token: Annotated[str, Query(max_length=200)] = ""
) -> Response:
    """Use the one-time link up, and give the browser its session."""
    if server.sessions.password is not None:
        return go("/login")
    name = server.sessions.open_with_link(token)
    if name is None:
        raise Refused(
            403,
            f"this link was used before or is not this server's; each works once. {NEW_LINK}.",
        )
    return _with_session(request, name)


@router.get("/login")
def login(request: Request, server: TheServer) -> Response:
    """Ask for the password."""
    _needs_password(server)
    return page(request, "login.html", problem=None)


@router.post("/login")
async def check_password(request: Request, server: TheServer) -> Response:
    """Check the password, a few times a minute at most."""
    _needs_password(server)
    if server.sessions.too_many_failures():
        raise Refused(429, "too many wrong passwords; wait a minute and try again.")
    name = server.sessions.open_with_password(text(await fields(request), "password"))
    if name is None:
        return page(request, "login.html", status=403, problem="This is not the password.")
    return _with_session(request, name)


def _needs_password(server: Server) -> None:
    if server.sessions.password is None:
        raise Refused(404, "this server has no password; open the link that it printed.")


def _with_session(request: Request, name: str) -> Response:
    answer = go("/data")
    keep_session(request, answer, name)
    return answer


@router.post("/logout")
def logout(request: Request, server: TheServer) -> Response:
    """End the session, and say so."""
    server.sessions.close(request.state.session_name)
    answer = go("/ended")
    answer.delete_cookie(cookie_name(request.scope), path="/")
    return answer


@router.get("/ended")
def ended(request: Request, server: TheServer) -> Response:
    """Say that the session has ended, and how to come back."""
    if request.state.session is not None:  # by a later link, say
        return go("/data")
    return page(request, "ended.html", has_password=server.sessions.password is not None)


@router.post("/demo")
def demo(server: TheServer) -> Response:
    """Open the made-up patients, with their roles and the limits that they exceed."""
    return go(f"/data/{add_demo(server).id}")


@router.get("/static/report.css")
def styles() -> Response:
    """Return the report's styles, which the pages share."""
    return Response(resource("report.css"), media_type="text/css; charset=utf-8")


@router.get("/static/charts.js")
def charts() -> Response:
    """Return the script that draws every chart of a page."""
    return Response(resource("charts.js"), media_type=SCRIPT)


@router.get("/static/vega.js")
def vega() -> Response:
    """Return the chart bundle; its address carries the version, so that it can be kept."""
    kept = {"cache-control": "private, max-age=86400"}
    return Response(chart_bundle(), media_type=SCRIPT, headers=kept)
