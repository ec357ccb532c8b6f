"""Shows step 6, the history: runs found again, named, noted, repeated, deleted and had back."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query, Request
from starlette.responses import Response

from indiff.report.finding import VERDICTS
from indiff.web.api import runs as api
from indiff.web.api.again import request_of
from indiff.web.api.common import RunId, TheServer
from indiff.web.api.models import Label, Run
from indiff.web.pages.common import checked, fields, go, page, text
from indiff.web.store import deleted
from indiff.web.store.store import UNFINISHED

router = APIRouter(include_in_schema=False)
MOST_RUNS = 200
OUTCOMES = {
    **{name: one.word for name, one in VERDICTS.items()},
    "unfinished": "Waits or runs",
    "ended": "Broken off or cancelled",
}
Words = Annotated[str, Query(max_length=200)]


def outcome_of(run: Run) -> str:
    """Return by which of the outcomes a run is found."""
    if run.verdict is not None:
        return run.verdict.status
    return "unfinished" if run.state in UNFINISHED else "ended"


@router.get("/history")
def history(
    request: Request, server: TheServer, find: Words = "", table: Words = "", outcome: Words = ""
) -> Response:
    """Show every run, or those that were asked for."""
    names = {row["id"]: row["name"] for row in server.store.datasets()}
    runs = api.runs(server)
    wanted = find.strip().casefold()

    def fits(run: Run) -> bool:
        told = (run.name, run.note, run.report_title, run.title, names[run.dataset])
        return (
            any(wanted in one.casefold() for one in told if one)
            and table in ("", run.dataset)
            and outcome in ("", outcome_of(run))
        )

    found = [run for run in runs if fits(run)]
    return page(
        request,
        "history.html",
        runs=found[:MOST_RUNS],
        found=len(found),
        all=len(runs),
        names=names,
        tables={run.dataset: names[run.dataset] for run in runs},
        outcomes=OUTCOMES,
        asked={"find": find, "table": table, "outcome": outcome},
        deleted=server.store.deleted(),
        minutes=deleted.UNDO_MINUTES,
    )


@router.post("/runs/{run}/label")
async def label(request: Request, server: TheServer, run: RunId) -> Response:
    """Keep a run's name and note."""
    form = await fields(request)
    given: dict[str, Any] = {name: text(form, name) for name in ("name", "note")}
    api.label(server, run, checked(Label, given))
    return go(f"/runs/{run}" if text(form, "from") == "result" else f"/history#run-{run}")


@router.post("/runs/{run}/again")
def again(server: TheServer, run: RunId) -> Response:
    """Start a run once more as it was."""
    return go(f"/batches/{api.again(server, run).batch}")


@router.post("/runs/{run}/change")
def change(
    server: TheServer, run: RunId, to: Annotated[Literal["", "policy"], Query()] = ""
) -> Response:
    """Fill the forms with what a run was started with, and show them, from a field on if asked."""
    row = server.store.job(run, "run")
    server.store.set_draft(row["dataset"], request_of(server.store, row))
    return go(f"/data/{row['dataset']}/adversary{'#' if to else ''}{to}")


@router.post("/runs/{run}/delete")
def delete(server: TheServer, run: RunId) -> Response:
    """Delete a run with its results; for some minutes it can be had back."""
    server.store.job(run, "run")
    deleted.put_aside(server.store, run, server.queue.cancel, server.queue.end_workers)
    return go("/history")


@router.post("/runs/{run}/undo")
def undo(server: TheServer, run: RunId) -> Response:
    """Have a deleted run back."""
    deleted.bring_back(server.store, run)
    return go(f"/history#run-{run}")


@router.post("/runs/{run}/remove")
def remove(server: TheServer, run: RunId) -> Response:
    """Remove a deleted run now."""
    deleted.remove(server.store, run, server.queue.end_workers)
    return go("/history")
