"""Offers what to do next as buttons: settings filled in, or outliers removed."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from fastapi import APIRouter, Request
from starlette.responses import Response

from indiff.audit.plan.values.settings import expand
from indiff.errors import UserError
from indiff.web.api import results
from indiff.web.api import runs as api
from indiff.web.api.again import request_of
from indiff.web.api.choices import PLAIN, PRESETS, plainly
from indiff.web.api.common import RunId, TheServer
from indiff.web.api.models import AdversaryChoice, Fixing, RunRequest
from indiff.web.pages.common import checked, fields, go, text
from indiff.web.refusals import FIELDS, VALUES

router = APIRouter(include_in_schema=False)
Document = Mapping[str, Any]


def _field_of(found: re.Match[str]) -> str:
    """Name an option of a report's sentence by the page's field for it, with the value if one is.

    >>> _OPTION.sub(_field_of, "Give the option “missing” (--missing drop).")
    'Give “Records with a blank”: leave them out.'
    >>> _OPTION.sub(_field_of, "or pass the option “unmet” (unmet=generalize in --sanitizer)")
    "or write “unmet=generalize” in the sanitizer's text"
    """
    name, typed = found["name"].replace(" ", "_"), found["typed"]
    inside = re.fullmatch(r"(\S+) in --sanitizer", typed)
    if inside is not None:
        return f"write “{inside[1]}” in {FIELDS['sanitizer'].label}"
    if name not in FIELDS:
        return found[0]
    value = typed.partition(" ")[2]
    told = f": {VALUES.get(name, {}).get(value, value)}" if value else ""
    first = (found["verb"] or "").replace("pass", "give").replace("Pass", "Give")
    return f"{first}“{FIELDS[name].label}”{told}"


_OPTION = re.compile(
    r"(?P<verb>\b(?:[Gg]ive|[Pp]ass) )?the option “(?P<name>[^”]+)” \((?P<typed>[^()]*)\)"
)
# What the command line calls the fields of this page.
_HERE: tuple[tuple[re.Pattern[str], str | Callable[[re.Match[str]], str]], ...] = (
    (_OPTION, _field_of),
    (re.compile(r"--fix( delta=\S+)?"), "“Remove outliers”"),
    (re.compile(r"--budget"), "“At most so many records”"),
    (re.compile(r"confirm '[^']*' in the plan"), "answer the open points and tick it"),
    (re.compile(r"the plan's context does not say"), "not filled in before the start"),
    (
        re.compile(r", with encoding (\S+?)(?=[,.;]?( |$))"),
        r", who read columns the usual way (\1)",
    ),
    (re.compile(r"(?<=limit) of the plan\b"), ""),
    (re.compile(r"^The plan sets no limit\b"), "No limit was set"),
    (re.compile(r"\bthe plan\b"), "what was chosen"),
    (re.compile(r"^The plan\b"), "What was chosen"),
    (
        re.compile(rf"(?<![\w(])(?:{'|'.join(PLAIN)}):\w+=[\w.]+(?:,\w+=[\w.]+)*"),
        lambda found: plainly(found[0]),
    ),
)
_NOISE = {preset.sanitizer for preset in PRESETS if preset.group == "noise"}


def shown_steps(document: Document) -> list[dict[str, Any]]:
    """Return the next steps in the page's words, each with its place and what its button does.

    >>> step = {"kind": "fix", "text": "Try --fix delta=0.4 now.", "options": {"fix": "delta=0.4"}}
    >>> [(one["text"], one["button"]) for one in shown_steps({"next_steps": [step]})]
    [('Try “Remove outliers” now.', 'fix')]
    """
    return [
        {"text": in_page_words(one["text"]), "place": place, "button": _button(one)}
        for place, one in enumerate(document.get("next_steps") or [])
    ]


def in_page_words(sentence: str) -> str:
    """Say a sentence of a report, which knows a plan and a command line, as this page calls things.

    >>> in_page_words("mondrian:k=10 keeps k at least 10, with 20 groups; the plan has no other.")
    'groups of similar people (mondrian:k=10) keeps k at least 10, with 20 groups; what was chosen \
has no other.'
    """
    for theirs, ours in _HERE:
        sentence = theirs.sub(ours, sentence)
    return sentence


def told_here(findings: Iterable[Document]) -> list[dict[str, Any]]:
    """Return findings with the page's words for why something was not measured."""
    return [{**one, "reason": one["reason"] and in_page_words(one["reason"])} for one in findings]


def _button(step: Mapping[str, Any]) -> str | None:
    """Tell what a step's button does: fill forms in, remove outliers, show columns, nothing."""
    options = step["options"]
    if "fix" in options and {"fix", "budget", "sanitizer"}.issuperset(options):
        return "fix"
    if step["kind"] == "coarsen":
        return "columns"
    known = {"sanitizer", "parameter", *RunRequest.model_fields, *AdversaryChoice.model_fields}
    return "fill" if options and known.issuperset(options) else None


def can_be_fixed(document: Document) -> bool:
    """Tell whether outliers can be removed: the release is made here, again and again."""
    plan = document["plan"]
    measured = any(
        one["metric"] == "delta" and one["status"] == "measured" for one in document["findings"]
    )
    made = str(plan["release"]["sanitizer"]).partition(":")[0]
    whole = plan["adversary"]["targets"] is None and len(plan["data"]["sensitive"]) == 1
    return measured and whole and plan["release"]["file"] is None and made not in _NOISE


@router.post("/runs/{run}/next")
async def fill(request: Request, server: TheServer, run: RunId) -> Response:
    """Fill the forms with a run's settings and what a next step changes of them.

    One that removes outliers says all that is needed: it starts at once.
    """
    place = text(await fields(request), "step")
    steps = results.document_of(server, run).get("next_steps") or []
    if not place.isdecimal() or int(place) >= len(steps):
        raise UserError("there is no such next step; go back to the result.")
    if _button(steps[int(place)]) == "fix":
        wanted = dict(steps[int(place)]["options"])
        wanted["delta"] = wanted.pop("fix").removeprefix("delta=")
        return go(f"/batches/{api.fix(server, run, checked(Fixing, wanted)).batch}")
    row = server.store.job(run, "run")
    draft = request_of(server.store, row)
    for name, value in steps[int(place)]["options"].items():
        if name == "sanitizer":
            draft["releases"] = [{"sanitizer": value}]
        elif name == "parameter":
            draft["releases"] = [{"sanitizer": one.text} for one in expand(value)]
        elif name in AdversaryChoice.model_fields:
            draft["adversary"][name] = value
        elif name in RunRequest.model_fields:
            draft[name] = value
    server.store.set_draft(row["dataset"], draft)
    return go(f"/data/{row['dataset']}/adversary#h-start")


@router.post("/runs/{run}/fix")
async def fix(request: Request, server: TheServer, run: RunId) -> Response:
    """Remove outliers, and audit what is left."""
    form = await fields(request)
    given = {name: text(form, name).replace(",", ".") for name in ("delta", "budget")}
    wanted = checked(Fixing, {name: value for name, value in given.items() if value})
    return go(f"/batches/{api.fix(server, run, wanted).batch}")
