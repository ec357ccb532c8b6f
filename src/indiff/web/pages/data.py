"""Step 1, Data: a file, what it looks like, what its columns are."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request
from starlette.datastructures import FormData
from starlette.responses import Response

from indiff.data.schema import Kind
from indiff.errors import UserError, unknown
from indiff.web.api import datasets as api
from indiff.web.api.common import DatasetId, Server, TheServer
from indiff.web.api.models import Bands, ChosenFile, ColumnRole, Masks, Reading, Roles
from indiff.web.pages.columns import AT_ONCE, ROLES, View, look
from indiff.web.pages.common import check_csrf, fields, go, page, text
from indiff.web.store.folder import list_folder
from indiff.web.store.store import Row, new_id
from indiff.web.store.uploads import Incoming, check_declared, receive_form, safe_name

router = APIRouter(prefix="/data", include_in_schema=False)
MOST_NOTICES = 20
KINDS = tuple(str(kind) for kind in Kind)


@router.get("")
def data(request: Request, server: TheServer) -> Response:
    """Offer a new file, and those already there."""
    return page(
        request,
        "data.html",
        datasets=[api.shown(server, row) for row in server.store.datasets()],
        folder=list_folder(server.settings.folder),
        has_folder=server.settings.folder is not None,
        max_upload=server.settings.max_upload,
    )


@router.post("/upload")
async def upload(request: Request, server: TheServer) -> Response:
    """Receive a file from the form."""
    check_declared(request.headers, server.settings.max_upload)
    dataset = new_id()

    def open_file(name: str, _: dict[str, str]) -> Incoming:
        place = server.settings.dataset_folder(dataset) / safe_name(name)
        return Incoming(place, server.settings.max_upload)

    incoming = await _one_file(request, open_file)
    api.add_upload(server, dataset, incoming)
    return go(f"/data/{dataset}")


async def _one_file(request: Request, open_file: object) -> Incoming:
    incoming, _ = await receive_form(
        request.stream(),
        request.headers.get("content-type", ""),
        lambda given: check_csrf(request, given),
        open_file,  # type: ignore[arg-type]
    )
    if incoming is None:
        raise UserError("a file is needed; none was chosen", way_out="Go back and choose one")
    return incoming


@router.post("/choose")
async def choose(request: Request, server: TheServer) -> Response:
    """Take a file from the server's folder."""
    chosen = api.choose(server, ChosenFile(path=text(await fields(request), "path")))
    return go(f"/data/{chosen.id}")


@router.get("/{dataset}")
def show(request: Request, server: TheServer, dataset: DatasetId) -> Response:
    """Show the preview and the roles, of a wide table those of some columns."""
    row = server.store.dataset(dataset)
    shown = api.shown(server, row)
    return page(
        request,
        "dataset.html",
        dataset=shown,
        shown=look(shown.columns, View.of(request.query_params)),
        wide=len(shown.columns) > AT_ONCE,
        at_once=AT_ONCE,
        most=MOST_NOTICES,
        roles=ROLES,
        waiting=shown.state in ("queued", "running"),
        runs=server.store.jobs(dataset=dataset, kind="run"),
        form_id=new_id(),
    )


@router.get("/{dataset}/state")
def state(server: TheServer, dataset: DatasetId) -> Response:
    """Tell a page that waits to load again once its table is read."""
    if api.shown(server, server.store.dataset(dataset)).state in ("queued", "running"):
        return Response(status_code=204)
    return Response(headers={"HX-Refresh": "true"})


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
    if wanted and server.edits.is_newest(f"{dataset} {text(form, 'form_id')}", number):
        api.set_roles(server, dataset, Roles(columns=wanted))
    if request.headers.get("hx-request"):
        return Response(status_code=204)  # the page shows what was chosen already
    view = View.of(form)
    return go(f"/data/{dataset}/release" if text(form, "next") else view.address(dataset))


def _role(form: FormData, column: Row) -> ColumnRole:
    place = column["place"]
    kind: Any = text(form, f"kind-{place}") or column["kind"]
    role: Any = text(form, f"role-{place}") or column["role"]
    order = [part.strip() for part in text(form, f"order-{place}").split(",") if part.strip()]
    if role not in ROLES:
        raise unknown("role", role, ROLES)
    if kind is not None and kind not in KINDS:
        raise unknown("kind", kind, KINDS)
    return ColumnRole(
        name=column["name"],
        role=role,
        kind=kind,
        order=order if order and kind == "ordinal" else None,
    )


@router.post("/{dataset}/reading")
async def reading(request: Request, server: TheServer, dataset: DatasetId) -> Response:
    """Read the file in another way."""
    form = await fields(request)
    tokens = [part.strip() for part in text(form, "missing_tokens").split(",")]
    chosen = Reading(
        encoding=text(form, "encoding") or None,
        sheet=text(form, "sheet") or None,
        missing_tokens=list(dict.fromkeys(["", *tokens])),
    )
    api.read_again(server, dataset, chosen)
    return go(f"/data/{dataset}")


def _column_at(server: Server, dataset: str, place: str) -> str:
    for column in server.store.columns(dataset):
        if str(column["place"]) == place:
            return str(column["name"])
    raise UserError("a hierarchy belongs to a column; none was chosen", way_out="Choose one")


@router.post("/{dataset}/hierarchy")
async def attach(request: Request, server: TheServer, dataset: DatasetId) -> Response:
    """Receive a hierarchy's file; the column's number comes before it in the form."""
    server.store.dataset(dataset)
    check_declared(request.headers, api.LARGEST_HIERARCHY)
    column, view = "", View()

    def open_file(name: str, given: dict[str, str]) -> Incoming:
        nonlocal column, view
        view = View.of(given)
        column = _column_at(server, dataset, given.get("column", ""))
        return api.hierarchy_file(server, dataset)

    incoming = await _one_file(request, open_file)
    api.attach_hierarchy(server, dataset, column, incoming)
    return go(view.address(dataset))


@router.post("/{dataset}/hierarchy/build")
async def build(request: Request, server: TheServer, dataset: DatasetId) -> Response:
    """Build a hierarchy from the column's values."""
    form = await fields(request)
    column = _column_at(server, dataset, text(form, "column"))
    if text(form, "build") == "masks":
        api.build(server, dataset, Masks(build="masks", column=column))
        return go(View.of(form).address(dataset))
    widths = [part.strip() for part in text(form, "widths", "5, 10, 20, 40").split(",")]
    if not all(part.isdecimal() and 0 < len(part) < 10 for part in widths):
        raise UserError("widths are whole numbers such as 5, 10, 20", f"{', '.join(widths)!r}")
    api.build(server, dataset, Bands(build="bands", column=column, widths=[int(w) for w in widths]))
    return go(View.of(form).address(dataset))


@router.post("/{dataset}/hierarchy/remove")
async def detach(request: Request, server: TheServer, dataset: DatasetId) -> Response:
    """Take a column's hierarchy off."""
    form = await fields(request)
    api.detach(server, dataset, _column_at(server, dataset, text(form, "column")))
    return go(View.of(form).address(dataset))


@router.post("/{dataset}/delete")
def delete(server: TheServer, dataset: DatasetId) -> Response:
    """Delete a dataset and everything made from it."""
    api.delete(server, dataset)
    return go("/data")
