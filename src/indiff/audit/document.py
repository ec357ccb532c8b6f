"""Builds and writes an audit's document: plan, table, worst records and why, the curve."""

from __future__ import annotations

import importlib.metadata
import json
import platform
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import pyarrow.compute as pc

from indiff.audit.findings.exposure import adversaries_of, settings
from indiff.audit.plan.plan import Plan
from indiff.audit.plan.settings import expand
from indiff.audit.redaction import RARE, Redaction
from indiff.data.reading.door import GAPS
from indiff.data.schema import Role
from indiff.data.table import Table
from indiff.differential import differential_test
from indiff.differential.explain.why import explain
from indiff.differential.result import DifferentialResult
from indiff.differential.strongest import StrongestResult, possible_models
from indiff.errors import HIDDEN, UserError, unknown
from indiff.files import make_folder, refuse_inputs, write_text
from indiff.inference import Model
from indiff.inference.models import is_randomized_model
from indiff.release.release import Release
from indiff.report.finding import Finding
from indiff.sanitizers.noise.mechanisms import NoisySanitizer
from indiff.sanitizers.sanitizer import Sanitizer, as_sanitizer
from indiff.text import json_text
from indiff.version import __version__

REPORT_NAMES = ("report.html", "report.json", "report.md")
_LIBRARIES = ("numpy", "numba", "pyarrow", "duckdb", "scikit-learn", "scipy", "pydantic")
# Tokens for what is missing that everybody writes: any other may be a value of somebody.
_USUAL_TOKENS = frozenset(("", "*", *GAPS))


@dataclass(frozen=True, eq=False)
class AuditResult:
    """What an audit found: one plain document, from which every report is made.

    ``results`` has the differential tests behind it, one for each of the document's curves and in
    their order, ``releases`` what was tested, and ``inputs`` the files that were read, over which
    no report is written; a result read from JSON has none of them. ``bug`` is what ended a
    measurement that neither the input nor the machine explains: its finding failed.
    """

    document: dict[str, Any]
    results: tuple[DifferentialResult, ...] = field(default=(), repr=False)
    releases: tuple[Release, ...] = field(default=(), repr=False)
    inputs: tuple[str, ...] = field(default=(), repr=False)
    bug: Exception | None = field(default=None, repr=False)

    def __repr__(self) -> str:
        return (
            f"AuditResult({self.document['title']!r}, {self.verdict['status']}, "
            f"{len(self.document['findings'])} findings)"
        )

    @classmethod
    def from_json(cls, text: str) -> AuditResult:
        """Return the result that a report's JSON file holds."""
        try:
            document = json.loads(text)
        except json.JSONDecodeError as error:
            raise UserError(
                f"an audit's file is JSON; this is not ({error})", way_out="Use report.json"
            ) from None
        if not isinstance(document, dict) or document.get("kind") != "audit":
            raise UserError("this is no audit's document; use the report.json that indiff wrote.")
        if document.get("format") != 1:
            raise UserError(
                "this version reads documents of format 1", f"{document.get('format')!r}"
            )
        return cls(document)

    @property
    def verdict(self) -> dict[str, Any]:
        """The verdict: ``status``, ``exit_code`` and ``reasons``."""
        found: dict[str, Any] = self.document["verdict"]
        return found

    @property
    def findings(self) -> tuple[Finding, ...]:
        """The findings, in the order of the report."""
        from pydantic import TypeAdapter  # reads the numbers that are written as text, too

        return TypeAdapter(tuple[Finding, ...]).validate_python(self.document["findings"])

    def finding(self, id: str) -> Finding:
        """Return one finding by its id, such as ``k`` or ``delta:diagnosis:naive-bayes``."""
        known = {one.id: one for one in self.findings}
        if id not in known:
            raise unknown("finding", id, known)
        return known[id]

    def to_json(self) -> str:
        """Return the document as JSON; only ``timing`` differs between two runs."""
        return json_text(self.document, indent=1)

    def to_markdown(self) -> str:
        """Return the report as Markdown; it is the same for every run of the same plan."""
        from indiff.report import markdown

        return markdown.render(self.document)

    def to_html(self) -> str:
        """Return the report as one self-contained page."""
        from indiff.report.page import html

        return html.render(self.document)

    def write(self, folder: str | Path) -> dict[str, Path]:
        """Write ``report.html``, ``report.json`` and ``report.md``, for their owner only."""
        check_report_places(Path(folder), [Path(name) for name in self.inputs])
        make_folder(Path(folder))
        places = {name: Path(folder) / name for name in REPORT_NAMES}
        # The document first: it survives a page for which memory or disk do not suffice.
        write_text(places["report.json"], self.to_json())
        write_text(places["report.md"], self.to_markdown())
        write_text(places["report.html"], self.to_html())
        return places

    def _repr_html_(self) -> str:
        from indiff.report.page.html import summary

        return summary(self.document)


