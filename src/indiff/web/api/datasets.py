"""Datasets: uploaded or chosen, previewed, profiled, given roles and hierarchies."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Body, Query, Request, Response

from indiff.errors import UserError, unknown
from indiff.web.api.common import ERRORS, ColumnName, DatasetId, ReleaseId, Server, TheServer
from indiff.web.api.models import (
    Bands,
    ChosenFile,
    ColumnState,
    Dataset,
    FolderEntry,
    Masks,
    Reading,
    Roles,
    UploadedRelease,
)
from indiff.web.api.planning import check_roles
from indiff.web.store.folder import find_in_folder, list_folder
from indiff.web.store.store import Row, new_id
from indiff.web.store.uploads import Incoming, check_declared, check_packed, receive_body, safe_name

router = APIRouter(tags=["datasets"], responses=ERRORS)
FileName = Annotated[
    str, Query(min_length=1, max_length=1000, description="The file's name; its ending tells.")
]
LARGEST_HIERARCHY = 16_000_000
BINARY: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}},
    }
}


@router.get("/folder")
def folder(server: TheServer) -> list[FolderEntry]:
    """List the tables below the folder that the server was started with."""
    files = list_folder(server.settings.folder)
    return [FolderEntry(path=file.path, bytes=file.bytes) for file in files]


@router.get("/datasets")
def datasets(server: TheServer) -> list[Dataset]:
    """List the datasets, the newest first."""
    return [shown(server, row) for row in server.store.datasets()]


@router.post("/datasets", status_code=201, openapi_extra=BINARY)
async def upload(request: Request, server: TheServer, name: FileName) -> Dataset:
    """Upload a table: the body is the file itself. Its profile follows; poll the dataset."""
    check_declared(request.headers, server.settings.max_upload)
    dataset = new_id()
    incoming = Incoming(
        server.settings.dataset_folder(dataset) / safe_name(name), server.settings.max_upload
    )
    await receive_body(request.stream(), incoming)
    return add_upload(server, dataset, incoming)


def add_upload(server: Server, dataset: str, incoming: Incoming) -> Dataset:
    """Keep an uploaded table and queue its profile."""
    server.store.add_dataset(
        id=dataset, name=incoming.path.name, path=incoming.path, origin="upload",
        reading=Reading().model_dump(),
    )  # fmt: skip
    server.queue.wake()
    return shown(server, server.store.dataset(dataset))


@router.post("/datasets/from-folder", status_code=201)
def choose(server: TheServer, chosen: ChosenFile) -> Dataset:
    """Take a table from below the server's folder; it is read where it is."""
    path = find_in_folder(server.settings.folder, chosen.path)
    check_packed(path)
    dataset = new_id()
    server.store.add_dataset(
        id=dataset, name=path.name, path=path, origin="folder", reading=Reading().model_dump()
    )
    server.queue.wake()
    return shown(server, server.store.dataset(dataset))


@router.get("/datasets/{dataset}")
def show(server: TheServer, dataset: DatasetId) -> Dataset:
    """Return one dataset with its profile and roles."""
    return shown(server, server.store.dataset(dataset))


@router.put("/datasets/{dataset}/reading")
def read_again(server: TheServer, dataset: DatasetId, reading: Reading) -> Dataset:
    """Read the file in another way (encoding, sheet, missing tokens) and profile it anew."""
    server.store.dataset(dataset)
    for job in server.store.jobs(dataset=dataset, kind="profile"):
        server.queue.cancel(job["id"])
    server.store.read_again(dataset, reading.model_dump())
    server.queue.wake()
    return shown(server, server.store.dataset(dataset))


@router.put("/datasets/{dataset}/roles")
def set_roles(server: TheServer, dataset: DatasetId, roles: Roles) -> Dataset:
    """Set the roles, kinds and orders of some columns."""
    columns = server.store.columns(server.store.dataset(dataset)["id"])
    wanted = [column.model_dump() for column in roles.columns]
    check_roles(columns, wanted)
    kinds = {column["name"]: column["kind"] for column in columns}
    for column in wanted:
        column["kind"] = column["kind"] or kinds[column["name"]]
        if column["order"] is not None and column["kind"] != "ordinal":
            raise UserError(
                f"an order is for an ordinal column; {column['name']!r} is {column['kind']}",
                way_out="Set its kind to ordinal, or leave the order out",
            )
    server.store.set_roles(dataset, wanted)
    return shown(server, server.store.dataset(dataset))


@router.delete("/datasets/{dataset}", status_code=204, response_class=Response)
def delete(server: TheServer, dataset: DatasetId) -> Response:
    """Delete a dataset with everything made from it; a file in the server's folder stays."""
    server.store.dataset(dataset)
    server.store.delete_dataset(dataset, server.queue.end_workers)
    return Response(status_code=204)


@router.put("/datasets/{dataset}/hierarchies/{column:path}", openapi_extra=BINARY)
async def attach(
    request: Request, server: TheServer, dataset: DatasetId, column: ColumnName
) -> Dataset:
    """Attach a hierarchy: the body is a file of ``value;group;…;*`` lines."""
    server.store.dataset(dataset)
    find_column(server, dataset, column)
    check_declared(request.headers, LARGEST_HIERARCHY)
    incoming = hierarchy_file(server, dataset)
    await receive_body(request.stream(), incoming)
    attach_hierarchy(server, dataset, column, incoming)
    return shown(server, server.store.dataset(dataset))


