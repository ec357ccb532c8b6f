"""Serves results: the document, the records above a threshold, the worst ones, and the files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal

import numpy as np
from fastapi import APIRouter, Query
from fastapi.responses import FileResponse

from indiff.errors import UserError, unknown
from indiff.web.api.common import ERRORS, ID, RunId, TheServer
from indiff.web.api.models import Above, Download, Worst
from indiff.web.jobs.audit import distances_file
from indiff.web.refusals import NotFoundError

FileName = Literal[
    "report.html", "report.json", "report.md", "release.csv", "records.csv", "plan.toml",
    "fix.json", "fixed-removed.csv",
]  # fmt: skip
FILES: dict[FileName, str] = {
    "report.html": "text/html; charset=utf-8",
    "report.json": "application/json",
    "report.md": "text/markdown; charset=utf-8",
    "release.csv": "text/csv; charset=utf-8",
    "records.csv": "text/csv; charset=utf-8",
    "plan.toml": "application/toml",
    "fix.json": "application/json",
    "fixed-removed.csv": "text/csv; charset=utf-8",
}
router = APIRouter(tags=["results"], responses=ERRORS)
# A report has scripts of its own: opened from here, it may neither run them nor reach anything.
SANDBOX = "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:"


@router.get("/runs/{run}/document")
def document_of(server: TheServer, run: RunId) -> dict[str, Any]:
    """Return the whole document of a finished run: every finding, chart and parameter."""
    server.store.job(run, "run")
    return server.store.document(run)


@router.get("/runs/{run}/above")
def records_above(
    server: TheServer,
    run: RunId,
    threshold: Annotated[float, Query(allow_inf_nan=False)],
    curve: Annotated[str | None, Query(max_length=20_000)] = None,
) -> Above:
    """Count the records whose distance is above a threshold, for one of the CDF's curves.

    Unless one is named it is that of the adversary with the largest δ.
    """
    curves = document_of(server, run)["charts"]["cdf"]
    names = [one["name"] for one in curves]
    if not names:
        raise UserError("this run measured no distances, so none can be counted.")
    if curve is not None and curve not in names:
        raise unknown("curve", curve, names, field="curve")
    largest = max(curves, key=lambda one: float(one["x"][-1]))["name"]
    place = names.index(largest if curve is None else curve)
    try:
        distances = np.load(distances_file(server.settings.run_folder(run), place), mmap_mode="r")
    except FileNotFoundError:
        raise NotFoundError("the distances of this run are no longer on the disk.") from None
    count = len(distances) - int(np.searchsorted(distances, threshold, side="right"))
    return Above(finding=names[place], threshold=threshold, above=count, records=len(distances))


@router.get("/runs/{run}/worst")
def worst(server: TheServer, run: RunId) -> Worst:
    """Return the most exposed records, each with why."""
    return Worst(records=document_of(server, run)["charts"].get("worst") or [])


@router.get("/comparison")
def comparison(
    server: TheServer,
    run: Annotated[list[Annotated[str, Query(pattern=ID)]], Query(min_length=1, max_length=50)],
) -> list[dict[str, Any]]:
    """Put finished runs side by side: each finding with its value in every run."""
    rows = side_by_side([document_of(server, one) for one in run])
    values = [[one and one["value"] for one in row["findings"]] for row in rows]
    return [
        {**{name: row[name] for name in ("id", "title", "better")}, "values": found}
        for row, found in zip(rows, values, strict=True)
    ]


@router.get("/runs/{run}/files")
def files(server: TheServer, run: RunId) -> list[Download]:
    """List the files of a finished run."""
    server.store.job(run, "run")
    folder = server.settings.run_folder(run)
    return [
        Download(
            name=path.name,
            bytes=path.stat().st_size,
            address=f"/api/v1/runs/{run}/files/{path.name}",
        )
        for path in map(folder.joinpath, FILES)
        if path.is_file()
    ]


@router.get(
    "/runs/{run}/files/{name}",
    response_class=FileResponse,
    responses={200: {"content": {"application/octet-stream": {"schema": {"type": "string"}}}}},
)
def download(server: TheServer, run: RunId, name: FileName) -> FileResponse:
    """Download a file of a finished run."""
    path, state = server.settings.run_folder(run) / name, server.store.job(run, "run")["state"]
    if state != "done":
        raise UserError(
            f"files come with the result; this run is {state}", way_out="Wait until it is done"
        )
    if not path.is_file():
        raise NotFoundError(f"this run has no {name}.")
    headers = {"content-security-policy": SANDBOX}
    return FileResponse(path, media_type=FILES[name], filename=name, headers=headers)


def side_by_side(documents: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return one row per finding: what it is, and itself in every run (None where it has none).

    >>> one = {"id": "k", "title": "k", "better": "high", "question": "table", "value": 5}
    >>> (row,) = side_by_side([{"findings": [one]}, {"findings": []}])
    >>> row["title"], [finding and finding["value"] for finding in row["findings"]]
    ('k', [5, None])
    """
    rows: dict[str, dict[str, Any]] = {}
    for place, document in enumerate(documents):
        for finding in document["findings"]:
            same = {name: finding[name] for name in ("id", "title", "better", "question")}
            row = rows.setdefault(finding["id"], {**same, "findings": [None] * len(documents)})
            row["findings"][place] = finding
    return list(rows.values())
