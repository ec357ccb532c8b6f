"""Holds one sensitive attribute of an audit with its release, or why there is none."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from indiff.data.table import Table
from indiff.release.release import Release
from indiff.report.finding import Finding


@dataclass(frozen=True, eq=False)
class Subject:
    """One sensitive attribute: its table, and the release or the reason why there is none.

    ``apart`` says that it is one of several, each of which has a release of its own.
    """

    table: Table
    apart: bool
    release: Release | None = None
    reason: str | None = None

    @property
    def suffix(self) -> str:
        """What tells the findings of several releases apart."""
        return f":{self.table.sensitive.name}" if self.apart else ""

    @property
    def why_not(self) -> str | None:
        """Why nothing can be measured of its release."""
        return None if self.reason is None else f"there is no release: {self.reason}"

    def titled(self, findings: Sequence[Finding]) -> list[Finding]:
        """Name the attribute in every title, where each of several has a release of its own."""
        name = self.table.sensitive.name
        return [
            replace(one, title=f"{one.title}, release for {name}")
            if self.apart and name not in one.title
            else one
            for one in findings
        ]
