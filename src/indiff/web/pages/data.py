"""Shows step 1, Data: a file, what it looks like, its columns, of many some at a time."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, get_args
from urllib.parse import urlencode

from fastapi import APIRouter, Request
from starlette.datastructures import FormData
from starlette.responses import Response

from indiff.data.hierarchy_builders import PARTS
from indiff.data.reading.input_files import Reading, format_of
from indiff.data.table import blanks_refused
from indiff.errors import UserError
from indiff.web.access.uploads import LARGEST_HIERARCHY
from indiff.web.api import datasets as api
from indiff.web.api import models
from indiff.web.api.common import DatasetId, Server, TheServer
from indiff.web.api.planning import STALE, version_of
from indiff.web.pages.common import checked, chosen, fields, go, page, sent_file, text, texts
from indiff.web.refusals import VALUES, Refused
from indiff.web.store.rows import Row
from indiff.web.store.store import UNFINISHED, new_id

router = APIRouter(prefix="/data", include_in_schema=False)
MOST_NOTICES = 20
# How a file may be read in another way, and what a person might write there.
HINTS = {
    "encoding": "", "separator": "", "decimal": "",
    "date_format": "DD.MM.YYYY", "missing_tokens": "?, NA",
}  # fmt: skip
TEXT_ALONE = ("encoding", "separator")
DATE_FORMATS = {
    "DD.MM.YYYY": "31.12.1976", "DD/MM/YYYY": "31/12/1976", "MM/DD/YYYY": "12/31/1976",
    "DD-MM-YYYY": "31-12-1976", "YYYY/MM/DD": "1976/12/31", "DD MMM YYYY": "31 Dec 1976",
}  # fmt: skip
AT_ONCE = 200
LONGEST = 200
ROLES: tuple[str, ...] = get_args(models.RoleName)


@dataclass(frozen=True)
class View:
    """What a person looks for, and the part of it that is shown."""

    find: str = ""
    role: str = ""
    part: int = 1

    @classmethod
    def of(cls, given: Mapping[str, Any]) -> View:
        """Read a view from the fields of a form; what makes no sense is the first part of all.

        >>> View.of({"find": " Age ", "role": "king", "part": "x"})
        View(find='Age', role='', part=1)
        """
        part = str(given.get("part", "1"))
        role = str(given.get("role", ""))
        return cls(
            find=str(given.get("find", "")).strip()[:LONGEST],
            role=role if role in ROLES else "",
            part=max(1, int(part)) if part.isdecimal() and len(part) < 7 else 1,
        )

    def address(self, dataset: str, part: int | None = None) -> str:
        """Return the page that shows this view, or another part of it.

        >>> View("age", "quasi").address("d"), View().address("d"), View().address("d", 2)
        ('/data/d?find=age&role=quasi', '/data/d', '/data/d?part=2')
        """
        wanted = {"find": self.find, "role": self.role, "part": part or self.part}
        said = {name: value for name, value in wanted.items() if value not in ("", 1)}
        return f"/data/{dataset}" + (f"?{urlencode(said)}" if said else "")


@dataclass(frozen=True)
class Shown:
    """The places of the columns on a page, how many fit the view, and how many parts these have."""

    view: View
    places: Sequence[int]
    found: int
    parts: int


def look(columns: Sequence[models.ColumnState], view: View) -> Shown:
    """Return the columns of a view; a part beyond the last is the last.

    >>> known = {"role": "quasi", "kind": None, "order": None, "hierarchy": False}
    >>> columns = [models.ColumnState(name=f"c{n}", **known) for n in range(450)]
    >>> shown = look(columns, View(part=9))
    >>> shown.view.part, shown.parts, shown.places[0], len(shown.places)
    (3, 3, 400, 50)
    >>> look(columns, View(find="C44")).found
    11
    """
    wanted = view.find.casefold()
    fitting = [
        place
        for place, column in enumerate(columns)
        if wanted in column.name.casefold() and view.role in ("", column.role)
    ]
    parts = max(1, -(-len(fitting) // AT_ONCE))
    part = min(view.part, parts)
    places = fitting[(part - 1) * AT_ONCE : part * AT_ONCE]
    return Shown(replace(view, part=part), places, len(fitting), parts)


@router.get("")
def data(request: Request, server: TheServer) -> Response:
    """Offer a new file, and those already there."""
    return page(
        request,
        "data.html",
        datasets=api.datasets(server),
        folder=api.folder(server),
        has_folder=server.settings.folder is not None,
        max_upload=server.settings.max_upload,
    )


@router.post("/upload")
async def upload(request: Request, server: TheServer) -> Response:
    """Receive a file from the form."""
    limit = server.settings.max_upload
    _, path = await sent_file(request, limit, lambda _, name: api.table_path(server, name))
    return go(f"/data/{api.add_table(server, path).id}")


@router.post("/choose")
async def choose(request: Request, server: TheServer) -> Response:
    """Take a file from the server's folder."""
    path = text(await fields(request), "path")
    return go(f"/data/{api.choose(server, checked(models.ChosenFile, {'path': path})).id}")


