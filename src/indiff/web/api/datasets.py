"""Serves datasets: uploaded or chosen, previewed, profiled, given roles and hierarchies."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import Annotated, Any

from fastapi import APIRouter, Body, Query, Request, Response

from indiff.audit.plan.plan import Plan
from indiff.data.hierarchy import Hierarchy
from indiff.errors import UserError, unknown
from indiff.text import name as short
from indiff.web.access import uploads
from indiff.web.access.uploads import receive, safe_name
from indiff.web.api import models
from indiff.web.api.common import ERRORS, ColumnName, DatasetId, ReleaseId, Server, TheServer
from indiff.web.api.planning import plans, version_of
from indiff.web.api.uploaded import UploadedRelease
from indiff.web.store.rows import Row
from indiff.web.store.store import UNFINISHED, new_id

router = APIRouter(tags=["datasets"], responses=ERRORS)
MOST_COMPARED = 1_000  # columns of a table that is read again
FileName = Annotated[
    str, Query(min_length=1, max_length=1000, description="The file's name; its ending tells.")
]
BINARY: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}},
    }
}


@router.get("/folder")
def folder(server: TheServer) -> list[uploads.FolderFile]:
    """List the tables below the folder that the server was started with."""
    return uploads.list_folder(server.settings.folder)


@router.get("/datasets")
def datasets(server: TheServer) -> list[models.Dataset]:
    """List the datasets, the newest first."""
    return [_shown(server, row) for row in server.store.datasets()]


@router.post("/datasets", status_code=201, openapi_extra=BINARY)
async def upload(request: Request, server: TheServer, name: FileName) -> models.Dataset:
    """Upload a table: the body is the file itself. Its profile follows; poll the dataset."""
    return add_table(server, await receive(request.stream(), table_path(server, name)))


def table_path(server: Server, name: str) -> Path:
    """Where the file of a new dataset goes."""
    return server.settings.dataset_folder(new_id()) / safe_name(name)


def add_table(
    server: Server, path: Path, *, origin: str = "upload", **known: Any
) -> models.Dataset:
    """Keep a table and queue its profile; the folder of an uploaded one is named by its id."""
    dataset = path.parent.name if origin == "upload" else new_id()
    reading = models.Reading().model_dump()
    server.store.add_dataset(
        id=dataset, name=path.name, path=path, origin=origin, reading=reading, **known
    )
    server.queue.wake()
    return show(server, dataset)


@router.post("/datasets/from-folder", status_code=201)
def choose(server: TheServer, chosen: models.ChosenFile) -> models.Dataset:
    """Take a table from below the server's folder; it is read where it is."""
    path = uploads.find_in_folder(server.settings.folder, chosen.path)
    uploads.check_packed(path)
    return add_table(server, path, origin="folder")


@router.get("/datasets/{dataset}")
def show(server: TheServer, dataset: DatasetId) -> models.Dataset:
    """Return one dataset with its profile and roles."""
    return _shown(server, server.store.dataset(dataset))


@router.put("/datasets/{dataset}/reading")
def read_again(server: TheServer, dataset: DatasetId, reading: models.Reading) -> models.Dataset:
    """Read the file in another way (encoding, sheet, missing tokens) and profile it anew."""
    server.store.dataset(dataset)
    jobs = server.store.jobs(dataset=dataset, kind="profile")
    for job in jobs:
        server.queue.cancel(job["id"])
    jobs = [job for job in jobs if "release" not in job["task"]]
    task = _seen(server, server.store.dataset(dataset)) or jobs[0]["task"]
    server.store.read_again(dataset, reading.model_dump(), task)
    server.queue.wake()
    return show(server, dataset)


def _seen(server: Server, row: Row) -> dict[str, Any]:
    """Tell what a table looked like, and which roles and kinds were chosen against the guess."""
    if row["profile"] is None:
        return {}
    guessed = {one["name"]: one for one in row["profile"]["columns"]}
    chosen: dict[str, dict[str, Any]] = {}
    for column in server.store.columns(row["id"]):
        guess = guessed[column["name"]]
        kept = {"role": column["role"]} if column["role"] != guess["guessed_role"] else {}
        if column["kind"] != guess["kind"]:
            kept |= {"kind": column["kind"], "order": column["ordering"]}
        if kept:
            chosen[column["name"]] = kept
    looks = {
        name: [one["kind"], one["is_date"], one["missing"]]
        for name, one in list(guessed.items())[:MOST_COMPARED]
    }
    return {"chosen": chosen, "looks": looks, "records": row["profile"]["records"]}


