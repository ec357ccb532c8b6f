"""Shows steps 2 and 3: which releases, which adversary, which limits; then the start."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from pydantic import ValidationError
from starlette.datastructures import FormData
from starlette.responses import Response

from indiff.errors import UserError
from indiff.web.api import datasets as data_api
from indiff.web.api import runs as api
from indiff.web.api.choices import GROUPS, PRESETS, picked, sorted_out
from indiff.web.api.common import ID, DatasetId, ReleaseId, Server, TheServer
from indiff.web.api.models import ReleaseChoice, RunRequest
from indiff.web.api.planning import plans
from indiff.web.pages.common import fields, go, one_file, page, text, texts
from indiff.web.pages.data import AT_ONCE
from indiff.web.refusals import FIELDS, as_error

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
OF_ADVERSARY = ("targets", "runs", "confidence")
WHOLE = ("targets", "runs", "min_cell", "worst", "seed")
NUMBERS = (*WHOLE, "confidence")


def draft_of(server: Server, dataset: str) -> dict[str, Any]:
    """Return what was filled in so far."""
    row = server.store.dataset(dataset)
    return {**DEFAULT, **row["draft"]}


def filled(draft: dict[str, Any]) -> dict[str, Any]:
    """Return every field of the form: what was chosen, else what the page suggests."""
    whole: dict[str, Any] = RunRequest(releases=[ReleaseChoice(sanitizer="identity")]).model_dump()
    adversary = {**whole["adversary"], **draft.get("adversary", {})}
    return {**whole, "limits": SUGGESTED, **draft, "adversary": adversary}


def checked(server: Server, dataset: str, draft: dict[str, Any]) -> RunRequest:
    """Read a draft as the interface reads a request; refuse what no plan can be made of."""
    if not draft["releases"]:
        raise UserError("at least one release is needed; none was chosen", way_out="Choose one")
    try:
        wanted = RunRequest(**draft)
    except ValidationError as error:
        raise as_error(error) from None
    plans(server.store, server.store.dataset(dataset), wanted)
    return wanted


@router.get("/release")
def release(request: Request, server: TheServer, dataset: DatasetId) -> Response:
    """Offer sanitizers, uploaded releases and named commands."""
    return _release_page(request, server, dataset, draft_of(server, dataset))


def _release_page(
    request: Request,
    server: Server,
    dataset: str,
    draft: dict[str, Any],
    problem: UserError | None = None,
) -> Response:
    chosen = draft["releases"]
    values, others = sorted_out(one["sanitizer"] for one in chosen if one.get("sanitizer"))
    return page(
        request,
        "release.html",
        status=200 if problem is None else 422,
        dataset=data_api.show(server, dataset),
        draft=draft,
        presets=PRESETS,
        groups=GROUPS,
        values=values,
        others=others,
        commands=sorted(server.settings.commands),
        files={one["file"]: one.get("rows_in_order", False) for one in chosen if one.get("file")},
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
    in_order = texts(form, "in_order")
    chosen: list[dict[str, Any]] = [
        *({"sanitizer": one} for one in dict.fromkeys(sanitizers)),
        *({"file": one, "rows_in_order": one in in_order} for one in texts(form, "file")),
        *({"command": one} for one in texts(form, "command")),
    ]
    draft = {**draft_of(server, dataset), "releases": chosen}
    try:
        checked(server, dataset, draft)
    except UserError as error:
        return _release_page(request, server, dataset, draft, error)
    server.store.set_draft(dataset, draft)
    return go(f"/data/{dataset}/adversary")


@router.post("/release/upload")
async def upload(request: Request, server: TheServer, dataset: DatasetId) -> Response:
    """Receive a release that was made elsewhere."""
    incoming = await one_file(
        request, lambda name, _: data_api.release_file(request, server, dataset, name)
    )
    added = data_api.add_release(server, dataset, incoming.path)
    draft = draft_of(server, dataset)
    server.store.set_draft(dataset, {**draft, "releases": [*draft["releases"], {"file": added.id}]})
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
    try:
        checked(server, dataset, draft)
    except UserError as error:
        return _adversary_page(request, server, dataset, draft, error, estimate)
    return _adversary_page(request, server, dataset, draft, None, estimate)


def _adversary_page(
    request: Request,
    server: Server,
    dataset: str,
    draft: dict[str, Any],
    problem: UserError | None,
    estimate: str | None = None,
) -> Response:
    choices = api.what_can_be_chosen(server)
    rules = {one["name"]: one["rule"] for one in choices.limits}
    return page(
        request,
        "adversary.html",
        dataset=data_api.show(server, dataset),
        quasi=_quasi(server, dataset),
        most_known=AT_ONCE,
        wanted=filled(draft),
        choices=choices,
        limits=[(name, rules[name], sentence) for name, sentence in SHOWN_LIMITS.items()],
        more_limits=[one for one in choices.limits if one["name"] not in SHOWN_LIMITS],
        releases=[_named(server, dataset, one) for one in draft["releases"]],
        estimate=estimate and api.show_estimate(server, estimate),
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
        wanted = checked(server, dataset, draft)
    except UserError as error:
        return _adversary_page(request, server, dataset, draft, error)
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
    known = [name for place, name in enumerate(quasi) if str(place) in texts(form, "known")]
    given = {name: text(form, name) for name in form if text(form, name)}
    numbers = {name: _number(name, given[name]) for name in NUMBERS if name in given}
    ticked = {name: name in given for name in ("membership", "joint", "show_values")}
    adversary: dict[str, Any] = {
        **{name: numbers.pop(name) for name in OF_ADVERSARY if name in numbers},
        "models": texts(form, "models") or ["auto"],
        "membership": ticked.pop("membership"),
    }
    if "distance" in given:
        adversary["distance"] = given["distance"]
    if known and known != quasi:
        adversary["known"] = known
    return {
        "adversary": adversary,
        "limits": {
            name.removeprefix("limit-"): _number(name, value)
            for name, value in given.items()
            if name.startswith("limit-")
        },
        **ticked,
        **numbers,
        **{name: given[name] for name in ("title", "missing", "task") if name in given},
    }


def _number(name: str, given: str) -> float | int:
    try:
        value = float(given.replace(",", "."))
        whole = int(value)
    except (ValueError, OverflowError):
        label = FIELDS[name].label if name in FIELDS else name
        raise UserError(f"{label} is a number", f"{given!r}", field=name) from None
    return whole if name in WHOLE else value