@router.get("/{dataset}")
def show(request: Request, server: TheServer, dataset: DatasetId) -> Response:
    """Show the preview and the roles, of a wide table those of some columns."""
    return _page(request, server, dataset)


def _page(
    request: Request,
    server: Server,
    dataset: str,
    problem: UserError | None = None,
    typed: Mapping[str, Any] | None = None,
) -> Response:
    """Show a table; with a problem, what was ``typed`` stays in its fields."""
    shown = api.show(server, dataset)
    kind = format_of(shown.name)
    return page(
        request,
        "dataset.html",
        # A script shows what a page says only where the request went well.
        status=200 if problem is None or request.headers.get("hx-request") else 422,
        dataset=shown,
        problem=problem,
        shown=look(shown.columns, View.of(request.query_params)),
        wide=len(shown.columns) > AT_ONCE,
        at_once=AT_ONCE,
        most=MOST_NOTICES,
        roles=ROLES,
        waiting=shown.state in UNFINISHED,
        runs=server.store.jobs(dataset=dataset, kind="run"),
        form_id=new_id(),
        hints={
            name: hint for name, hint in HINTS.items() if kind == "text" or name not in TEXT_ALONE
        },
        date_formats=DATE_FORMATS,
        parts_of_dates=PARTS,
        has_header=kind in ("text", "workbook"),
        reading={**shown.reading, **(typed or {})},
        blanks=_blanks(shown),
        blanks_answer=server.store.dataset(dataset)["draft"].get("missing"),
    )


def _blanks(dataset: models.Dataset) -> list[models.ColumnProfile]:
    """Return the quasi-identifiers that need a value in every record, and lack it in some."""
    found = zip(dataset.columns, dataset.profile.columns if dataset.profile else (), strict=False)
    return [
        seen
        for column, seen in found
        if seen.missing and column.role == "quasi" and column.kind != "categorical"
        and not column.hierarchy
    ]  # fmt: skip


@router.get("/{dataset}/state")
def state(request: Request, server: TheServer, dataset: DatasetId) -> Response:
    """Show the page again once its table is read, to a page that waits."""
    if api.show(server, dataset).state in UNFINISHED:
        return Response(status_code=204)
    return _page(request, server, dataset)


@router.post("/{dataset}/missing")
async def missing(request: Request, server: TheServer, dataset: DatasetId) -> Response:
    """Keep what shall happen to records with a blank."""
    form = await fields(request)
    answer = text(form, "missing")
    if answer not in VALUES["missing"]:
        raise UserError("what happens to records with a blank is one of three", way_out="Choose")
    draft = server.store.dataset(dataset)["draft"]
    server.store.set_draft(dataset, {**draft, "missing": answer})
    version = version_of(server.store, server.store.dataset(dataset))
    server.wrote(f"{dataset} {text(form, 'form_id')}", version)  # the roles stand on the same page
    if request.headers.get("hx-request"):
        return Response(status_code=204)
    return go(f"/data/{dataset}#h-blanks")


@router.post("/{dataset}/roles")
async def roles(request: Request, server: TheServer, dataset: DatasetId) -> Response:
    """Keep the roles and kinds that were sent; fields are numbered as the columns are.

    Columns that the form did not show keep theirs, and a form's earlier state that comes after a
    later one is not kept.
    """
    form = await fields(request)
    columns = server.store.columns(dataset)
    if not columns:
        raise UserError("a table is profiled before its columns get roles; wait a moment.")
    wanted = [_role(form, column) for column in columns if f"role-{column['place']}" in form]
    edit = text(form, "edit", "0")
    number = int(edit) if edit.isdecimal() and len(edit) < 16 else 0
    own = f"{dataset} {text(form, 'form_id')}"
    if wanted and server.is_newest(own, number):
        version = version_of(server.store, server.store.dataset(dataset))
        if not server.is_shown(own, text(form, "version"), version):
            raise Refused(409, STALE, way_out="Go back to the table to see it as it is now")
        server.wrote(own, api.set_roles(server, dataset, models.Roles(columns=wanted)).version)
    if request.headers.get("hx-request"):
        # The page shows what was chosen already; what it asks about blanks may be another thing.
        return Response(status_code=204, headers={"HX-Trigger": "roles"})
    if not text(form, "next"):
        return go(View.of(form).address(dataset))
    gaps = {one.name: one.missing for one in _blanks(api.show(server, dataset))}
    if gaps and server.store.dataset(dataset)["draft"].get("missing") not in ("drop", "split"):
        return _page(request, server, dataset, blanks_refused(gaps))
    return go(f"/data/{dataset}/release")