@router.put("/datasets/{dataset}/roles")
def set_roles(server: TheServer, dataset: DatasetId, roles: models.Roles) -> models.Dataset:
    """Set the roles, kinds and orders of some columns."""
    server.store.dataset(dataset)
    kinds = {column["name"]: column["kind"] for column in server.store.columns(dataset)}
    wanted: dict[str, dict[str, Any]] = {}
    for role in roles.columns:
        if role.name not in kinds:
            raise unknown("column", role.name, kinds, field="columns")
        if role.name in wanted:
            raise UserError(f"a column has one role; {role.name!r} is listed twice.")
        kind = role.kind or kinds[role.name]
        if role.order is not None and kind != "ordinal":
            raise UserError(
                f"an order is for an ordinal column; {role.name!r} is {kind}",
                way_out="Set its kind to ordinal, or leave the order out",
                field="order",
            )
        wanted[role.name] = {**role.model_dump(), "kind": kind}
    server.store.set_roles(dataset, wanted.values())
    return show(server, dataset)


@router.delete("/datasets/{dataset}", status_code=204, response_class=Response)
def delete(server: TheServer, dataset: DatasetId) -> Response:
    """Delete a dataset with everything made from it; a file in the server's folder stays."""
    server.store.dataset(dataset)
    server.store.delete_dataset(dataset, server.queue.end_workers)
    return Response(status_code=204)


@router.put("/datasets/{dataset}/hierarchies/{column:path}", openapi_extra=BINARY)
async def attach(
    request: Request, server: TheServer, dataset: DatasetId, column: ColumnName
) -> models.Dataset:
    """Attach a hierarchy: the body is a file of ``value;group;…;*`` lines."""
    path = await receive(request.stream(), hierarchy_path(server, dataset, column))
    return attach_hierarchy(server, dataset, column, path)


def hierarchy_path(server: Server, dataset: str, column: str) -> Path:
    """Where the file of a column's hierarchy goes."""
    _check_column(server, dataset, column)
    return server.settings.dataset_folder(dataset) / "hierarchies" / f"{new_id()}.csv"


def attach_hierarchy(server: Server, dataset: str, column: str, path: Path) -> models.Dataset:
    """Check a hierarchy's file and give it to a column."""
    try:
        Hierarchy.from_lines(path.read_text(encoding="utf-8-sig").splitlines())
    except (UserError, UnicodeDecodeError) as error:
        uploads.drop(path)
        if isinstance(error, UserError):
            raise
        rule = "a hierarchy file is UTF-8 text; this one is not"
        raise UserError(rule, way_out="Save it so") from None
    server.store.set_hierarchy(dataset, column, path)
    _queue_hierarchy(server, dataset, {"build": "file", "column": column, "path": str(path)})
    return show(server, dataset)


def _queue_hierarchy(server: Server, dataset: str, task: dict[str, Any]) -> None:
    server.store.add_jobs("hierarchy", dataset, [(f"hierarchy of {task['column']}", task)])
    server.queue.wake()


@router.post("/datasets/{dataset}/hierarchies", status_code=202)
def build(
    server: TheServer,
    dataset: DatasetId,
    built: Annotated[models.Bands | models.Dates | models.Masks, Body(discriminator="build")],
) -> models.Dataset:
    """Build a hierarchy from a column's values: intervals, parts of dates, or masked codes."""
    _check_column(server, dataset, built.column)
    _queue_hierarchy(server, dataset, built.model_dump())
    return show(server, dataset)


@router.delete("/datasets/{dataset}/hierarchies/{column:path}")
def detach(server: TheServer, dataset: DatasetId, column: ColumnName) -> models.Dataset:
    """Take a column's hierarchy off."""
    _check_column(server, dataset, column)
    server.store.set_hierarchy(dataset, column, None)
    return show(server, dataset)


def _check_column(server: Server, dataset: str, column: str) -> None:
    server.store.dataset(dataset)
    names = [found["name"] for found in server.store.columns(dataset)]
    if column not in names:
        raise unknown("column", column, names, field="column")


@router.get("/datasets/{dataset}/releases")
def releases(server: TheServer, dataset: DatasetId) -> list[UploadedRelease]:
    """List the releases of a dataset that were made elsewhere."""
    server.store.dataset(dataset)
    return [shown_release(server, row) for row in server.store.releases(dataset)]


def shown_release(server: Server, row: Row) -> UploadedRelease:
    """Return an uploaded release with what was found when it was last looked at."""
    latest = next(iter(_checks(server, row)), None)
    if latest is None:
        return UploadedRelease(**row)
    answer = latest["answer"]
    if answer is not None:
        answer = {**answer, "notes": [UserError(note) for note in answer["notes"]]}
    told = {name: latest[name] for name in ("state", "problem")}
    return UploadedRelease(**{**row, **told, "recognised": answer})


def _checks(server: Server, release: Row) -> list[Row]:
    jobs = server.store.jobs(dataset=release["dataset"], kind="profile")
    return [job for job in jobs if job["task"].get("release") == release["id"]]


def check_release(server: Server, release: Row, plan: Plan) -> None:
    """Look at a release as a plan would read it, unless that was done already."""
    read_by = plan.model_dump(mode="json", include={"data", "release"}, exclude_none=True)
    task = {"release": release["id"], "plan": read_by}
    checks = _checks(server, release)
    if checks and checks[0]["task"] == task and checks[0]["state"] != "cancelled":
        return
    for job in checks:
        server.queue.cancel(job["id"])
    server.store.add_jobs("profile", release["dataset"], [(f"look at {release['name']}", task)])
    server.queue.wake()


