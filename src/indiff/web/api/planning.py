"""From what a person chose to a plan: the same one that the command line reads."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from indiff.audit.plan.parsing import sheet
from indiff.data.coding import MOST_SENSITIVE_NUMBERS
from indiff.data.schema import Kind, Role
from indiff.distances.ground import GROUNDS
from indiff.errors import UserError, unknown
from indiff.web.api.models import ReleaseChoice, RunRequest
from indiff.web.store.store import Row, Store

if TYPE_CHECKING:
    from indiff.audit.plan.plan import Plan

# Commands run only by the names that the server was started with, never from a request.
BUILT_IN = (
    "mondrian", "laplace", "geometric", "gaussian", "randomized-response", "identity", "suppress",
)  # fmt: skip

QUANTILES = 4


def data_section(store: Store, dataset: Row) -> dict[str, Any]:
    """Describe a dataset as a plan does: its file, and what its columns are."""
    if dataset["profile"] is None:
        raise UserError(
            "a table is profiled before it is audited; this one is not yet", way_out="Wait"
        )
    columns = store.columns(dataset["id"])
    by_values = {c["name"]: c["kind"] for c in dataset["profile"]["columns"]}

    def named(role: Role) -> list[str]:
        return [column["name"] for column in columns if column["role"] == role]

    for role, what in ((Role.SENSITIVE, "sensitive column"), (Role.QUASI, "quasi-identifier")):
        if not named(role):
            raise UserError(
                f"at least one {what} is needed; none has this role", way_out="Choose one"
            )
    reading = dataset["reading"]
    section: dict[str, Any] = {
        "path": dataset["path"],
        "quasi": named(Role.QUASI),
        "sensitive": named(Role.SENSITIVE),
        "identifier": named(Role.IDENTIFIER),
        "other": named(Role.OTHER),
        "kinds": {
            c["name"]: c["kind"]
            for c in columns
            if c["kind"] is not None and c["kind"] != by_values[c["name"]] and not c["hierarchy"]
        },
        "orders": {
            c["name"]: c["ordering"] for c in columns if c["ordering"] and c["kind"] == Kind.ORDINAL
        },
        "hierarchies": {
            c["name"]: c["hierarchy"]
            for c in columns
            if c["hierarchy"] and c["role"] in (Role.QUASI, Role.SENSITIVE)
        },
        "missing_tokens": reading.get("missing_tokens", [""]),
    }
    if reading.get("encoding"):
        section["encoding"] = reading["encoding"]
    if reading.get("sheet"):
        section["sheet"] = sheet(reading["sheet"])
    return section


def plans(store: Store, dataset: Row, request: RunRequest) -> list[tuple[str, Plan]]:
    """Return a title and a plan for each release that was asked for."""
    data = data_section(store, dataset)
    return [_plan(store, dataset, request, choice, data) for choice in request.releases]


def _plan(
    store: Store, dataset: Row, request: RunRequest, choice: ReleaseChoice, data: dict[str, Any]
) -> tuple[str, Plan]:
    from indiff.audit.plan.plan import Plan

    shown, release = release_section(store, dataset, choice)
    adversary = request.adversary.model_dump(exclude_none=True)
    _check_reach(adversary["distance"], data["quasi"], adversary.get("known"))
    report: dict[str, Any] = {
        "title": f"{request.title or dataset['name']}: {shown}",
        "min_cell": request.min_cell,
        "show_values": request.show_values,
        "worst": request.worst,
    }
    if request.task is not None:
        report["task"] = request.task
    bins = {**default_bins(dataset, data), **request.bins}
    more = {"bins": bins} if bins else {}
    plan = Plan(
        data={**data, "joint": request.joint, "missing": request.missing, **more},
        release=release,
        adversary=adversary,
        limits=request.limits,
        report=report,
        run={"seed": request.seed, "jobs": 1},
    )
    return shown, plan


def as_text(command: str) -> str:
    """Return a command of the server as a plan writes it.

    >>> as_text("./anonymize.sh {input} {output}")
    'command:./anonymize.sh {input} {output}'
    >>> as_text("shell:./anonymize.sh < {input} > {output}")
    'shell:./anonymize.sh < {input} > {output}'
    """
    said = re.match(r"(command|shell)(\([^)]*\))?:", command)
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
    given = choice.model_dump(exclude_none=True, exclude={"rows_in_order"})
    if len(given) != 1:
        raise UserError(
            "a release is exactly one of a sanitizer, a file and a command",
            ", ".join(given) or "none",
            "Name one",
        )
    if choice.rows_in_order and choice.file is None:
        raise UserError(
            "rows_in_order is said of a release made elsewhere",
            f"it for {choice.sanitizer or choice.command!r}",
            "Leave it out",
        )
    if choice.sanitizer is not None:
        name = choice.sanitizer.partition(":")[0].strip()
        if name not in BUILT_IN:
            raise unknown("sanitizer", name, BUILT_IN)
        return choice.sanitizer, {"sanitizer": choice.sanitizer}
    if choice.file is not None:
        release = store.release(dataset["id"], choice.file)
        return release["name"], {"file": release["path"], "rows_in_order": choice.rows_in_order}
    commands = store.settings.commands
    name = str(choice.command)
    if name not in commands:
        if not commands:
            raise UserError("the server was started without --command; choose a sanitizer.")
        raise unknown("command", name, commands)
    return name, {"sanitizer": as_text(commands[name])}


def _check_reach(distance: str, quasi: list[str], known: list[str] | None) -> None:
    """Refuse what would make a worker read a file that nobody chose."""
    ground = distance.partition(":")[2]
    if ground and ground not in GROUNDS:
        raise unknown("ground distance", ground, GROUNDS)
    for column in known or ():
        if column not in quasi:
            raise unknown("quasi-identifier", column, quasi)


def check_roles(columns: list[Row], wanted: list[dict[str, Any]]) -> None:
    """Refuse roles of columns that the table does not have, or twice."""
    names = [column["name"] for column in columns]
    seen: set[str] = set()
    for column in wanted:
        if column["name"] not in names:
            raise unknown("column", column["name"], names)
        if column["name"] in seen:
            raise UserError(f"a column has one role; {column['name']!r} is listed twice.")
        seen.add(column["name"])
