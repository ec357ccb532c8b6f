"""Fills the plan from what a person chose: the same one that the command line reads."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from typing import Any

from indiff.audit.plan.limits import check_ranges, limit_names
from indiff.audit.plan.plan import Plan
from indiff.audit.plan.policies import preset_names
from indiff.audit.plan.recipe import sheet
from indiff.data.coding import MOST_SENSITIVE_NUMBERS
from indiff.data.schema import Kind, Role
from indiff.data.table import blanks_refused
from indiff.distances.functions import GROUNDS
from indiff.errors import UserError, option, unknown
from indiff.web.api.choices import BUILT_IN, plainly
from indiff.web.api.models import ReleaseChoice, RunRequest
from indiff.web.refusals import Refused
from indiff.web.store.rows import Row
from indiff.web.store.store import Store

QUANTILES = 4
DEFAULT = {"releases": [{"sanitizer": "mondrian:k=5"}]}
# What the form before the start sends as a whole; the rest of a draft was decided before.
ASKED_LAST = frozenset(RunRequest.model_fields) - {"releases", "missing", "bins"}
STALE = "this plan was changed in another tab or window since it was shown here"


def data_section(store: Store, dataset: Row) -> dict[str, Any]:
    """Describe a dataset as a plan does: its file, and what its columns are."""
    if dataset["profile"] is None:
        raise UserError(
            "a table is profiled before it is audited; this one is not yet", way_out="Wait"
        )
    columns = store.columns(dataset["id"])
    by_values = {column["name"]: column["kind"] for column in dataset["profile"]["columns"]}
    roles = {role: [c["name"] for c in columns if c["role"] == role] for role in Role}
    for role, what in ((Role.SENSITIVE, "sensitive column"), (Role.QUASI, "quasi-identifier")):
        if not roles[role]:
            rule = f"at least one {what} is needed; none has this role"
            raise UserError(rule, way_out=f"Choose one: {option(role)}", field=role)
    section: dict[str, Any] = {
        "path": dataset["path"],
        **{str(role): names for role, names in roles.items()},
        "kinds": {
            c["name"]: c["kind"]
            for c in columns
            if c["kind"] not in (None, by_values[c["name"]]) and not c["hierarchy"]
        },
        "orders": {
            c["name"]: c["ordering"] for c in columns if c["ordering"] and c["kind"] == Kind.ORDINAL
        },
        "hierarchies": {
            c["name"]: c["hierarchy"]
            for c in columns
            if c["hierarchy"] and c["role"] in (Role.QUASI, Role.SENSITIVE)
        },
        **dataset["reading"],
        "sheet": sheet(dataset["reading"]["sheet"]),
    }
    return {name: value for name, value in section.items() if value is not None}


def plans(store: Store, dataset: Row, request: RunRequest) -> list[tuple[str, Plan]]:
    """Return a title and a plan for each release that was asked for."""
    data = data_section(store, dataset)
    if request.missing == "error" and (gaps := blanks(dataset, data)):
        raise blanks_refused(gaps)
    adversary = request.adversary.model_dump(exclude_none=True)
    _check_reach(adversary["distance"], data["quasi"], adversary.get("known"))
    _check_limits(request.limits, adversary["distance"])
    context = request.context.model_dump(exclude_none=True)
    if "policy" in context and context["policy"] not in preset_names():  # no file of the server's
        raise unknown("policy", context["policy"], preset_names(), field="policy")
    bins = {**default_bins(dataset, data), **(request.bins or {})}
    made = []
    for choice in request.releases:
        shown, release = release_section(store, dataset, choice)
        title = f"{request.title or dataset['name']}: {plainly(shown)}"
        plan = _checked(
            data={**data, **request.options_of("data"), **({"bins": bins} if bins else {})},
            release=release,
            adversary=adversary,
            context=context,
            limits=request.limits,
            report={**request.options_of("report"), "title": title},
            run={**request.options_of("run"), "jobs": 1},
        )
        _ = plan.policy  # what it does not ask cannot be confirmed
        made.append((shown, plan))
    return made


def _checked(**sections: Any) -> Plan:
    """Make a plan; an error names the field, which pages and requests know, and no section."""
    try:
        return Plan(**sections)
    except UserError as error:
        place = re.match(r"\[(\w+)\](?: (\w+))?: ", error.rule)
        if place is None:
            raise
        rule, field = error.rule[place.end() :], error.field or place[2] or place[1]
        raise UserError(rule, error.got, error.way_out, field=field) from None


def _check_limits(limits: Mapping[str, float], distance: str) -> None:
    """Refuse a limit that its number cannot reach, by the limit's own name."""
    for name in filter(limit_names().__contains__, limits):
        try:
            check_ranges({name: limits[name]}, distance)
        except UserError as error:
            field = f"limit-{name}"
            raise UserError(error.rule, error.got, error.way_out, field=field) from None


