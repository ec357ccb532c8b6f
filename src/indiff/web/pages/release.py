"""Steps 2 and 3: which releases, which adversary, which limits; then the start."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from pydantic import ValidationError
from starlette.datastructures import FormData
from starlette.responses import Response

from indiff.errors import UserError
from indiff.web.api import datasets as data_api
from indiff.web.api import runs as api
from indiff.web.api.common import ID, DatasetId, ReleaseId, Server, TheServer
from indiff.web.api.models import ReleaseChoice, RunRequest
from indiff.web.api.planning import plans
from indiff.web.pages.columns import AT_ONCE
from indiff.web.pages.common import check_csrf, fields, go, page, text, texts
from indiff.web.pages.presets import GROUPS, PRESETS, picked, sorted_out
from indiff.web.store.uploads import Incoming, check_declared, receive_form

router = APIRouter(prefix="/data/{dataset}", include_in_schema=False)
DEFAULT = {"releases": [{"sanitizer": "mondrian:k=5"}]}
# What the page suggests; whoever empties a field goes without that limit.
SUGGESTED = {"delta": 0.1, "k": 5.0}
SHOWN_LIMITS = {
    "delta": "The differential test's δ: how far one person's own record moves a belief at most.",
    "mean": "The same for the average record instead of the most exposed one.",
    "k": "The smallest group of records that look alike.",
    "l": "In every group, no sensitive value may hold more than 1/ℓ of the records.",
    "t": "How far a group's sensitive values may lie from the whole table's.",
    "itpr": "From 0 to 1: how far the published columns narrow down who or what a record is.",
}
WHOLE = ("targets", "runs", "min_cell", "worst", "seed")


def draft_of(server: Server, dataset: str) -> dict[str, Any]:
    """Return what was filled in so far."""
    row = server.store.dataset(dataset)
    return {**DEFAULT, **row["draft"]}


def filled(draft: dict[str, Any]) -> dict[str, Any]:
    """Return every field of the form: what was chosen, else what the page suggests."""
    whole: dict[str, Any] = RunRequest(releases=[ReleaseChoice(sanitizer="identity")]).model_dump()
    adversary = {**whole["adversary"], **draft.get("adversary", {})}
    return {**whole, "limits": SUGGESTED, **draft, "adversary": adversary}


@router.get("/release")
def release(request: Request, server: TheServer, dataset: DatasetId) -> Response:
    """Offer sanitizers, uploaded releases and named commands."""
    return _release_page(request, server, dataset, draft_of(server, dataset))


def _release_page(
    request: Request,
    server: Server,
    dataset: str,
    draft: dict[str, Any],
    problem: str | None = None,
) -> Response:
    sanitizers = [one["sanitizer"] for one in draft["releases"] if one.get("sanitizer")]
    values, others = sorted_out(sanitizers)
    return page(
        request,
        "release.html",
        status=200 if problem is None else 422,
        dataset=data_api.shown(server, server.store.dataset(dataset)),
        draft=draft,
        presets=PRESETS,
        groups=GROUPS,
        values=values,
        others=others,
        commands=sorted(server.settings.commands),
        files={
            one["file"]: one.get("rows_in_order", False)
            for one in draft["releases"]
            if one.get("file")
        },
        uploaded=data_api.releases(server, dataset),
        problem=problem,
    )


@router.post("/release")
async def choose(request: Request, server: TheServer, dataset: DatasetId) -> Response:
    """Keep the chosen releases: picked ones, and sanitizers written one per line."""
    form = await fields(request)
    given = {preset.name: text(form, f"value-{preset.name}") for preset in PRESETS}
    lines = [line.strip() for value in texts(form, "sanitizer") for line in value.splitlines()]
    sanitizers = [*picked(texts(form, "preset"), given), *filter(None, lines)]
    chosen: list[dict[str, Any]] = [{"sanitizer": one} for one in dict.fromkeys(sanitizers)]
    in_order = texts(form, "in_order")
    chosen += [{"file": value, "rows_in_order": value in in_order} for value in texts(form, "file")]
    chosen += [{"command": value} for value in texts(form, "command")]
    draft = {**draft_of(server, dataset), "releases": chosen}
    try:
        if not chosen:
            raise UserError("at least one release is needed; none was chosen", way_out="Choose one")
        plans(server.store, server.store.dataset(dataset), as_request(draft))
    except UserError as error:
        return _release_page(request, server, dataset, draft, str(error))
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
        raise UserError("a file is needed; none was chosen", way_out="Go back and choose one")
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
    request: Request,
    server: TheServer,
    dataset: DatasetId,
    estimate: Annotated[str | None, Query(pattern=ID)] = None,
) -> Response:
    """Offer the adversary's models, the distance and the limits."""
    draft = draft_of(server, dataset)
    problem = None
    try:
        plans(server.store, server.store.dataset(dataset), as_request(draft))
    except UserError as error:
        problem = str(error)
    return _adversary_page(request, server, dataset, draft, problem, estimate)