def _role(form: FormData, column: Row) -> models.ColumnRole:
    place = column["place"]
    kind = text(form, f"kind-{place}") or column["kind"]
    order = [part.strip() for part in text(form, f"order-{place}").split(",") if part.strip()]
    given = {
        "name": column["name"],
        "role": text(form, f"role-{place}") or column["role"],
        "kind": kind,
        "order": order if order and kind == "ordinal" else None,
    }
    return checked(models.ColumnRole, given)


@router.post("/{dataset}/reading")
async def reading(request: Request, server: TheServer, dataset: DatasetId) -> Response:
    """Read the file in another way."""
    form = await fields(request)
    try:
        given = chosen(form, models.Reading)
        tokens = dict.fromkeys(["", *given.get("missing_tokens", ())])
        wanted = checked(models.Reading, {**given, "missing_tokens": list(tokens)})
        Reading(**wanted.model_dump())  # which knows more rules
    except UserError as error:
        return _page(request, server, dataset, error, dict(form))
    api.read_again(server, dataset, wanted)
    return go(f"/data/{dataset}")


@router.post("/{dataset}/answer")
async def answer(request: Request, server: TheServer, dataset: DatasetId) -> Response:
    """Read the file as the page proposed where it could not be read, and as before otherwise."""
    name, _, value = str((await fields(request)).get("answer", "")).partition("=")
    before, given = server.store.dataset(dataset)["reading"], {name: value}
    proposed = chosen(FormData(given), models.Reading)
    for key, one in proposed.items():  # dates of one column; those of others stay
        if isinstance(one, dict) and isinstance(before[key], dict):
            proposed[key] = {**before[key], **one}
    wanted = checked(models.Reading, {**before, **proposed})
    api.read_again(server, dataset, wanted)
    return go(f"/data/{dataset}")


def _column_at(server: Server, dataset: str, form: FormData) -> str:
    server.store.dataset(dataset)
    for column in server.store.columns(dataset):
        if str(column["place"]) == text(form, "column"):
            return str(column["name"])
    raise UserError("a hierarchy belongs to a column; none was chosen", way_out="Choose one")


@router.post("/{dataset}/hierarchy")
async def attach(request: Request, server: TheServer, dataset: DatasetId) -> Response:
    """Receive a hierarchy's file for the column whose number is in the form."""

    def place(form: FormData, _: str) -> Path:
        return api.hierarchy_path(server, dataset, _column_at(server, dataset, form))

    form, path = await sent_file(request, LARGEST_HIERARCHY, place)
    api.attach_hierarchy(server, dataset, _column_at(server, dataset, form), path)
    return go(View.of(form).address(dataset))


@router.post("/{dataset}/hierarchy/build")
async def build(request: Request, server: TheServer, dataset: DatasetId) -> Response:
    """Build a hierarchy from the column's values."""
    form = await fields(request)
    column = _column_at(server, dataset, form)
    known = {"column": column}
    if text(form, "build") == "dates":
        given = {"parts": parts} if (parts := texts(form, "parts")) else {}
        api.build(server, dataset, checked(models.Dates, {**known, "build": "dates", **given}))
    elif text(form, "build") == "masks":
        api.build(server, dataset, models.Masks(build="masks", column=column))
    else:
        widths = re.split(r"[,;\s]+", text(form, "widths") or "5, 10, 20, 40")
        wanted = {**known, "build": "bands", "widths": widths}
        api.build(server, dataset, checked(models.Bands, wanted))
    return go(View.of(form).address(dataset))


@router.post("/{dataset}/hierarchy/remove")
async def detach(request: Request, server: TheServer, dataset: DatasetId) -> Response:
    """Take a column's hierarchy off."""
    form = await fields(request)
    api.detach(server, dataset, _column_at(server, dataset, form))
    return go(View.of(form).address(dataset))


@router.post("/{dataset}/delete")
def delete(server: TheServer, dataset: DatasetId) -> Response:
    """Delete a dataset and everything made from it."""
    api.delete(server, dataset)
    return go("/data")