def version_of(store: Store, dataset: Row) -> str:
    """Name the state of all that a run is made of beside its own form: file, columns, releases.

    A page that shows another state than the store has is out of date.
    """
    draft = {**DEFAULT, **dataset["draft"]}
    shown = (
        dataset["reading"],
        store.columns(dataset["id"]),
        {name: one for name, one in draft.items() if name not in ASKED_LAST},
    )
    return hashlib.sha256(json.dumps(shown, sort_keys=True).encode()).hexdigest()[:16]


def check_version(store: Store, dataset: Row, version: str | None) -> None:
    """Refuse what was decided on a page that is out of date."""
    if version is not None and version != version_of(store, dataset):
        raise Refused(409, STALE, way_out="Look at it as it is now, then start again")


def blanks(dataset: Row, data: Mapping[str, Any]) -> dict[str, int]:
    """Count the blanks of each quasi-identifier that needs a value in every record."""
    return {
        column["name"]: column["missing"]
        for column in dataset["profile"]["columns"]
        if column["missing"]
        and column["name"] in data["quasi"]
        and column["name"] not in data["hierarchies"]
        and data["kinds"].get(column["name"], column["kind"]) != Kind.CATEGORICAL
    }


def as_text(command: str) -> str:
    """Return a command of the server as a plan writes it.

    >>> as_text("./anonymize.sh {input} {output}")
    'command:./anonymize.sh {input} {output}'
    >>> as_text("shell:./anonymize.sh < {input} > {output}")
    'shell:./anonymize.sh < {input} > {output}'
    """
    said = re.match(r"(command|shell|https?)(\([^)]*\))?:", command)
    return command if said else f"command:{command}"


def default_bins(dataset: Row, data: dict[str, Any]) -> dict[str, int]:
    """Take sensitive numbers of which there are too many to test in quantiles."""
    return {
        column["name"]: QUANTILES
        for column in dataset["profile"]["columns"]
        if column["name"] in data["sensitive"]
        and column["name"] not in {**data["kinds"], **data["hierarchies"]}
        and column["kind"] == Kind.NUMERIC
        and column["distinct"] > MOST_SENSITIVE_NUMBERS
    }


def release_section(
    store: Store, dataset: Row, choice: ReleaseChoice
) -> tuple[str, dict[str, Any]]:
    """Return how a release is called, and the plan's section that makes or reads it."""
    given = choice.model_dump(include={"sanitizer", "file", "command"}, exclude_none=True)
    if len(given) != 1:
        raise UserError(
            "a release is exactly one of a sanitizer, a file and a command",
            ", ".join(given) or "none",
            "Name one",
        )
    for name in choice.of_file if choice.file is None else ():
        raise UserError(
            f"{option(name)} is said of a release made elsewhere",
            f"it for {choice.sanitizer or choice.command!r}",
            "Leave it out",
            field=name,
        )
    if choice.sanitizer is not None:
        name = choice.sanitizer.partition(":")[0].strip()
        if name not in BUILT_IN:
            raise unknown("sanitizer", name, BUILT_IN, field="sanitizer")
        return choice.sanitizer, {"sanitizer": choice.sanitizer}
    if choice.file is not None:
        release = store.release(dataset["id"], choice.file)
        return release["name"], {"file": release["path"], **choice.of_file}
    commands = store.settings.commands
    name = str(choice.command)
    if name not in commands:
        if not commands:
            raise UserError(
                "the server was started without a command of its own; choose a sanitizer."
            )
        raise unknown("command", name, commands, field="command")
    return name, {"sanitizer": as_text(commands[name])}


def _check_reach(distance: str, quasi: list[str], known: list[str] | None) -> None:
    """Refuse what would make a worker read a file that nobody chose."""
    ground = distance.partition(":")[2]
    if ground and ground not in GROUNDS:
        raise unknown("ground distance", ground, GROUNDS, field="distance")
    for column in known or ():
        if column not in quasi:
            raise unknown("quasi-identifier", column, quasi, field="known")
