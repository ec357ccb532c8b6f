"""Step 1, Data: a file, what it looks like, what its columns are."""

from __future__ import annotations

from fastapi import APIRouter, Request
from starlette.responses import Response

from indiff.errors import UserError
from indiff.web.api import datasets as api
from indiff.web.api.common import DatasetId, Server, TheServer
from indiff.web.folder import list_folder
from indiff.web.models import Bands, ChosenFile, ColumnRole, Masks, Reading, Roles
from indiff.web.pages.common import check_csrf, fields, go, page, text
from indiff.web.store import Row, new_id
from indiff.web.uploads import Incoming, check_declared, receive_form, safe_name

router = APIRouter(prefix="/data", include_in_schema=False)


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
        raise UserError("a file is needed; none was chosen. Go back and choose one.")
    return incoming


@router.post("/choose")
async def choose(request: Request, server: TheServer) -> Response:
    """Take a file from the server's folder."""
    chosen = api.choose(server, ChosenFile(path=text(await fields(request), "path")))
    return go(f"/data/{chosen.id}")


@router.get("/{dataset}")
def show(request: Request, server: TheServer, dataset: DatasetId) -> Response:
    """Show the preview and the roles."""
    row = server.store.dataset(dataset)
    return page(
        request,
        "dataset.html",
        dataset=api.shown(server, row),
        waiting=_is_waiting(server, row),
        runs=server.store.jobs(dataset=dataset, kind="run"),
    )


@router.get("/{dataset}/state")
def state(server: TheServer, dataset: DatasetId) -> Response:
    """Tell a page that waits to load again once its table is read."""
    if _is_waiting(server, server.store.dataset(dataset)):
        return Response(status_code=204)
    return Response(headers={"HX-Refresh": "true"})


def _is_waiting(server: Server, row: Row) -> bool:
    return api.shown(server, row).state in ("queued", "running")


@router.post("/{dataset}/roles")
async def roles(request: Request, server: TheServer, dataset: DatasetId) -> Response:
    """Keep the roles and kinds; fields are numbered as the columns are."""
    form = await fields(request)
    wanted = []
    for column in server.store.columns(dataset):
        place = column["place"]
        kind = text(form, f"kind-{place}") or column["kind"]
        order = [part.strip() for part in text(form, f"order-{place}").split(",") if part.strip()]
        wanted.append(
            ColumnRole(
                name=column["name"],
                role=text(form, f"role-{place}") or column["role"],  # type: ignore[arg-type]
                kind=kind,  # type: ignore[arg-type]
                order=order if order and kind == "ordinal" else None,
            )
        )
    if not wanted:
        raise UserError("a table is profiled before its columns get roles; wait a moment.")
    api.set_roles(server, dataset, Roles(columns=wanted))
    return go(f"/data/{dataset}/release" if text(form, "next") else f"/data/{dataset}")


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
    raise UserError("a hierarchy belongs to a column; none was chosen. Choose one.")


@router.post("/{dataset}/hierarchy")
async def attach(request: Request, server: TheServer, dataset: DatasetId) -> Response:
    """Receive a hierarchy's file; the column's number comes before it in the form."""
    server.store.dataset(dataset)
    check_declared(request.headers, api.LARGEST_HIERARCHY)
    column = ""

    def open_file(name: str, given: dict[str, str]) -> Incoming:
        nonlocal column
        column = _column_at(server, dataset, given.get("column", ""))
        return api.hierarchy_file(server, dataset)

    incoming = await _one_file(request, open_file)
    api.attach_hierarchy(server, dataset, column, incoming)
    return go(f"/data/{dataset}")


@router.post("/{dataset}/hierarchy/build")
async def build(request: Request, server: TheServer, dataset: DatasetId) -> Response:
    """Build a hierarchy from the column's values."""
    form = await fields(request)
    column = _column_at(server, dataset, text(form, "column"))
    if text(form, "build") == "masks":
        api.build(server, dataset, Masks(build="masks", column=column))
        return go(f"/data/{dataset}")
    widths = [part.strip() for part in text(form, "widths", "5, 10, 20, 40").split(",")]
    if not all(part.isdecimal() and 0 < len(part) < 10 for part in widths):
        raise UserError(f"widths are whole numbers such as 5, 10, 20; got {', '.join(widths)!r}.")
    api.build(server, dataset, Bands(build="bands", column=column, widths=[int(w) for w in widths]))
    return go(f"/data/{dataset}")


@router.post("/{dataset}/hierarchy/remove")
async def detach(request: Request, server: TheServer, dataset: DatasetId) -> Response:
    """Take a column's hierarchy off."""
    column = _column_at(server, dataset, text(await fields(request), "column"))
    api.detach(server, dataset, column)
    return go(f"/data/{dataset}")


@router.post("/{dataset}/delete")
def delete(server: TheServer, dataset: DatasetId) -> Response:
    """Delete a dataset and everything made from it."""
    api.delete(server, dataset)
    return go("/data")
