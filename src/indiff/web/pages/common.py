"""Gives every page its templates, forms and redirections."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping
from datetime import datetime
from functools import cache, partial
from pathlib import Path
from typing import Any, TypeVar

from fastapi import Request
from jinja2 import ChoiceLoader, Environment, PackageLoader
from markupsafe import Markup
from pydantic import BaseModel, ValidationError
from python_multipart.exceptions import FormParserError
from starlette.datastructures import FormData, UploadFile
from starlette.exceptions import HTTPException
from starlette.responses import HTMLResponse, RedirectResponse, Response

from indiff.audit.plan.recipe import date_format
from indiff.errors import UserError
from indiff.report.page.html import environment
from indiff.version import __version__
from indiff.web.access.guard import CSRF_FIELD, cookie_name, too_large_file
from indiff.web.access.sessions import IDLE_HOURS, IDLE_SECONDS, Session, same
from indiff.web.access.uploads import CHUNK, receive
from indiff.web.api.choices import method, plainly
from indiff.web.api.models import AdversaryChoice, Context, Reading, ReleaseChoice, RunRequest
from indiff.web.refusals import FIELDS, OF_RELEASE, VALUES, Refused, answers, as_error, on_page
from indiff.web.written import coded_dates, written

Made = TypeVar("Made", bound=BaseModel)


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
        "moment": moment,
        "worded": on_page,
        "answers": answers,
        "plainly": plainly,
        "method": method,
        "worded_release": partial(on_page, fields=OF_RELEASE),
        "label": lambda name: FIELDS[name].label,
        "asked": asked,
        "written": written,
    }
    made.globals = {**report.globals, "option_values": VALUES}
    return made


def page(request: Request, template: str, *, status: int = 200, **values: Any) -> HTMLResponse:
    """Render a template; every one knows the session's token and the version."""
    session: Session | None = request.state.session
    known = {
        "csrf": session.csrf if session else "",
        "version": __version__,
        "idle_hours": IDLE_HOURS,
    }
    text = _environment().get_template(template).render(known, path=request.url.path, **values)
    answer = HTMLResponse(text, status)
    if session is not None:
        keep_session(request, answer, request.state.session_name)
    return answer


def keep_session(request: Request, answer: Response, name: str) -> None:
    """Let the browser keep a session's cookie as long as the server keeps the session."""
    answer.set_cookie(
        cookie_name(request.scope),
        name,
        max_age=int(IDLE_SECONDS),
        httponly=True,
        samesite="strict",
        path="/",
        secure=request.url.scheme == "https",
    )


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


@cache
def asked(name: str) -> str:
    """Tell how a form asks for an option, by its declared type: the mode of its input.

    >>> [asked(name) for name in ("joint", "worst", "confidence", "missing_tokens", "sheet")]
    ['tick', 'numeric', 'decimal', 'list', 'text']
    """
    modes = {"boolean": "tick", "integer": "numeric", "number": "decimal", "array": "list"}
    for model in (Reading, ReleaseChoice, AdversaryChoice, Context, RunRequest):
        if name in model.model_fields:
            declared = model.model_json_schema()["properties"][name]
            return modes.get(declared.get("anyOf", [declared])[0]["type"], "text")
    raise KeyError(name)


def chosen(form: FormData, model: type[BaseModel], suffix: str = "") -> dict[str, Any]:
    """Read the options of a model from a form; what was left empty keeps its default."""
    found: dict[str, Any] = {}
    for name in filter(FIELDS.__contains__, model.model_fields):
        mode, given = asked(name), text(form, name + suffix)
        if name in VALUES:  # one of a list, of which a tab is one
            given = str(form.get(name + suffix, ""))
        if mode == "tick":
            found[name] = bool(given)
        elif given and name == "date_format":
            found[name] = date_format(coded_dates(given).split(";"))
        elif given and mode == "list":
            found[name] = [part.strip().strip('"') for part in given.split(",")]
        elif given:
            found[name] = given.replace(",", ".") if mode in ("numeric", "decimal") else given
    return found


def checked(model: type[Made], values: Mapping[str, Any]) -> Made:
    """Read a form's values as the HTTP interface reads a request."""
    try:
        return model(**values)
    except ValidationError as error:
        raise as_error(error) from None


async def sent_file(
    request: Request, limit: int, place: Callable[[FormData, str], Path]
) -> tuple[FormData, Path]:
    """Keep the one file of a form; its CSRF field is checked here, as the guard cannot."""
    try:
        form = await request.form(max_files=1, max_fields=200)
    except (HTTPException, FormParserError):
        raise UserError("a form with one file is needed; this one cannot be read.") from None
    try:
        known = getattr(request.state, "csrf_checked", False)
        if not known and not same(text(form, CSRF_FIELD), request.state.session.csrf):
            raise Refused(403, "the form must carry the session's CSRF token.")
        file = form.get("file")
        if not isinstance(file, UploadFile) or not file.filename:
            raise UserError("a file is needed; none was chosen", way_out="Go back and choose one")
        if (file.size or 0) > limit:
            raise too_large_file(limit)
        return form, await receive(_chunks(file), place(form, file.filename))
    finally:
        await form.close()


async def _chunks(file: UploadFile) -> AsyncIterator[bytes]:
    while data := await file.read(CHUNK):
        yield data


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
    """Write a time of the store as this machine's clock shows it.

    >>> when(None)
    '–'
    """
    return "–" if not stamp else f"{datetime.fromisoformat(stamp).astimezone():%Y-%m-%d %H:%M %Z}"


def moment(stamp: str | None) -> Markup:
    """Write a time for a page, which a script puts into the reader's own zone and words."""
    if not stamp:
        return Markup("–")
    return Markup('<time datetime="{}">{}</time>').format(stamp, when(stamp))
