"""Serves runs: estimated, started one or several at a time, followed, cancelled, deleted."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request, Response
from fastapi.responses import StreamingResponse

from indiff.audit.plan.fixing import with_limit
from indiff.audit.plan.plan import Plan
from indiff.web.api import choices
from indiff.web.api.common import ERRORS, ID, BatchId, DatasetId, RunId, Server, TheServer
from indiff.web.api.models import (
    Choices,
    Estimate,
    Event,
    Fixing,
    Label,
    Progress,
    ReleaseChoice,
    Run,
    RunRequest,
)
from indiff.web.api.planning import check_version, plans, release_section
from indiff.web.jobs.estimating import LEAST_BUDGET, budget_of
from indiff.web.jobs.guessing import answer, guess_all
from indiff.web.refusals import NotFoundError
from indiff.web.store.rows import Row
from indiff.web.store.store import UNFINISHED

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
        policies=choices.policies(),
    )


@router.post("/datasets/{dataset}/estimates", status_code=202)
def estimate(server: TheServer, dataset: DatasetId, request: RunRequest) -> Estimate:
    """Tell how long the runs will take; where a few records are tried for it, poll the answer.

    An earlier estimate of the same dataset that is still under way ends.
    """
    plans = [task["plan"] for _, task in _tasks(server, dataset, request)]
    _end_estimates(server, dataset)
    (job,) = server.store.add_jobs("estimate", dataset, [("estimate", {"plans": plans})])
    row, store = server.store.dataset(dataset), server.store
    records = row["profile"]["records"]
    if budget_of(plans, records, store.settings.workers) < LEAST_BUDGET:
        attempt = store.begin(job)
        if attempt is not None:  # not yet taken by a worker, who would come to the same
            found = guess_all(store, row, plans)
            store.finish(job, attempt, answer=answer(found, len(plans), records))
    server.queue.wake()
    return show_estimate(server, job)


@router.post("/estimates/{estimate}/cancel")
def cancel_estimate(server: TheServer, estimate: RunId) -> Estimate:
    """Give an estimate up for which nobody waits any more."""
    server.store.job(estimate, "estimate")
    server.queue.cancel(estimate)
    return show_estimate(server, estimate)


def _end_estimates(server: Server, dataset: str) -> None:
    for job in server.store.jobs(kind="estimate", dataset=dataset):
        if job["state"] in UNFINISHED:
            server.queue.cancel(job["id"])


@router.get("/estimates/{estimate}")
def show_estimate(server: TheServer, estimate: RunId) -> Estimate:
    """Return an estimate; its state says whether it is there yet."""
    row = server.store.job(estimate, "estimate")
    open = dict.fromkeys(("seconds", "low", "high", "sentence"))
    return Estimate(**{**open, **row, **(row["answer"] or {})})


@router.post("/datasets/{dataset}/runs", status_code=202)
def start(server: TheServer, dataset: DatasetId, request: RunRequest) -> list[Run]:
    """Start one run for each release; they share a batch. An estimate under way ends."""
    _end_estimates(server, dataset)
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


@router.post("/runs/{run}/fix", status_code=202)
def fix(server: TheServer, run: RunId, fixing: Fixing) -> Run:
    """Remove outliers until δ is at most a limit, and audit what is left, as a run of its own."""
    row = server.store.job(run, "run")
    sections, earlier = dict(row["task"]["plan"]), row["task"].get("fix")
    before = f"{choices.FIXED}{earlier['delta']:g}" if earlier else ""
    made, title = row["title"].removesuffix(before), sections["report"]["title"]
    title = title.removesuffix(before)
    if fixing.sanitizer is not None:
        own, table = choices.plainly(made), server.store.dataset(row["dataset"])
        choice = ReleaseChoice(sanitizer=fixing.sanitizer)
        made, sections["release"] = release_section(server.store, table, choice)
        title = f"{title.removesuffix(f': {own}')}: {choices.plainly(made)}"
    plan = with_limit(Plan(**sections), fixing.delta).model_dump(exclude_none=True)
    asked = f"{choices.FIXED}{fixing.delta:g}"
    plan["report"]["title"] = title + asked
    task = {"plan": plan, "fix": fixing.model_dump(include={"delta", "budget"})}
    (job,) = server.store.add_jobs("run", row["dataset"], [(made + asked, task)])
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
    answer = row["answer"] or {}
    titled = row["task"].get("plan", {}).get("report", {}).get("title") or row["title"]
    told = {"progress": Progress(**row), "report_title": titled}
    return Run(**{**row, **told, **{name: answer.get(name) for name in ("verdict", "fix")}})
