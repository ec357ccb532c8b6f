"""Builds and writes an audit's document: its plan, its table, what a repetition needs."""

from __future__ import annotations

import importlib.metadata
import json
import platform
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.compute as pc

from indiff.audit.findings.columns import released_columns
from indiff.audit.findings.exposure import adversaries_of
from indiff.audit.plan.plan import Plan
from indiff.audit.provenance import write_judged
from indiff.audit.redaction import Redaction
from indiff.data.reading.door import GAPS
from indiff.data.schema import Role
from indiff.data.table import Table
from indiff.differential.result import DifferentialResult
from indiff.errors import HIDDEN, UserError, reason_of, unknown
from indiff.files import check_places, make_folder, refuse_inputs, write_text
from indiff.inference.classifier import Classifier
from indiff.inference.encodings import ENCODINGS
from indiff.inference.models import MODELS, as_model
from indiff.release.release import Release
from indiff.release.unmeasured import key_notes
from indiff.report.finding import Finding
from indiff.sanitizers.sanitizer import Promise, Sanitizer, all_kept, as_sanitizer
from indiff.text import json_text
from indiff.version import __version__

REPORT_NAMES = ("report.html", "report.json", "report.md")
PDF = "report.pdf"
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
        except (ValueError, RecursionError) as error:
            reason = reason_of(error)
            raise UserError(
                f"an audit's file is JSON; this is not ({reason})", way_out="Use report.json"
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
    def passed(self) -> bool:
        """Whether every limit was measured and is kept; without a limit nothing has passed."""
        return bool(self.verdict["status"] == "pass")

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

    def write_pdf(self, path: str | Path) -> None:
        """Write the report as PDF, by Chromium or Chrome, where one is installed."""
        from indiff.report.page.pdf import print_pdf

        print_pdf(self.to_html(), path)

    def write_release(self, path: str | Path) -> None:
        """Write exactly the release that was judged: the file has the SHA-256 of the report.

        Its rows are sorted. A release whose chance came from the plan's seed is not written: who
        reads the seed in the report could take the chance out of it.
        """
        told = self.document["files"]["release"]
        plan = self.document["plan"]["release"]
        if len(self.releases) != 1 or plan["file"] is not None:
            raise UserError(
                "one release that was made by this audit can be written",
                "one made elsewhere" if plan["file"] is not None else f"{len(self.releases)} here",
                field="write-release",
            )
        if as_sanitizer(plan["sanitizer"]).randomized:
            raise UserError(
                "the release that was judged is for the test alone: its chance comes from the "
                "plan's seed",
                way_out="Make one with sanitize, and audit that file",
                field="write-release",
            )
        check_places({"path": Path(path)}, [Path(name) for name in self.inputs], frames=("path",))
        write_judged(self.releases[0], path, told[0])

    def _repr_html_(self) -> str:
        from indiff.report.page.html import summary

        return summary(self.document)


def check_report_places(folder: Path, inputs: list[Path]) -> None:
    """Refuse a folder in which a report would overwrite an input."""
    refuse_inputs("report", folder, (*REPORT_NAMES, PDF), inputs)


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


def charts_block(exposures: Sequence[Any], risk: Any, parameter: Any, worst: Any) -> dict[str, Any]:
    """Return what the report draws."""
    curves = [curve for one in exposures for curve in one.curves]
    bars = {"risk": risk.bars, "columns": risk.columns}
    return {"cdf": curves, "parameter": parameter, **bars, "worst": worst}


def timing_block(started: str, begin: float, seconds: dict[str, float]) -> dict[str, Any]:
    """Return when the audit started, and how long it and its steps took."""
    return {
        "started": started,
        "seconds": round(time.perf_counter() - begin, 3),
        "steps": {step: round(spent, 3) for step, spent in seconds.items()},
    }


def plan_block(plan: Plan, redaction: Redaction, sanitizer: Sanitizer | None) -> dict[str, Any]:
    """Return every parameter in effect: files by their names, values only if enough hold them."""
    found = plan.model_dump(mode="json")
    data, adversary = found["data"], found["adversary"]
    data["path"], data["join"] = _file(data["path"]), [_file(path) for path in data["join"]]
    for role in Role:  # as they were decided, where the plan left them open
        data[str(role)] = list(redaction.table.schema.names(role))
    data["hierarchies"] = {name: _file(path) for name, path in data["hierarchies"].items()}
    data["orders"] = {
        name: redaction.values([name], order) for name, order in data["orders"].items()
    }
    data["bins"] = _bins(plan, redaction)
    data["missing_tokens"] = _tokens(plan.data.missing_tokens, redaction)
    found["release"]["suppressed"] = _tokens(plan.release.suppressed, redaction)
    for key in ("file", "write"):
        found["release"][key] = _file(found["release"][key])
    made = found["release"]
    made["tables"] = {place: _file(path) for place, path in made["tables"].items()}
    found["release"]["before"] = [_file(path) for path in found["release"]["before"]]
    if plan.population.file is not None:
        found["population"]["source"] = _file(plan.population.file)
    adversary["prior"] = _file(adversary["prior"])
    found["context"]["policy"] = _file(found["context"]["policy"])
    if plan.adversary.ground_file is not None:
        adversary["distance"] = f"emd:{_file(plan.adversary.ground_file)}"
    if sanitizer is not None:
        first = redaction.table.focus(redaction.table.sensitives[0].name)
        adversary["models"] = list(adversaries_of(plan, sanitizer, first).named)
    if isinstance(adversary["targets"], list):
        adversary["targets"] = ranges(adversary["targets"])
    return found


def tried_block(plan: Plan, names: Sequence[str]) -> dict[str, Any]:
    """Return the adversaries and encodings that were asked, and those that were not.

    ``asked`` is how the plan names them: ``auto`` leaves the choice open.
    """
    names = list(dict.fromkeys(names))
    models = map(as_model, names)
    used = [str(one.encoding) for one in models if isinstance(one, Classifier)]
    plain = {name.partition(":")[0] for name in names}
    return {
        "asked": list(plan.adversary.models),
        "models": names,
        "other_models": [name for name in MODELS if name not in plain],
        "encodings": list(dict.fromkeys(used)),
        "other_encodings": [name for name in ENCODINGS if name not in used],
    }


def _tokens(tokens: Sequence[str], redaction: Redaction) -> list[str]:
    return [
        token if redaction.show_values or token.strip().casefold() in _USUAL_TOKENS else HIDDEN
        for token in tokens
    ]


def _file(path: str | None) -> str | None:
    return None if path is None else Path(path).name


def _bins(plan: Plan, redaction: Redaction) -> Any:
    """Return the bins, without edges where one is a rare value of the column."""
    bins = plan.data.bins

    def edges(column: str | None, one: int | list[float]) -> Any:
        if isinstance(one, int):
            return one
        return redaction.values(plan.data.sensitive if column is None else [column], one)

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


def release_block(
    plan: Plan,
    redaction: Redaction,
    releases: Sequence[Release],
    notes: Sequence[str],
    promises: Sequence[Promise],
) -> dict[str, Any]:
    """Return the release's part of the document; ``notes`` are those of the audit about it.

    Each of several sensitive attributes has a release of its own: the first stands for them.
    """
    file, release = plan.release.file, releases[0] if releases else None
    own: list[str] = []
    groups = None
    if release is not None:
        own += release.notes
        groups = None if release.groups is None else len(np.unique(release.groups))
        if release.weights is not None:
            own.append(f"made to be tested, not to be published: {release.sanitizer}")
    said = redaction.table.notes if file is None else ()  # what is made of the table has them, too
    return {
        "sanitizer": plan.release.sanitizer if file is None else Path(file).name,
        "records": 0 if release is None else len(release),
        "constraint_met": all_kept(one.kept for one in promises),
        "groups": groups,
        "columns": released_columns(releases, redaction.table),
        "notes": [
            *(redaction.text(x) for x in dict.fromkeys([*own, *notes]) if x not in said),
            *key_notes(release, plan.release.key),
        ],
    }
