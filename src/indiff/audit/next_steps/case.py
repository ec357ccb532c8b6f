"""Holds what an audit measured, as far as a proposal needs it; and one proposal as data."""

from __future__ import annotations

import math
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from indiff.audit.findings.exposure import Exposure, adversaries_of
from indiff.audit.findings.release import Subject
from indiff.audit.plan.plan import Plan
from indiff.audit.redaction import Redaction
from indiff.data.table import Table
from indiff.inference import Frequency, Model, NaiveBayes
from indiff.release.release import Release
from indiff.release.unmeasured import Unmeasured
from indiff.report.finding import Finding
from indiff.sanitizers.mondrian.mondrian import Mondrian
from indiff.sanitizers.sanitizer import Sanitizer

Step = dict[str, Any]
# What is tried to be proposed: so many tests of a record in all, which take about a second.
MOST_TESTED = 100_000
NAMES = {"delta": "δ", "l": "ℓ", "distinct_l": "distinct ℓ", "entropy_l": "entropy ℓ"}
TESTED = ("delta", "mean")


def step(kind: str, text: str, command: str | None = None, **options: Any) -> Step:
    """Return a step; ``options`` are what a rerun needs, by the names of the command line.

    >>> step("fix", "Remove 3 records.", "indiff audit plan.toml", fix="delta=0.4")["command"]
    'indiff audit plan.toml --fix delta=0.4'
    """
    flags = " ".join(f"--{name} {shlex.quote(str(value))}" for name, value in options.items())
    line = f"{command} {flags}" if command is not None and options else None
    return {"kind": kind, "text": text, "options": options, "command": line}


@dataclass(frozen=True, eq=False, kw_only=True)
class Case:
    """What was measured in an audit.

    ``table`` and ``release`` are those of one sensitive attribute, ``test`` is what the strongest
    adversary found of it, ``columns`` are those of the release that were not measured. ``command``
    is a line to which options can be added, where there is one. ``is_first`` is said of the
    attribute for which other settings are tested.
    """

    plan: Plan
    table: Table
    release: Release | None
    sanitizer: Sanitizer | None
    test: Any
    findings: Sequence[Finding]
    curve: Mapping[str, Any] | None
    columns: Sequence[Unmeasured]
    redaction: Redaction
    command: str | None
    is_first: bool = True

    @cached_property
    def beyond(self) -> list[Finding]:
        """What was found of this attribute, or of the release, and is beyond its limit."""
        about = (None, self.table.sensitive.name)
        return [one for one in self.findings if one.exceeded and one.about in about]

    @cached_property
    def exceeded(self) -> set[str]:
        """The metrics of this attribute, or of the release, that are beyond their limits."""
        found = {one.metric for one in self.beyond}
        return found | {"k"} if "prosecutor" in found else found

    @cached_property
    def limits(self) -> dict[str, float]:
        """Every limit that counts; one on the largest chance of a link asks for groups of a size.

        What is one over a group's size can come out a little above it, which is no larger group.
        """
        found = dict(self.plan.all_limits)
        if chance := found.get("prosecutor"):
            found["k"] = max(found.get("k", 1), math.ceil(1 / chance - 1e-9))
        return found

    @property
    def wanted(self) -> str:
        """What the differential test should find, in words."""
        limits = self.limits
        given = [f"{NAMES.get(x, x)} at most {limits[x]:g}" for x in TESTED if x in limits]
        return " and ".join(given)

    @property
    def is_fast(self) -> bool:
        """Whether one more test is cheap: every record, by Mondrian's exact walk."""
        made, asked = self.sanitizer, self.plan.adversary
        alone = self.plan.data.individual is None and self.plan.run.time is None
        exact = isinstance(made, Mondrian) and made.t is None and asked.method == "auto"
        return exact and alone and asked.targets is None

    @cached_property
    def models(self) -> tuple[Model, ...]:
        """The adversaries of the plan."""
        assert self.sanitizer is not None
        return adversaries_of(self.plan, self.sanitizer, self.table).models

    @cached_property
    def quick(self) -> list[Model]:
        """The adversaries that cost little to ask once more."""
        return [one for one in self.models if isinstance(one, NaiveBayes | Frequency)]


def each_case(
    subjects: Sequence[Subject], exposures: Sequence[Exposure], **shared: Any
) -> list[Case]:
    """Return what was measured of each sensitive attribute; ``shared`` is the same for all."""
    return [
        Case(
            table=one.table,
            release=one.release,
            test=tested.combined,
            is_first=one is subjects[0],
            **shared,
        )
        for one, tested in zip(subjects, exposures, strict=True)
    ]
