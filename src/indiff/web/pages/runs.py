"""Steps 4 to 6: runs while they compute, results, runs side by side, history."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Request
from starlette.responses import Response

from indiff.errors import UserError
from indiff.web.api import results
from indiff.web.api import runs as api
from indiff.web.api.common import ID, BatchId, RunId, TheServer
from indiff.web.pages.common import go, page
from indiff.web.results import side_by_side
from indiff.web.store import NotFoundError

router = APIRouter(include_in_schema=False)


@router.get("/batches/{batch}")
def batch(request: Request, server: TheServer, batch: BatchId) -> Response:
    """Show how far the runs are that were started together."""
    runs = api.show_batch(server, batch)
    if not runs:
        raise NotFoundError("there is no such run; it may have been deleted.")
    waiting = any(run.state in ("queued", "running") for run in runs)
    return page(request, "run.html", runs=runs, waiting=waiting)


@router.get("/runs/{run}")
def result(
    request: Request,
    server: TheServer,
    run: RunId,
    threshold: Annotated[float | None, Query(allow_inf_nan=False)] = None,
    curve: Annotated[str | None, Query(max_length=20_000)] = None,
    record: Annotated[int | None, Query(ge=0, le=2**53)] = None,
) -> Response:
    """Show the findings of a finished run, or how far an unfinished one is."""
    shown = api.show(server, run)
    if shown.state != "done":
        return page(request, "run.html", runs=[shown], waiting=shown.state in ("queued", "running"))
    document = server.store.document(run)
    limit = threshold if threshold is not None else document["plan"]["limits"].get("delta", 0.1)
    counted = results.counted(server, run, limit, curve) if document["charts"]["cdf"] else None
    others = [one for one in api.runs(server, dataset=shown.dataset) if one.state == "done"]
    return page(
        request,
        "result.html",
        run=shown,
        document=document,
        counted=counted,
        record=record,
        files=results.files(server, run),
        others=[one for one in others if one.id != run],
    )


@router.get("/compare")
def compare(
    request: Request,
    server: TheServer,
    run: Annotated[list[Annotated[str, Query(pattern=ID)]] | None, Query(max_length=50)] = None,
) -> Response:
    """Put finished runs side by side."""
    if not run:
        raise UserError("at least one run is needed to compare; none was chosen.")
    found = [(api.show(server, one), server.store.document(one)) for one in run]
    rows = side_by_side([(shown.title, document) for shown, document in found])
    documents = [document for _, document in found]
    return page(
        request, "compare.html", runs=[shown for shown, _ in found], rows=rows, documents=documents
    )


@router.get("/history")
def history(request: Request, server: TheServer) -> Response:
    """Show every run."""
    names = {row["id"]: row["name"] for row in server.store.datasets()}
    return page(request, "history.html", runs=api.runs(server), names=names)


@router.post("/runs/{run}/cancel")
def cancel(server: TheServer, run: RunId) -> Response:
    """End a run."""
    shown = api.cancel(server, run)
    return go(f"/batches/{shown.batch}")


@router.post("/runs/{run}/delete")
def delete(server: TheServer, run: RunId) -> Response:
    """Delete a run with its results."""
    api.delete(server, run)
    return go("/history")
