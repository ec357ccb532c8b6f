"""Finds what a release tells together with those that were published before it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple, Protocol

from indiff.audit.findings.release import Subject
from indiff.audit.metrics import counted, metric, percent
from indiff.audit.plan.plan import Plan
from indiff.data.table import Table
from indiff.differential.beside.several import test_releases
from indiff.differential.beside.several_result import SeveralResult
from indiff.report.finding import Finding

STEP = "earlier releases"
THIS = "this release"
CONSIDERED = "considered together with what was published before"
ONLY, ADDED = "only_together", "added_by_this_release"
_TOLD = (
    "releases", "growth", "pairs", "differences", "determined", "determined_by_closest",
    "determined_alone", "determined_by_a_pair", ONLY,
)  # fmt: skip
NO_ROWS = "a noisy table has no rows that could be a person's"


class Attempts(Protocol):
    """An audit that goes on where one step fails, and says why it did."""

    @property
    def plan(self) -> Plan:
        """What was asked for."""

    @property
    def table(self) -> Table:
        """The table, with all its sensitive attributes."""

    @property
    def lost(self) -> dict[str, str]:
        """Why steps failed."""

    @property
    def stopped(self) -> list[bool]:
        """Something, once somebody asked to stop."""

    @property
    def say(self) -> Any:
        """Tell what is being done."""

    def attempt(self, name: str, work: Any) -> Any:
        """Return what a step finds; None where it fails."""


class Earlier(NamedTuple):
    """What a release tells with those before it: findings, and the document's part on it."""

    findings: tuple[Finding, ...] = ()
    told: dict[str, Any] | None = None
    notes: tuple[str, ...] = ()


def with_earlier(audit: Attempts, subject: Subject) -> Earlier:
    """Return how many records the release and those before it determine; nothing without them.

    The same attack as ``indiff test --release A --release B``: the rows that fit a person, release
    by release, and the sensitive values that all of them leave. Counted are also those whom the
    closest rows determine.
    """
    before, table, release = audit.plan.release.before, subject.table, subject.release
    if not before:
        return Earlier()
    about = table.sensitive.name
    what, id = metric("determined", about=about), f"determined:{about}"
    if release is None or release.weights is not None:
        reason = str(subject.why_not) if release is None else NO_ROWS
        return Earlier((what.missed(id, "failed", reason, about=about),))
    made, show = audit.plan.release, audit.plan.report.show_values

    def find() -> Earlier:
        audit.say("comparing with earlier releases", 0, 0)
        found = test_releases(
            table, [*before, made.file or release], key=made.key, suppressed=made.suppressed
        )
        found = _renamed(found)
        names, likely = [one.name for one in found.considered[:-1]], found.likely
        share = float(likely[:, -2].mean())
        words = {
            "about": about, "releases": f"{', '.join(names)} and {THIS}", "before": percent(share),
        }  # fmt: skip
        alone = found.everything.alone | found.closest.alone
        added = int((likely[:, -1] & ~likely[:, -2] & ~alone).sum())
        told = {key: one for key, one in found.to_dict(values=show).items() if key in _TOLD}
        for one in told["releases"]:  # notes may hold values
            one.pop("notes")
        finding = what.found(
            id, float(likely[:, -1].mean()), words, about=about, exactness="exact",
            parameters={"earlier": names, ONLY: int(found.only_together.sum()), ADDED: added},
        )  # fmt: skip
        told = {"about": about, **told, ADDED: added}
        return Earlier((finding,), told, (f"{CONSIDERED}: {', '.join(names)}",))

    found: Earlier | None = audit.attempt(STEP, find)
    if found is not None:
        return found
    return Earlier((what.missed(id, "failed", audit.lost.get(STEP, ""), about=about),))


def _renamed(found: SeveralResult) -> SeveralResult:
    """Call the last of the releases what it is: this release."""
    *before, last = found.considered
    differences = [
        replace(one, releases=(one.releases[0], THIS)) if one.releases[1] == last.name else one
        for one in found.differences
    ]
    considered = (*before, replace(last, name=THIS))
    return replace(found, considered=considered, differences=tuple(differences))


def uncounted(findings: Sequence[Finding], limits: Mapping[str, float]) -> list[str]:
    """Say whom the combination determines where no limit says how many there may be: no pass."""
    if "determined" in limits:
        return []
    return [
        f"{counted(one.parameters[ADDED], 'person', 'people')} "
        f"{'is' if one.parameters[ADDED] == 1 else 'are'} left with their own {one.about} alone by "
        f"this release together with {', '.join(one.parameters['earlier'])}, and by none of them "
        "alone; a limit on determined says how many there may be"
        for one in findings
        if one.metric == "determined" and one.parameters.get(ADDED)
    ]
