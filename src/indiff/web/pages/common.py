"""What every page needs: templates, forms, redirections."""

from __future__ import annotations

from functools import cache
from typing import Any

from fastapi import Request
from jinja2 import ChoiceLoader, Environment, PackageLoader
from starlette.datastructures import FormData
from starlette.responses import HTMLResponse, RedirectResponse, Response

from indiff.report.page.html import environment
from indiff.version import __version__
from indiff.web.access.guard import Refused
from indiff.web.access.sessions import Session, same


@cache
def _environment() -> Environment:
    """The report's environment, so that both show names, numbers and findings alike."""
    report = environment()
    own = PackageLoader("indiff.web")
    made = report.overlay(loader=ChoiceLoader([own, PackageLoader("indiff.report", "templates")]))
    made.filters = {
        **report.filters,
        "count": lambda value: f"{value:,}",
        "size": size,
        "when": when,
    }
    return made


def page(request: Request, template: str, *, status: int = 200, **values: Any) -> HTMLResponse:
    """Render a template; every one knows the session's token and the version."""
    session: Session | None = request.state.session
    text = (
        _environment()
        .get_template(template)
        .render(
            csrf=session.csrf if session is not None else "",
            version=__version__,
            path=request.url.path,
            **values,
        )
    )
    return HTMLResponse(text, status)


def go(address: str) -> Response:
    """Send the browser on after a form."""
    return RedirectResponse(address, 303)


async def fields(request: Request) -> FormData:
    """Return the fields of a small form."""
    return await request.form(max_files=0, max_fields=50_000)


def text(form: FormData, name: str, default: str = "") -> str:
    """Return one text field of a form without the blanks around it."""
    value = form.get(name, default)
    return value.strip() if isinstance(value, str) else default


def texts(form: FormData, name: str) -> list[str]:
    """Return every text that a form sent under one name."""
    return [value for value in form.getlist(name) if isinstance(value, str)]


def check_csrf(request: Request, given: str) -> None:
    """Check the field of a form with a file, which the guard lets through unread."""
    if getattr(request.state, "csrf_checked", False):
        return
    session: Session = request.state.session
    if not same(given, session.csrf):
        raise Refused(403, "the form must carry the session's CSRF token before its file.")


def size(value: int) -> str:
    """Write a number of bytes.

    >>> size(900), size(3_974_305)
    ('900 B', '4.0 MB')
    """
    for unit, step in (("GB", 10**9), ("MB", 10**6), ("kB", 10**3)):
        if value >= step:
            return f"{value / step:.1f} {unit}"
    return f"{value} B"


def when(stamp: str | None) -> str:
    """Write a time of the store as people do.

    >>> when("2026-03-01T09:05:12+00:00"), when(None)
    ('2026-03-01 09:05 UTC', '–')
    """
    return "–" if not stamp else f"{stamp[:10]} {stamp[11:16]} UTC"
