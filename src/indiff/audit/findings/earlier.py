"""Finds what a release tells together with those that were published before it."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Protocol

from indiff.audit.findings.release import Subject
from indiff.audit.metrics import metric, percent
from indiff.audit.plan.plan import Plan
from indiff.differential.beside.several import test_releases
from indiff.report.finding import Finding

STEP = "earlier releases"
NO_ROWS = "a noisy table has no rows that could be a person's"


class Attempts(Protocol):
    """An audit that goes on where one step fails, and says why it did."""

    @property
    def plan(self) -> Plan:
        """What was asked for."""

    @property
    def lost(self) -> dict[str, str]:
        """Why steps failed."""

    @property
    def say(self) -> Any:
        """Tell what is being done."""

    def attempt(self, name: str, work: Any) -> Any:
        """Return what a step finds; None where it fails."""


def earlier_notes(plan: Plan) -> list[str]:
    """Say which earlier releases were considered; nothing where there is none."""
    names = [Path(path).name for path in plan.release.before]
    return [f"considered together with what was published before: {', '.join(names)}"] * bool(names)


def earlier_findings(audit: Attempts, subject: Subject) -> list[Finding]:
    """Return how many records the release and those before it determine; nothing without them.

    The same attack as ``indiff test --release A --release B``: the rows that fit a person, release
    by release, and the sensitive values that all of them leave. Counted are also those whom the
    closest rows determine.
    """
    before, table, release = audit.plan.release.before, subject.table, subject.release
    if not before:
        return []
    about = table.sensitive.name
    what, id = metric("determined", about=about), f"determined:{about}"
    if release is None or release.weights is not None:
        reason = str(subject.why_not) if release is None else NO_ROWS
        return [
            what.missed(id, "skipped" if release is not None else "failed", reason, about=about)
        ]
    made = audit.plan.release

    def find() -> list[Finding]:
        audit.say("comparing with earlier releases", 0, 0)
        found = test_releases(
            table, [*before, made.file or release], key=made.key, suppressed=made.suppressed
        )
        names = [Path(path).name for path in before]
        likely = found.likely.mean(axis=0)
        words = {
            "about": about,
            "releases": f"{', '.join(names)} and this release",
            "before": percent(float(likely[-2])),
        }
        told = {key: found.to_dict()[key] for key in ("growth", "pairs", "only_together")}
        return [
            what.found(
                id, float(likely[-1]), words, about=about, exactness="exact",
                parameters={"earlier": names, **told},
            )
        ]  # fmt: skip

    found: list[Finding] | None = audit.attempt(STEP, find)
    return found or [what.missed(id, "failed", audit.lost.get(STEP, ""), about=about)]