def check_report_places(folder: Path, inputs: list[Path]) -> None:
    """Refuse a folder in which a report would overwrite an input."""
    refuse_inputs("report", folder, REPORT_NAMES, inputs)


@cache
def _libraries() -> dict[str, str]:
    return {name: importlib.metadata.version(name) for name in _LIBRARIES}


def settings_block(
    plan: Plan, redaction: Redaction, sanitizer: Sanitizer | None, command: str | None
) -> dict[str, Any]:
    """Return what a repetition needs."""
    return {
        "plan": plan_block(plan, redaction, sanitizer),
        "min_cell": plan.report.min_cell,
        "show_values": plan.report.show_values,
        "seed": plan.run.seed,
        "versions": {"indiff": __version__, "python": platform.python_version(), **_libraries()},
        "command": redaction.text(command or "indiff.run_audit(plan)"),
    }


def plan_block(plan: Plan, redaction: Redaction, sanitizer: Sanitizer | None) -> dict[str, Any]:
    """Return every parameter in effect: files by their names, values only if enough hold them."""
    found = plan.model_dump(mode="json")
    data, adversary = found["data"], found["adversary"]
    data["path"] = _file(data["path"])
    for role in Role:  # as they were decided, where the plan left them open
        data[str(role)] = list(redaction.table.schema.names(role))
    data["hierarchies"] = {name: _file(path) for name, path in data["hierarchies"].items()}
    data["orders"] = {
        name: [redaction.value(name, value) for value in order]
        for name, order in data["orders"].items()
    }
    data["bins"] = _bins(plan, redaction)
    data["missing_tokens"] = _tokens(plan.data.missing_tokens, redaction)
    found["release"]["suppressed"] = _tokens(plan.release.suppressed, redaction)
    found["release"]["file"] = _file(found["release"]["file"])
    adversary["prior"] = _file(adversary["prior"])
    if plan.adversary.ground_file is not None:
        adversary["distance"] = f"emd:{_file(plan.adversary.ground_file)}"
    if sanitizer is not None:
        first = redaction.table.focus(redaction.table.sensitives[0].name)
        adversary["models"] = list(adversaries_of(plan, sanitizer, first).named)
    if isinstance(adversary["targets"], list):
        adversary["targets"] = ranges(adversary["targets"])
    return found


def _tokens(tokens: Sequence[str], redaction: Redaction) -> list[str]:
    return [
        token if redaction.show_values or token.strip().casefold() in _USUAL_TOKENS else HIDDEN
        for token in tokens
    ]


def _file(path: str | None) -> str | None:
    return None if path is None else Path(path).name


def _bins(plan: Plan, redaction: Redaction) -> Any:
    """Return the bins without an edge that is a rare value of the column."""
    bins = plan.data.bins

    def edges(column: str | None, one: int | list[float]) -> Any:
        if isinstance(one, int):
            return one
        columns = plan.data.sensitive if column is None else [column]
        return [
            RARE if RARE in [redaction.value(name, edge) for name in columns] else edge
            for edge in one
        ]

    if isinstance(bins, Mapping):
        return {name: edges(name, one) for name, one in bins.items()}
    return None if bins is None else edges(None, bins)


def ranges(numbers: Sequence[int]) -> str:
    """Write record numbers as the command line does.

    >>> ranges([0, 1, 2, 7, 9, 10])
    '0-2,7,9-10'
    """
    found: list[list[int]] = []
    for number in sorted(set(numbers)):
        if found and number == found[-1][1] + 1:
            found[-1][1] = number
        else:
            found.append([number, number])
    return ",".join(str(low) if low == high else f"{low}-{high}" for low, high in found)


def table_block(table: Table, source: str, redaction: Redaction) -> dict[str, Any]:
    """Return the table's part of the document: counts and names, no value."""
    return {
        "source": source,
        "records": len(table),
        "dropped": table.dropped,
        "fingerprint": table.fingerprint,
        "notes": [redaction.text(note) for note in table.notes],
        "columns": _columns(table),
    }