@router.post("/datasets/{dataset}/releases", status_code=201, openapi_extra=BINARY)
async def upload_release(
    request: Request, server: TheServer, dataset: DatasetId, name: FileName
) -> UploadedRelease:
    """Upload a release that was made elsewhere: the body is the file itself.

    It is looked at where the columns have their roles; poll the list for what was recognised.
    """
    path = await receive(request.stream(), release_path(server, dataset, name))
    added = add_release(server, dataset, path)
    wanted = models.RunRequest(releases=[models.ReleaseChoice(file=added.id)])
    with suppress(UserError):  # of the table, which its own page tells
        ((_, plan),) = plans(server.store, server.store.dataset(dataset), wanted)
        check_release(server, server.store.release(dataset, added.id), plan)
    return shown_release(server, server.store.release(dataset, added.id))


def release_path(server: Server, dataset: str, name: str) -> Path:
    """Where the file of a release that was made elsewhere goes."""
    server.store.dataset(dataset)
    return server.settings.dataset_folder(dataset) / "releases" / new_id() / safe_name(name)


def add_release(server: Server, dataset: str, path: Path) -> UploadedRelease:
    """Keep an uploaded release; its folder is named by its id."""
    release = path.parent.name
    server.store.add_release(id=release, dataset=dataset, name=path.name, path=path)
    return UploadedRelease(**server.store.release(dataset, release))


@router.delete("/datasets/{dataset}/releases/{release}", status_code=204, response_class=Response)
def delete_release(server: TheServer, dataset: DatasetId, release: ReleaseId) -> Response:
    """Delete an uploaded release."""
    server.store.delete_release(server.store.release(dataset, release))
    return Response(status_code=204)


def _shown(server: Server, row: Row) -> models.Dataset:
    """Return a dataset as the interface shows it; its state is that of its latest preparation."""
    jobs = [job for job in server.store.jobs(dataset=row["id"]) if "release" not in job["task"]]
    profiles = [job for job in jobs if job["kind"] == "profile"]
    trees = [job for job in jobs if job["kind"] == "hierarchy"]
    preparing = [job for job in jobs if job["kind"] in ("profile", "hierarchy")]
    waiting = [job for job in preparing if job["state"] in UNFINISHED]
    latest = next(iter(waiting or preparing), {"state": "done", "problem": None})
    rows = next((job["answer"] for job in profiles if job["answer"]), None)
    counted = {job["answer"]["path"]: job["answer"]["levels"] for job in trees if job["answer"]}
    counted |= {} if rows is None else rows.get("levels", {})
    columns = [
        models.ColumnState(
            **{
                **one,
                "order": one["ordering"],
                "hierarchy": one["hierarchy"] is not None,
                "levels": counted.get(one["hierarchy"]),
            }
        )
        for one in server.store.columns(row["id"])
    ]
    profile, changes = row["profile"], []
    if profile is not None:
        changes = _changes(profiles[0]["task"] if profiles else {}, profile)
        profile = {**profile, "notes": [UserError(note) for note in profile["notes"]]}
    told = {name: latest[name] for name in ("state", "problem")}
    told["version"] = version_of(server.store, row)
    more = {"columns": columns, "profile": profile, "changes": changes, "first_rows": rows}
    return models.Dataset(**{**row, **told, **more})


def _changes(before: dict[str, Any], profile: dict[str, Any]) -> list[str]:
    """Say what is different since the file was read in another way.

    >>> looks = {"age": ["categorical", False, 0], "x": ["numeric", False, 1]}
    >>> before = {"records": 3, "looks": looks}
    >>> age = {"name": "age", "kind": "numeric", "is_date": False, "missing": 1}
    >>> for change in _changes(before, {"records": 2, "columns": [age]}):
    ...     print(change)
    2 records (before: 3)
    'x' is no longer a column
    'age' is numeric (before: categorical)
    'age' has 1 missing value (before: 0)
    """
    looks, columns = before.get("looks"), profile["columns"]
    if looks is None or len(columns) > MOST_COMPARED:
        return []
    found = []
    if profile["records"] != before["records"]:
        found.append(f"{profile['records']:,} records (before: {before['records']:,})")
    names = {one["name"] for one in columns}
    found += [f"{short(name)!r} is no longer a column" for name in looks if name not in names]
    for one in columns:
        name = f"{short(one['name'])!r}"
        if one["name"] not in looks:
            found.append(f"{name} is a new column")
            continue
        kind, is_date, missing = looks[one["name"]]
        now, then = _kind(one["kind"], one["is_date"]), _kind(kind, is_date)
        if now != then:
            found.append(f"{name} is {now} (before: {then})")
        if one["missing"] != missing:
            values = "missing value" if one["missing"] == 1 else "missing values"
            found.append(f"{name} has {one['missing']:,} {values} (before: {missing:,})")
    return found


def _kind(kind: str, is_date: bool) -> str:
    return "a date" if is_date else kind
