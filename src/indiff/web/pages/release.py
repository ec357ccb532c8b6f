"""Steps 2 and 3: which releases, which adversary, which limits; then the start."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request
from pydantic import ValidationError
from starlette.datastructures import FormData
from starlette.responses import Response

from indiff.errors import UserError
from indiff.web.api import datasets as data_api
from indiff.web.api import runs as api
from indiff.web.api.common import DatasetId, ReleaseId, Server, TheServer
from indiff.web.models import RunRequest
from indiff.web.pages.common import check_csrf, fields, go, page, text, texts
from indiff.web.planning import plans
from indiff.web.uploads import Incoming, check_declared, receive_form

router = APIRouter(prefix="/data/{dataset}", include_in_schema=False)
DEFAULT = {"releases": [{"sanitizer": "mondrian:k=5"}]}
WHOLE = ("targets", "runs", "min_cell", "worst", "seed")


def draft_of(server: Server, dataset: str) -> dict[str, Any]:
    """Return what was filled in so far."""
    row = server.store.dataset(dataset)
    return {**DEFAULT, **row["draft"]}


@router.get("/release")
def release(request: Request, server: TheServer, dataset: DatasetId) -> Response:
    """Offer sanitizers, uploaded releases and named commands."""
    return page(
        request,
        "release.html",
        dataset=data_api.shown(server, server.store.dataset(dataset)),
        draft=draft_of(server, dataset),
        choices=api.what_can_be_chosen(server),
        uploaded=data_api.releases(server, dataset),
    )


@router.post("/release")
async def choose(request: Request, server: TheServer, dataset: DatasetId) -> Response:
    """Keep the chosen releases; sanitizers are written one per line."""
    form = await fields(request)
    chosen: list[dict[str, str]] = [
        {"sanitizer": line.strip()}
        for value in texts(form, "sanitizer")
        for line in value.splitlines()
        if line.strip()
    ]
    chosen += [{"file": value} for value in texts(form, "file")]
    chosen += [{"command": value} for value in texts(form, "command")]
    if not chosen:
        raise UserError("at least one release is needed; none was chosen. Go back and choose.")
    draft = {**draft_of(server, dataset), "releases": chosen}
    plans(server.store, server.store.dataset(dataset), as_request(draft))
    server.store.set_draft(dataset, draft)
    return go(f"/data/{dataset}/adversary")


@router.post("/release/upload")
async def upload(request: Request, server: TheServer, dataset: DatasetId) -> Response:
    """Receive a release that was made elsewhere."""
    server.store.dataset(dataset)
    check_declared(request.headers, server.settings.max_upload)
    release = ""

    def open_file(name: str, _: dict[str, str]) -> Incoming:
        nonlocal release
        release, incoming = data_api.release_file(server, dataset, name)
        return incoming

    incoming, _ = await receive_form(
        request.stream(),
        request.headers.get("content-type", ""),
        lambda given: check_csrf(request, given),
        open_file,
    )
    if incoming is None:
        raise UserError("a file is needed; none was chosen. Go back and choose one.")
    try:
        incoming.keep()
    except BaseException:
        incoming.drop()
        raise
    data_api.add_release(server, dataset, release, incoming)
    draft = draft_of(server, dataset)
    server.store.set_draft(dataset, {**draft, "releases": [*draft["releases"], {"file": release}]})
    return go(f"/data/{dataset}/release")


@router.post("/release/{release}/delete")
def delete(server: TheServer, dataset: DatasetId, release: ReleaseId) -> Response:
    """Delete an uploaded release."""
    data_api.delete_release(server, dataset, release)
    draft = draft_of(server, dataset)
    kept = [one for one in draft["releases"] if one.get("file") != release]
    server.store.set_draft(dataset, {**draft, "releases": kept or DEFAULT["releases"]})
    return go(f"/data/{dataset}/release")


@router.get("/adversary")
def adversary(
    request: Request, server: TheServer, dataset: DatasetId, estimate: str | None = None
) -> Response:
    """Offer the adversary's models, the distance and the limits."""
    found = None
    if estimate is not None:
        found = api.estimated(server.store.job(estimate, "estimate"))
    return page(
        request,
        "adversary.html",
        dataset=data_api.shown(server, server.store.dataset(dataset)),
        wanted=as_request(draft_of(server, dataset)),
        choices=api.what_can_be_chosen(server),
        estimate=found,
    )


@router.post("/adversary")
async def start(request: Request, server: TheServer, dataset: DatasetId) -> Response:
    """Keep the choices; then estimate, or start."""
    form = await fields(request)
    draft = {**draft_of(server, dataset), **_chosen(form)}
    wanted = as_request(draft)
    plans(server.store, server.store.dataset(dataset), wanted)
    server.store.set_draft(dataset, draft)
    if text(form, "action") == "estimate":
        made = api.estimate(server, dataset, wanted)
        return go(f"/data/{dataset}/adversary?estimate={made.id}")
    if text(form, "action") == "start":
        runs = api.start(server, dataset, wanted)
        return go(f"/batches/{runs[0].batch}")
    return go(f"/data/{dataset}/adversary")


def _chosen(form: FormData) -> dict[str, Any]:
    """Read the form: what was left empty keeps its default."""
    adversary: dict[str, Any] = {
        "models": texts(form, "models") or ["auto"],
        "distance": text(form, "distance") or "wasserstein",
        "membership": bool(text(form, "membership")),
    }
    if texts(form, "known"):
        adversary["known"] = texts(form, "known")
    chosen: dict[str, Any] = {
        "adversary": adversary,
        "limits": {
            name.removeprefix("limit-"): _number(name, text(form, name))
            for name in form
            if name.startswith("limit-") and text(form, name)
        },
        "joint": bool(text(form, "joint")),
        "show_values": bool(text(form, "show_values")),
    }
    for name in ("title", "missing", "task"):
        if text(form, name):
            chosen[name] = text(form, name)
    for name in WHOLE:
        if text(form, name):
            value = int(_number(name, text(form, name)))
            (adversary if name in ("targets", "runs") else chosen)[name] = value
    if text(form, "confidence"):
        adversary["confidence"] = _number("confidence", text(form, "confidence"))
    chosen["bins"] = {
        name.removeprefix("bins-"): int(_number(name, text(form, name)))
        for name in form
        if name.startswith("bins-") and text(form, name)
    }
    return chosen


def _number(name: str, given: str) -> float:
    try:
        value = float(given.replace(",", "."))
        int(value)
    except (ValueError, OverflowError):
        raise UserError(f"{name} is a number; got {given!r}.") from None
    return value


def as_request(draft: dict[str, Any]) -> RunRequest:
    """Read a draft as the interface reads a request."""
    try:
        return RunRequest(**draft)
    except ValidationError as error:
        first = error.errors()[0]
        raise UserError(f"{' '.join(map(str, first['loc']))}: {first['msg']}.") from None
