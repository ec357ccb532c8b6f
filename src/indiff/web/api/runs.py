"""Serves runs: estimated, started one or several at a time, followed, cancelled, deleted."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request, Response
from fastapi.responses import StreamingResponse

from indiff.web.api import choices
from indiff.web.api.common import ERRORS, ID, BatchId, DatasetId, RunId, Server, TheServer
from indiff.web.api.models import Choices, Estimate, Event, Label, Progress, Run, RunRequest
from indiff.web.api.planning import check_version, plans
from indiff.web.refusals import NotFoundError
from indiff.web.store.store import UNFINISHED, Row

router = APIRouter(tags=["runs"], responses=ERRORS)
LOOK_EVERY = 0.5


@router.get("/choices")
def what_can_be_chosen(server: TheServer) -> Choices:
    """List sanitizers, commands, models, distances and limits, with one sentence each."""
    return Choices(
        sanitizers=choices.sanitizers(),
        commands=sorted(server.settings.commands),
        models=choices.listed(choices.MODELS),
        distances=choices.listed(choices.DISTANCES),
        limits=choices.limits(),
    )


@router.post("/datasets/{dataset}/estimates", status_code=202)
def estimate(server: TheServer, dataset: DatasetId, request: RunRequest) -> Estimate:
    """Try a few records, to tell how long the runs will take; poll the answer."""
    made = _tasks(server, dataset, request)
    (job,) = server.store.add_jobs(
        "estimate", dataset, [("estimate", {"plans": [task["plan"] for _, task in made]})]
    )
    server.queue.wake()
    return show_estimate(server, job)


@router.get("/estimates/{estimate}")
def show_estimate(server: TheServer, estimate: RunId) -> Estimate:
    """Return an estimate; its state says whether it is there yet."""
    row = server.store.job(estimate, "estimate")
    return Estimate(**{"seconds": None, "sentence": None, **row, **(row["answer"] or {})})


@router.post("/datasets/{dataset}/runs", status_code=202)
def start(server: TheServer, dataset: DatasetId, request: RunRequest) -> list[Run]:
    """Start one run for each release; they share a batch."""
    jobs = server.store.add_jobs("run", dataset, _tasks(server, dataset, request))
    server.queue.wake()
    return [show(server, job) for job in jobs]


def _tasks(server: Server, dataset: str, request: RunRequest) -> list[tuple[str, dict[str, Any]]]:
    row = server.store.dataset(dataset)
    check_version(server.store, row, request.version)
    made = plans(server.store, row, request)
    return [(title, {"plan": plan.model_dump(exclude_none=True)}) for title, plan in made]


@router.get("/runs")
def runs(
    server: TheServer,
    dataset: Annotated[str | None, Query(pattern=ID)] = None,
    batch: Annotated[str | None, Query(pattern=ID)] = None,
) -> list[Run]:
    """List the runs, the newest first."""
    found = server.store.jobs(kind="run", dataset=dataset, batch=batch)
    return [_shown(row) for row in found]


@router.get("/batches/{batch}")
def show_batch(server: TheServer, batch: BatchId) -> list[Run]:
    """Return the runs that were started together, in the order they were asked for."""
    found = server.store.jobs(kind="run", batch=batch)
    return [_shown(row) for row in reversed(found)]


@router.get("/runs/{run}")
def show(server: TheServer, run: RunId) -> Run:
    """Return one run: its state, how far it is, and the distances known so far."""
    return _shown(server.store.job(run, "run"))


@router.get("/runs/{run}/events")
def events(server: TheServer, run: RunId) -> list[Event]:
    """Return what happened to a run."""
    server.store.job(run, "run")
    return [Event(**event) for event in server.store.events(run)]


@router.get(
    "/runs/{run}/stream",
    response_class=StreamingResponse,
    responses={200: {"content": {"text/event-stream": {"schema": {"type": "string"}}}}},
)
def stream(request: Request, server: TheServer, run: RunId) -> StreamingResponse:
    """Follow a run by server-sent events, one for each change, until it has ended."""
    server.store.job(run, "run")

    async def follow() -> AsyncIterator[str]:
        last = ""
        while not (server.queue.ending or await request.is_disconnected()):
            try:
                row = await asyncio.to_thread(server.store.job, run)
            except NotFoundError:
                yield "event: deleted\ndata: {}\n\n"
                return
            now = _shown(row).model_dump_json()
            if now != last:
                last = now
                yield f"event: run\ndata: {now}\n\n"
            if row["state"] not in UNFINISHED:
                return
            await asyncio.sleep(LOOK_EVERY)

    return StreamingResponse(follow(), media_type="text/event-stream")


@router.post("/runs/{run}/cancel")
def cancel(server: TheServer, run: RunId) -> Run:
    """End a run that waits or computes; one that has ended stays as it is."""
    server.store.job(run, "run")
    server.queue.cancel(run)
    return show(server, run)


@router.put("/runs/{run}/label")
def label(server: TheServer, run: RunId, label: Label) -> Run:
    """Give a run a name of its own and a note; its report keeps its title."""
    server.store.job(run, "run")
    server.store.label(run, name=label.name or None, note=label.note or None)
    return show(server, run)


@router.post("/runs/{run}/again", status_code=202)
def again(server: TheServer, run: RunId) -> Run:
    """Start a run once more, with the same plan on the same file."""
    row = server.store.job(run, "run")
    (job,) = server.store.add_jobs("run", row["dataset"], [(row["title"], row["task"])])
    server.queue.wake()
    return show(server, job)


@router.delete("/runs/{run}", status_code=204, response_class=Response)
def delete(server: TheServer, run: RunId) -> Response:
    """Delete a run with its results, from the store and from the disk."""
    server.store.job(run, "run")
    server.store.delete_run(run, server.queue.end_workers)
    return Response(status_code=204)


def _shown(row: Row) -> Run:
    """Return a run as the interface shows it."""
    verdict = (row["answer"] or {}).get("verdict")
    titled = row["task"].get("plan", {}).get("report", {}).get("title") or row["title"]
    told = {"progress": Progress(**row), "verdict": verdict, "report_title": titled}
    return Run(**{**row, **told})
