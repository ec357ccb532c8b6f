"""Shows steps 4 and 5: runs while they compute, results, runs side by side."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from starlette.responses import Response

from indiff.errors import UserError
from indiff.report.finding import QUESTIONS, VERDICTS, glance
from indiff.report.limits import headline
from indiff.report.parts import by_distance, by_question
from indiff.web.api import results
from indiff.web.api import runs as api
from indiff.web.api.common import ID, BatchId, RunId, Server, TheServer
from indiff.web.api.models import Above
from indiff.web.jobs.drawing import drawn_together, figures_of, running_chart, with_threshold
from indiff.web.jobs.queue import in_turn
from indiff.web.pages.common import go, page
from indiff.web.pages.comparing import (
    beside,
    removed_apart,
    risk_rows,
    settings_apart,
    trade_rows,
    what_differs,
)
from indiff.web.pages.next_steps import can_be_fixed, in_page_words, shown_steps, told_here
from indiff.web.refusals import NotFoundError
from indiff.web.store.store import UNFINISHED

MOST_RECORDS = 200
router = APIRouter(include_in_schema=False)


@router.get("/batches/{batch}")
def batch(request: Request, server: TheServer, batch: BatchId) -> Response:
    """Show how far the runs are that were started together."""
    runs = api.show_batch(server, batch)
    if not runs:
        raise NotFoundError("there is no such run; it may have been deleted.")
    return page(
        request,
        "run.html",
        runs=runs,
        name=server.store.dataset(runs[0].dataset)["name"],
        waiting=any(run.state in UNFINISHED for run in runs),
        places=places(server),
        chart=running_chart(),
    )


def places(server: Server) -> dict[str, int]:
    """Return each waiting run's place in the queue, by the queue's own rule."""
    unfinished = [job for job in server.store.unfinished() if job["kind"] == "run"]
    waiting = [job for job in unfinished if job["state"] == "queued"]
    running = [job for job in unfinished if job["state"] == "running"]
    return {job: place + 1 for place, job in enumerate(in_turn(waiting, running))}


@router.get("/runs/{run}")
def result(
    request: Request,
    server: TheServer,
    run: RunId,
    threshold: Annotated[float | None, Query(allow_inf_nan=False)] = None,
    curve: Annotated[int | None, Query(ge=0, le=1000)] = None,
    record: Annotated[int | None, Query(ge=0, le=2**53)] = None,
) -> Response:
    """Show the findings of a finished run; an unfinished one is on its batch's page."""
    shown = api.show(server, run)
    if shown.state != "done":
        return go(f"/batches/{shown.batch}")
    document = results.document_of(server, run)
    if threshold is None:
        threshold = document["plan"]["limits"].get("delta", 0.1)
    figures = figures_of(document, server.settings.run_folder(run))
    cdf = next((one for one in figures if one["id"] == "cdf"), None)
    ends = [0.0, 1.0]
    if cdf is not None:
        cdf["spec"], ends = with_threshold(cdf["spec"], threshold)
    if curve is None:
        curve = _strongest(server, run, document, threshold)
    worst = by_distance(document["charts"].get("worst") or [])
    picked = [one for one in worst if one["record"] == record] or worst[:1]
    others = [one for one in api.runs(server, dataset=shown.dataset) if one.state == "done"]
    return page(
        request,
        "result.html",
        run=shown,
        document=document,
        verdict=VERDICTS[document["verdict"]["status"]],
        next_steps=shown_steps(document),
        here=in_page_words,
        can_be_fixed=can_be_fixed(document),
        headline=headline(document),
        suppressed=_suppressed(document),
        glance=glance(document["findings"]),
        questions=QUESTIONS,
        findings=by_question(told_here(document["findings"])),
        figures={one["id"]: one for one in figures},
        counted=_counted(server, run, document, threshold, curve),
        curve=curve,
        ends=ends,
        worst=worst[:MOST_RECORDS],
        picked=picked,
        files=results.files(server, run),
        others=[one for one in others if one.id != run],
        together=[one.id for one in others if one.batch == shown.batch],
    )


def _suppressed(document: dict[str, Any]) -> list[str]:
    """Return what is said of the records that no group protects, but their suppression alone."""
    if document["plan"]["release"]["file"] is not None:
        return []
    return [note for note in document["release"]["notes"] if "suppressed" in note]


def _strongest(server: Server, run: str, document: dict[str, Any], threshold: float) -> int:
    """Return the place of the adversary who has most people above a threshold."""
    names = [one["name"] for one in document["charts"]["cdf"]]
    found = [results.records_above(server, run, threshold, name).above for name in names]
    return found.index(max(found)) if found else 0


def _counted(
    server: Server, run: str, document: dict[str, Any], threshold: float, curve: int
) -> Above | None:
    names = [one["name"] for one in document["charts"]["cdf"]]
    if not names:
        return None
    return results.records_above(server, run, threshold, names[min(curve, len(names) - 1)])


@router.get("/runs/{run}/above")
def above(
    request: Request,
    server: TheServer,
    run: RunId,
    threshold: Annotated[float, Query(allow_inf_nan=False)],
    curve: Annotated[int, Query(ge=0, le=1000)] = 0,
) -> Response:
    """Count again while the threshold moves: one sentence, to be put into the page."""
    found = _counted(server, run, results.document_of(server, run), threshold, curve)
    return page(request, "above.html", counted=found)


@router.get("/compare")
def compare(
    request: Request,
    server: TheServer,
    run: Annotated[list[Annotated[str, Query(pattern=ID)]] | None, Query(max_length=50)] = None,
) -> Response:
    """Put finished runs side by side."""
    if not run:
        raise UserError(
            "at least one run is needed to compare; none was chosen", way_out="Choose some"
        )
    chosen = list(dict.fromkeys(run))
    shown = [api.show(server, one) for one in chosen]
    documents = [server.store.document(one) for one in chosen]
    named = [(one.title, document) for one, document in zip(shown, documents, strict=True)]
    return page(
        request,
        "compare.html",
        columns=[
            {
                "run": one,
                "called": one.name or one.title,
                "verdict": VERDICTS[document["verdict"]["status"]],
                "headline": headline(document),
            }
            for one, document in zip(shown, documents, strict=True)
        ],
        table=beside(documents),
        apart=what_differs(documents),
        settings=settings_apart(documents) + removed_apart([one.fix for one in shown]),
        figures=drawn_together(named, trade_rows(named)),
        risk=risk_rows(documents),
    )


@router.post("/runs/{run}/cancel")
def cancel(server: TheServer, run: RunId) -> Response:
    """End a run."""
    shown = api.cancel(server, run)
    return go(f"/batches/{shown.batch}")