def hierarchy_file(server: Server, dataset: str) -> Incoming:
    """Open a file for a hierarchy of a dataset."""
    folder = server.settings.dataset_folder(dataset) / "hierarchies"
    return Incoming(folder / f"{new_id()}.csv", LARGEST_HIERARCHY)


def attach_hierarchy(server: Server, dataset: str, column: str, incoming: Incoming) -> None:
    """Check a hierarchy's file and give it to a column."""
    from indiff.data.hierarchy import Hierarchy

    try:
        lines = incoming.path.read_text(encoding="utf-8-sig").splitlines()
        Hierarchy.from_lines(lines)
    except UnicodeDecodeError:
        incoming.drop()
        raise UserError(
            "a hierarchy file is UTF-8 text; this one is not", way_out="Save it so"
        ) from None
    except UserError:
        incoming.drop()
        raise
    server.store.set_hierarchy(dataset, column, incoming.path)


@router.post("/datasets/{dataset}/hierarchies", status_code=202)
def build(
    server: TheServer,
    dataset: DatasetId,
    built: Annotated[Bands | Masks, Body(discriminator="build")],
) -> Dataset:
    """Build a hierarchy from a column's values: bands of numbers, or masked codes."""
    server.store.dataset(dataset)
    find_column(server, dataset, built.column)
    server.store.add_jobs(
        "hierarchy", dataset, [(f"hierarchy of {built.column}", built.model_dump())]
    )
    server.queue.wake()
    return shown(server, server.store.dataset(dataset))


@router.delete("/datasets/{dataset}/hierarchies/{column:path}")
def detach(server: TheServer, dataset: DatasetId, column: ColumnName) -> Dataset:
    """Take a column's hierarchy off."""
    server.store.dataset(dataset)
    find_column(server, dataset, column)
    server.store.set_hierarchy(dataset, column, None)
    return shown(server, server.store.dataset(dataset))


def find_column(server: Server, dataset: str, column: str) -> Row:
    """Return a column of a dataset, or refuse a name that it does not have."""
    columns = server.store.columns(dataset)
    for found in columns:
        if found["name"] == column:
            return found
    raise unknown("column", column, [found["name"] for found in columns])


@router.get("/datasets/{dataset}/releases")
def releases(server: TheServer, dataset: DatasetId) -> list[UploadedRelease]:
    """List the releases of a dataset that were made elsewhere."""
    server.store.dataset(dataset)
    return [uploaded(row) for row in server.store.releases(dataset)]


@router.post("/datasets/{dataset}/releases", status_code=201, openapi_extra=BINARY)
async def upload_release(
    request: Request, server: TheServer, dataset: DatasetId, name: FileName
) -> UploadedRelease:
    """Upload a release that was made elsewhere: the body is the file itself."""
    server.store.dataset(dataset)
    check_declared(request.headers, server.settings.max_upload)
    release, incoming = release_file(server, dataset, name)
    await receive_body(request.stream(), incoming)
    return add_release(server, dataset, release, incoming)


def release_file(server: Server, dataset: str, name: str) -> tuple[str, Incoming]:
    """Open a file for a release of a dataset."""
    release = new_id()
    folder = server.settings.dataset_folder(dataset) / "releases" / release
    return release, Incoming(folder / safe_name(name), server.settings.max_upload)


def add_release(server: Server, dataset: str, release: str, incoming: Incoming) -> UploadedRelease:
    """Keep an uploaded release."""
    server.store.add_release(
        id=release, dataset=dataset, name=incoming.path.name, path=incoming.path
    )
    return uploaded(server.store.release(dataset, release))


@router.delete("/datasets/{dataset}/releases/{release}", status_code=204, response_class=Response)
def delete_release(server: TheServer, dataset: DatasetId, release: ReleaseId) -> Response:
    """Delete an uploaded release."""
    server.store.delete_release(server.store.release(dataset, release))
    return Response(status_code=204)


def uploaded(row: Row) -> UploadedRelease:
    """Return a release as the interface shows it."""
    return UploadedRelease(**{name: row[name] for name in UploadedRelease.model_fields})


def shown(server: Server, row: Row) -> Dataset:
    """Return a dataset as the interface shows it; its state is that of its latest preparation."""
    jobs = server.store.jobs(dataset=row["id"])
    preparing = [job for job in jobs if job["kind"] in ("profile", "hierarchy")]
    latest = next((job for job in preparing if job["state"] in ("queued", "running")), None)
    latest = latest or next(iter(preparing), None)
    columns = [
        ColumnState(
            name=column["name"],
            role=column["role"],
            kind=column["kind"],
            order=column["ordering"],
            hierarchy=column["hierarchy"] is not None,
        )
        for column in server.store.columns(row["id"])
    ]
    return Dataset(
        **{name: row[name] for name in ("id", "name", "origin", "bytes", "created", "reading")},
        state=latest["state"] if latest else "done",
        problem=latest["problem"] if latest else None,
        profile=row["profile"],
        columns=columns,
    )
