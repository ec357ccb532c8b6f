"""What a release is still good for, as findings."""

from __future__ import annotations

from indiff.audit.finding import Finding
from indiff.audit.plan import Plan
from indiff.release import Release
from indiff.table import Table


def utility_findings(
    table: Table, release: Release | None, plan: Plan, *, reason: str | None, suffix: str
) -> list[Finding]:
    """Return what the release loses, and what an analyst keeps."""
    return []
