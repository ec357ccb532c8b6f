"""Shows steps 2 and 3: which releases, which adversary, which limits; then the start."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from starlette.datastructures import FormData
from starlette.responses import Response

from indiff.audit.plan import options
from indiff.data.reading.first_rows import first_rows
from indiff.data.reading.input_files import format_of
from indiff.errors import UserError, option
from indiff.web.api import datasets as data_api
from indiff.web.api import runs as api
from indiff.web.api.choices import GROUPS, PRESETS, sanitizers_of, sorted_out
from indiff.web.api.common import ID, DatasetId, ReleaseId, RunId, Server, TheServer
from indiff.web.api.models import AdversaryChoice, Context, ReleaseChoice, RunRequest
from indiff.web.api.planning import ASKED_LAST, DEFAULT, check_version, plans
from indiff.web.api.uploaded import UploadedRelease
from indiff.web.pages.common import checked, chosen, fields, go, page, sent_file, text, texts
from indiff.web.pages.data import AT_ONCE
from indiff.web.refusals import VALUES, limit_label, status_of
from indiff.web.store.rows import Row
from indiff.web.store.store import UNFINISHED

router = APIRouter(prefix="/data/{dataset}", include_in_schema=False)
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
# Asked for one below the other, in this order, beside what has a place of its own.
MORE = ("title", "targets", "runs", "confidence", "worst", "min_cell", "task", "seed")
TICKS = ("membership", "joint", "show_values")
# Of the report's context: what has a place of its own above the others.
ASKED_APART = ("policy", "confirmed", "confirmed_by")
# What an empty field of the report's context shows as an example.
EXAMPLES = {
    "data_period": "2019 to 2024",
    "limits_by": "the data protection officer, after the guideline of the house",
    "review_by": "2027-12-31",
    "confidentiality": "confidential",
}


def draft_of(server: Server, dataset: str) -> dict[str, Any]:
    """Return what was filled in so far."""
    row = server.store.dataset(dataset)
    return {**DEFAULT, **row["draft"]}


def filled(draft: dict[str, Any]) -> dict[str, Any]:
    """Return every field of the form: what was chosen, else what the page suggests."""
    whole: dict[str, Any] = RunRequest(releases=[ReleaseChoice(sanitizer="identity")]).model_dump()
    adversary = {**whole["adversary"], **draft.get("adversary", {})}
    context = {**whole["context"], **draft.get("context", {})}
    filled_in = {"adversary": adversary, "context": context}
    return {**whole, "limits": SUGGESTED, **draft, **filled_in}


def requested(server: Server, dataset: str, draft: dict[str, Any]) -> RunRequest:
    """Read a draft as the interface reads a request; refuse what no plan can be made of."""
    if not draft["releases"]:
        raise UserError("at least one release is needed; none was chosen", way_out="Choose one")
    wanted = checked(RunRequest, draft)
    plans(server.store, server.store.dataset(dataset), wanted)
    for choice in wanted.releases:
        if choice.file is not None:
            _check_file(server, dataset, wanted, choice)
    return wanted


def _check_file(server: Server, dataset: str, wanted: RunRequest, choice: ReleaseChoice) -> None:
    """Look at a release made elsewhere, and refuse one that cannot be read."""
    row = server.store.dataset(dataset)
    release = server.store.release(dataset, str(choice.file))
    ((_, plan),) = plans(server.store, row, wanted.model_copy(update={"releases": [choice]}))
    data_api.check_release(server, release, plan)
    if data_api.shown_release(server, release).problem is not None:
        raise UserError(
            f"the release {release['name']!r} cannot be read as it is",
            way_out=f"See what it says there: {option('file')}",
            field="file",
        )


def looked_at(
    server: Server, dataset: str, draft: dict[str, Any]
) -> tuple[list[UploadedRelease], UserError | None]:
    """Return every release made elsewhere as it was looked at, and why one cannot be."""
    problem = None
    said = {one["file"]: one for one in draft["releases"] if one.get("file")}
    for row in server.store.releases(dataset):
        choice = said.get(row["id"], {"file": row["id"]})
        try:
            wanted = checked(RunRequest, {**draft, "releases": [choice]})
            ((_, plan),) = plans(server.store, server.store.dataset(dataset), wanted)
            data_api.check_release(server, row, plan)
        except UserError as error:
            problem = error
    return data_api.releases(server, dataset), problem


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
    typed: tuple[dict[str, str], list[str]] | None = None,
) -> Response:
    picked = draft["releases"]
    uploaded, unread = looked_at(server, dataset, draft)
    made = (one["sanitizer"] for one in picked if one.get("sanitizer"))
    values, others = sorted_out(made) if typed is None else typed
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
        most=AT_ONCE,
        commands=sorted(server.settings.commands),
        files={one["file"]: one for one in picked if one.get("file")},
        uploaded=uploaded,
        looking=any(one.state in UNFINISHED for one in uploaded),
        problem=problem or unread,
    )


@router.get("/release/state")
def state(request: Request, server: TheServer, dataset: DatasetId) -> Response:
    """Show the page again once every release was looked at, to a page that waits."""
    draft = draft_of(server, dataset)
    if any(one.state in UNFINISHED for one in looked_at(server, dataset, draft)[0]):
        return Response(status_code=204)
    return _release_page(request, server, dataset, draft)


@router.post("/release/file")
async def read_file(request: Request, server: TheServer, dataset: DatasetId) -> Response:
    """Keep what was filled in, and look at the releases made elsewhere again."""
    form = await fields(request)
    draft = {**draft_of(server, dataset), "releases": _picked(form)[0]}
    try:
        checked(RunRequest, draft)
    except UserError as error:
        return _release_page(request, server, dataset, draft, error, _picked(form)[1])
    server.store.set_draft(dataset, draft)
    return go(f"/data/{dataset}/release#h-made")


def _picked(form: FormData) -> tuple[list[dict[str, Any]], tuple[dict[str, str], list[str]]]:
    """Return the releases that a form asks for, and what was typed beside ticks and as lines."""
    given = {preset.name: text(form, f"value-{preset.name}") for preset in PRESETS}
    lines = [line.strip() for value in texts(form, "sanitizer") for line in value.splitlines()]
    presets, lines = texts(form, "preset"), list(filter(None, lines))
    sanitizers = [*sanitizers_of(presets, given), *lines]
    picked: list[dict[str, Any]] = [
        *({"sanitizer": one} for one in dict.fromkeys(sanitizers)),
        *({"file": one, **chosen(form, ReleaseChoice, f"-{one}")} for one in texts(form, "file")),
        *({"command": one} for one in texts(form, "command")),
    ]
    return picked, ({name: one for name, one in given.items() if name in presets}, lines)


@router.post("/release")
async def choose(request: Request, server: TheServer, dataset: DatasetId) -> Response:
    """Keep the chosen releases: picked ones, and sanitizers written one per line."""
    picked, typed = _picked(await fields(request))
    draft = {**draft_of(server, dataset), "releases": picked}
    try:
        _check_values(typed[0])
        requested(server, dataset, draft)
    except UserError as error:
        return _release_page(request, server, dataset, draft, error, typed)
    server.store.set_draft(dataset, draft)
    return go(f"/data/{dataset}/adversary")


def _check_values(given: dict[str, str]) -> None:
    """Refuse a value that its sanitizer does not take, by the field where it was typed."""
    from indiff.sanitizers.sanitizer import as_sanitizer

    for name in given:
        for made in sanitizers_of([name], given):
            try:
                as_sanitizer(made)
            except UserError as error:
                field = f"value-{name}"
                raise UserError(error.rule, error.got, error.way_out, field=field) from None


@router.post("/release/upload")
async def upload(request: Request, server: TheServer, dataset: DatasetId) -> Response:
    """Receive a release that was made elsewhere."""
    limit = server.settings.max_upload
    _, path = await sent_file(
        request, limit, lambda _, name: data_api.release_path(server, dataset, name)
    )
    added = data_api.add_release(server, dataset, path)
    row = server.store.dataset(dataset)
    # What the page suggests was not chosen: whoever brings a release of his own has no need of it.
    picked = [*row["draft"].get("releases", ()), {"file": added.id, **_encoding(row, path)}]
    server.store.set_draft(dataset, {**row["draft"], "releases": picked})
    return go(f"/data/{dataset}/release")


def _encoding(dataset: Row, path: Path) -> dict[str, str]:
    """Take the table's encoding for a release whose letters do not fit UTF-8."""
    own = dataset["reading"]["encoding"]
    fits = own is None or format_of(path) != "text" or not first_rows(path).guessed
    return {} if fits else {"encoding": own}


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
    draft, problem = draft_of(server, dataset), None
    try:
        requested(server, dataset, draft)
    except UserError as error:
        problem = error
    return _adversary_page(request, server, dataset, draft, problem, estimate)


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
    policies = {one["name"]: "{name}: {title}".format_map(one) for one in choices.policies}
    return page(
        request,
        "adversary.html",
        dataset=data_api.show(server, dataset),
        quasi=_quasi(server, dataset),
        most_known=AT_ONCE,
        more=MORE,
        ticks=TICKS,
        told=[name for name in options.Context.__annotations__ if name not in ASKED_APART],
        examples=EXAMPLES,
        option_values={**VALUES, "policy": {"": "none", **policies}},
        wanted=filled(draft),
        choices=choices,
        limits=[(name, rules[name], sentence) for name, sentence in SHOWN_LIMITS.items()],
        limit_label=limit_label,
        more_limits=[one for one in choices.limits if one["name"] not in SHOWN_LIMITS],
        releases=[_named(server, dataset, one) for one in draft["releases"]],
        estimate=estimate and api.show_estimate(server, estimate),
        problem=problem,
        status=200 if problem is None or request.method == "GET" else status_of(problem),
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
    draft = draft_of(server, dataset)
    draft = {name: one for name, one in draft.items() if name not in ASKED_LAST}
    try:
        draft |= _chosen(form, _quasi(server, dataset))
        check_version(server.store, server.store.dataset(dataset), text(form, "version") or None)
        _check_ticks(draft["adversary"])
        requested(server, dataset, draft)
    except UserError as error:
        return _adversary_page(request, server, dataset, draft, error)
    wanted = checked(RunRequest, draft)
    server.store.set_draft(dataset, wanted.model_dump(exclude_unset=True))
    if text(form, "action") == "estimate":
        made = api.estimate(server, dataset, wanted)
        return go(f"/data/{dataset}/adversary?estimate={made.id}")
    if text(form, "action") == "start":
        runs = api.start(server, dataset, wanted)
        return go(f"/batches/{runs[0].batch}")
    return go(f"/data/{dataset}/adversary")


@router.post("/estimates/{estimate}/cancel")
def leave(server: TheServer, dataset: DatasetId, estimate: RunId) -> Response:
    """Give an estimate up: the page that waited for it was left."""
    api.cancel_estimate(server, estimate)
    return Response(status_code=204)


def _check_ticks(adversary: dict[str, Any]) -> None:
    """Refuse to run what the page does not show: without a tick there is nobody to ask."""
    rule = "at least one {} must be ticked; none is"
    if not adversary["models"]:
        raise UserError(rule.format("model"), way_out="Tick one", field="models")
    if adversary["known"] == []:
        what, most = "column that the adversary knows", "Tick one; all of them is the worst case"
        raise UserError(rule.format(what), way_out=most, field="known")


def _chosen(form: FormData, quasi: list[str]) -> dict[str, Any]:
    """Read the form: what was left empty keeps its default."""
    known = [name for place, name in enumerate(quasi) if str(place) in texts(form, "known")]
    adversary = {
        **chosen(form, AdversaryChoice),
        "models": texts(form, "models"),
        "known": known if text(form, "asks_known") and known != quasi else None,
    }
    limits = {
        name.removeprefix("limit-"): text(form, name).replace(",", ".")
        for name in form
        if name.startswith("limit-") and text(form, name)
    }
    context = chosen(form, Context)
    # Those of a policy that is no longer chosen are ticked for nothing.
    points = (one.partition(":") for one in texts(form, "confirmed"))
    context["confirmed"] = [name for of, _, name in points if of == context.get("policy")]
    return {
        **chosen(form, RunRequest),
        "adversary": adversary,
        "context": context,
        "limits": limits,
    }
