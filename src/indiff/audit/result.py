"""Keeps the document of one audit, and writes the files that are made from it."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from indiff.errors import UserError, unknown
from indiff.files import make_folder, refuse_inputs, write_text
from indiff.report.finding import Finding
from indiff.text import json_text

if TYPE_CHECKING:
    from indiff.differential.result import DifferentialResult
    from indiff.release.release import Release


REPORT_NAMES = ("report.html", "report.json", "report.md")


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