def _columns(table: Table) -> list[dict[str, Any]]:
    frame = table.frame()
    bins = {
        one.name: f"in {len(one.values)} bins, on which every number about it depends"
        for one in table.sensitives
        if one.binned
    }
    found = []
    for column in table.schema:
        cells = frame[column.name]
        distinct = int(pc.count_distinct(cells, mode="only_valid").as_py())
        found.append(
            {
                "name": column.name,
                "role": str(column.role),
                "kind": "date" if column.is_date else str(column.kind),
                "distinct": distinct,
                "missing": int(cells.null_count),
                "note": bins.get(column.name) or _note(column.role, distinct, len(table)),
            }
        )
    return found


def _note(role: Role, distinct: int, records: int) -> str | None:
    if role == Role.IDENTIFIER:
        return "names people: it belongs in no release"
    if distinct == records > 1 and role in (Role.QUASI, Role.SENSITIVE):
        return "different in every record: it may be an identifier"
    if distinct <= 1 and role in (Role.QUASI, Role.SENSITIVE):
        return "the same in every record"
    return None


def worst_records(
    table: Table,
    sanitizer: Sanitizer,
    result: DifferentialResult | StrongestResult,
    plan: Plan,
    redaction: Redaction,
) -> list[dict[str, Any]]:
    """Return the worst records of one sensitive attribute, each with its why."""
    named = possible_models(plan.adversary.models, sanitizer)
    rows = [{"model": result.model, **row} for row in result.worst(plan.report.worst)]
    reasons: dict[int, tuple[int | None, str]] = {}
    for model in dict.fromkeys(row["model"] for row in rows):  # one release serves all its records
        records = [row["record"] for row in rows if row["model"] == model]
        reasons |= _reasons(table, sanitizer, named[model], records, plan, redaction)
    found = []
    for row in rows:
        group_size, why = reasons[row["record"]]
        about, model = table.sensitive.name, row.pop("model")
        more = {"model": model, "group_size": group_size, "why": why}
        found.append({"record": row.pop("record"), "about": about, **row, **more})
    return found


def _reasons(
    table: Table,
    sanitizer: Sanitizer,
    model: Model,
    records: list[int],
    plan: Plan,
    redaction: Redaction,
) -> dict[int, tuple[int | None, str]]:
    """Return the group size and the why of each record that one model sees."""
    if plan.data.individual is not None:
        reason = "all records of this person are left out at once, so no single group explains it"
        return dict.fromkeys(records, (None, reason))
    noisy = isinstance(sanitizer, NoisySanitizer) or is_randomized_model(model)
    if noisy or sanitizer.randomized:
        reason = "the release or the adversary is random, so no single group explains it"
        return dict.fromkeys(records, (None, reason))
    try:
        explained = explain(
            table,
            sanitizer,
            records,
            model=model,
            prior=plan.adversary.prior,
            known=plan.adversary.known,
            show_values=redaction.show_values,
        )
    except UserError as error:
        return dict.fromkeys(records, (None, redaction.text(error.message)))
    found = {}
    for one in explained:  # its number stands beside it
        why = "Without it, " + str(one).removeprefix(f"without record {one.record:,} ")
        size = None if one.group is None else one.group.size
        found[one.record] = (size, redaction.cut_long_names(why))
    return found


def parameter_curve(table: Table, plan: Plan, redaction: Redaction) -> dict[str, Any] | None:
    """Test each setting of the plan's curve with the plan's adversaries on the first attribute.

    A setting that cannot be tested has no numbers and says why; an interruption ends the curve.
    """
    if plan.report.parameter is None:
        return None
    points: list[dict[str, Any]] = []
    chosen = expand(plan.report.parameter)
    for setting in chosen:
        point: dict[str, Any] = {"setting": setting.text, "value": setting.value}
        try:
            made = as_sanitizer(setting.text)
            models = adversaries_of(plan, made, table, share=len(chosen)).models
            result = differential_test(table, made, model=models, **settings(plan, 1))
        except UserError as error:
            told = redaction.text(error.message)
            points.append({**point, "delta": None, "mean": None, "reason": told})
            continue
        reason = None if result.complete else "not every record was measured"
        points.append({**point, "delta": result.delta, "mean": result.mean, "reason": reason})
        if result.interrupted:
            break
    return {"parameter": chosen[0].parameter, "points": points}