def _adversary_page(
    request: Request,
    server: Server,
    dataset: str,
    draft: dict[str, Any],
    problem: str | None,
    estimate: str | None = None,
) -> Response:
    choices = api.what_can_be_chosen(server)
    rules = {one["name"]: one["rule"] for one in choices.limits}
    return page(
        request,
        "adversary.html",
        dataset=data_api.shown(server, server.store.dataset(dataset)),
        quasi=_quasi(server, dataset),
        most_known=AT_ONCE,
        wanted=filled(draft),
        choices=choices,
        limits=[(name, rules[name], sentence) for name, sentence in SHOWN_LIMITS.items()],
        more_limits=[one for one in choices.limits if one["name"] not in SHOWN_LIMITS],
        releases=[_named(server, dataset, one) for one in draft["releases"]],
        estimate=None
        if estimate is None
        else api.estimated(server.store.job(estimate, "estimate")),
        problem=problem,
        status=200 if problem is None or request.method == "GET" else 422,
    )


def _quasi(server: Server, dataset: str) -> list[str]:
    columns = server.store.columns(dataset)
    return [column["name"] for column in columns if column["role"] == "quasi"]


def _named(server: Server, dataset: str, choice: dict[str, Any]) -> str:
    if choice.get("file"):
        return str(server.store.release(dataset, choice["file"])["name"])
    return str(choice.get("sanitizer") or choice["command"])


@router.post("/adversary")
async def start(request: Request, server: TheServer, dataset: DatasetId) -> Response:
    """Keep the choices; then estimate, or start."""
    form = await fields(request)
    draft = {"releases": draft_of(server, dataset)["releases"]}
    try:
        draft |= _chosen(form, _quasi(server, dataset))
        wanted = as_request(draft)
        plans(server.store, server.store.dataset(dataset), wanted)
    except UserError as error:
        return _adversary_page(request, server, dataset, draft, str(error))
    server.store.set_draft(dataset, draft)
    if text(form, "action") == "estimate":
        made = api.estimate(server, dataset, wanted)
        return go(f"/data/{dataset}/adversary?estimate={made.id}")
    if text(form, "action") == "start":
        runs = api.start(server, dataset, wanted)
        return go(f"/batches/{runs[0].batch}")
    return go(f"/data/{dataset}/adversary")


def _chosen(form: FormData, quasi: list[str]) -> dict[str, Any]:
    """Read the form: what was left empty keeps its default."""
    adversary: dict[str, Any] = {
        "models": texts(form, "models") or ["auto"],
        "distance": text(form, "distance") or "wasserstein",
        "membership": bool(text(form, "membership")),
    }
    known = [name for place, name in enumerate(quasi) if str(place) in texts(form, "known")]
    if known and known != quasi:
        adversary["known"] = known
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
        raise UserError(f"{name} is a number", f"{given!r}") from None
    return value


def as_request(draft: dict[str, Any]) -> RunRequest:
    """Read a draft as the interface reads a request."""
    try:
        return RunRequest(**draft)
    except ValidationError as error:
        first = error.errors()[0]
        raise UserError(f"{' '.join(map(str, first['loc']))}: {first['msg']}.") from None
