"""Checks limits against what was measured; what was not measured never counts as passed."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import IntEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from indiff.audit.metrics import number
from indiff.audit.plan.limits import AT_LEAST
from indiff.report.finding import Rule, against, encoded

if TYPE_CHECKING:
    from indiff.differential.beside.result import ReleaseResult
    from indiff.differential.result import DifferentialResult
    from indiff.differential.strongest import StrongestResult
    from indiff.release.unmeasured import Unmeasured
    from indiff.risk.measure import Risk

    Test = DifferentialResult | StrongestResult

# What a limit on a test is checked against: for an estimate, the upper end of its interval.
TEST_LIMITS = {
    "delta": "delta_upper",
    "mean": "mean_upper",
    "changed_predictions": "changed_upper",
}
NO_LIMIT = "no limit was given, so nothing could be exceeded"


class Exit(IntEnum):
    """How a command ends."""

    NOTHING_EXCEEDED = 0  # or no limit was given: the output says which
    EXCEEDED = 1  # even if the run is incomplete
    BAD_INPUT = 2
    INCOMPLETE = 3  # and nothing exceeded so far
    INTERNAL_ERROR = 70
    INTERRUPTED = 130


@dataclass(frozen=True)
class Check:
    """One limit against one measured number."""

    name: str
    value: float
    limit: float
    rule: Rule = "at most"
    sensitive: str | None = None
    verb: str = "is"

    @property
    def exceeded(self) -> bool:
        """Whether the number is not known to be within the limit: NaN is not."""
        within = self.value >= self.limit if self.rule == "at least" else self.value <= self.limit
        return not within

    def __str__(self) -> str:
        side = "below" if self.rule == "at least" else "above"
        what = self.name if self.sensitive is None else f"{self.name} of {self.sensitive}"
        return f"{what} {self.verb} {self.value:.4g}, {side} the limit {self.limit:g}"

    def to_dict(self) -> dict[str, Any]:
        """Return the check as plain data."""
        return {
            "sensitive": self.sensitive,
            "name": self.name,
            "value": self.value,
            "limit": self.limit,
            "is_lower": self.rule == "at least",
            "exceeded": self.exceeded,
        }


@dataclass(frozen=True)
class Verdict:
    """What was measured says about the limits, with the exit code and the sentences for it."""

    exit_code: Exit
    reasons: tuple[str, ...]
    checks: tuple[Check, ...] = ()
    has_limits: bool = True

    @property
    def status(self) -> Literal["pass", "fail", "incomplete", "no-limits"]:
        """The outcome in one word."""
        if self.exit_code == Exit.EXCEEDED:
            return "fail"
        if self.exit_code != Exit.NOTHING_EXCEEDED:
            return "incomplete"
        return "pass" if self.has_limits else "no-limits"

    def to_dict(self) -> dict[str, Any]:
        """Return the verdict as plain data."""
        return {
            "status": self.status,
            "exit_code": int(self.exit_code),
            "reasons": list(self.reasons),
        }

    def beside(self, document: dict[str, Any]) -> dict[str, Any]:
        """Return a result's document with every limit and the verdict beside what was measured."""
        checks = [check.to_dict() for check in self.checks]
        return document | {"limits": checks, "verdict": self.to_dict()}


def whom(models: Collection[str]) -> str:
    """Say against whom a limit holds, and how these read the columns: others may see more."""
    return f"{against(models)}{encoded(models)}"


def with_columns(verdict: Verdict, columns: Sequence[Unmeasured]) -> Verdict:
    """Return the verdict on a release that has these unmeasured columns, which it names first.

    Columns that name people fail any release, whatever its numbers. Others leave the verdict
    incomplete, with or without a limit: what they tell about a person, nobody knows.

    >>> from indiff.release.unmeasured import Unmeasured
    >>> verdict = Verdict(Exit.NOTHING_EXCEEDED, ("every limit holds",))
    >>> with_columns(verdict, [Unmeasured("born", False, "as it is in the original")]).status
    'incomplete'
    """
    if not columns:
        return verdict
    from indiff.release.unmeasured import broken, gaps  # --help needs none of it

    named, unknown = broken(columns), gaps(columns)
    code = verdict.exit_code
    if named:
        code = Exit.EXCEEDED
    elif unknown and code == Exit.NOTHING_EXCEEDED:
        code = Exit.INCOMPLETE
    return replace(verdict, exit_code=code, reasons=(*named, *unknown, *verdict.reasons))


def beyond_reach(title: str, limit: float, largest: float) -> list[str]:
    """Say that a limit could not be exceeded, whatever was measured."""
    if limit <= largest:
        return []
    return [f"the limit {number(limit)} on {title} is above its largest value, {number(largest)}"]


def judge_tests(
    results: Sequence[Test],
    limits: Mapping[str, float],
    untested: Sequence[str] = (),
    run: Path | None = None,
) -> Verdict:
    """Check every limit on every test; ``untested`` attributes were never reached.

    A release that does not meet its own constraint never passes. A number from some of the
    records is a lower bound: above the limit it fails, below the limit it does not pass.
    """
    checks = tuple(_test_checks(results, limits))
    unmet = [result for result in results if result.constraint_met is False]
    out_of_time = any(result.out_of_time for result in results)
    interrupted = any(result.interrupted for result in results) or (
        bool(untested) and not out_of_time
    )
    incomplete = bool(untested) or any(not result.complete for result in results)
    partial = (
        incomplete
        or interrupted
        or any(len(result.distances) < result.population for result in results)
    )
    exceeded = [str(check) for check in checks if check.exceeded]
    reasons = [f"{result.unmet}, which is never a pass" for result in unmet[:1]]
    reasons += exceeded
    where = "" if run is None else f"; the same command goes on from {str(run)!r}"
    if interrupted:
        done = sum(len(result.distances) for result in results)
        reasons.append(f"interrupted: the {done:,} records measured so far are kept{where}")
    if out_of_time:
        reasons.append(f"the time was up: what was measured is a lower bound{where}")
    failed = sum(len(result.failures) for result in results)
    if failed:
        calls, records = ("call", "this record") if failed == 1 else ("calls", "these records")
        reasons.append(f"{failed:,} {calls} failed: nothing is known about {records}")
    unproven = _unproven(results, limits)
    reasons += unproven
    if not limits and not unmet:
        reasons.append(NO_LIMIT)
    elif limits and not exceeded and partial:
        reasons.append("nothing exceeded so far, but not every record was tested: no pass")
    elif limits and not exceeded and not unproven:
        tested = [name for one in results for name in getattr(one, "results", {one.model: one})]
        reasons.append(f"no limit was exceeded{whom(dict.fromkeys(tested))}")
    if unmet or exceeded:
        code = Exit.EXCEEDED
    elif interrupted:
        code = Exit.INTERRUPTED
    else:
        open_end = incomplete or unproven or (limits and partial)
        code = Exit.INCOMPLETE if open_end else Exit.NOTHING_EXCEEDED
    verdict = Verdict(code, tuple(reasons), checks, bool(limits))
    return with_columns(verdict, results[0].unmeasured if results else ())


def _unproven(results: Sequence[Test], limits: Mapping[str, float]) -> list[str]:
    """Say which limits could not be exceeded; every estimate of a test has an interval."""
    reasons = []
    for result in results:
        for name, limit in limits.items():
            largest = 100.0 if name == "changed_predictions" else result.largest
            reasons += beyond_reach(f"{name} of {result.sensitive_name}", limit, largest)
    return list(dict.fromkeys(reasons))


def _test_checks(results: Sequence[Test], limits: Mapping[str, float]) -> list[Check]:
    """Return a check of each number that there is: one model's δ, even if others saw no record."""
    found = []
    for result in results:
        for name, limit in limits.items():
            sure = result.delta_upper <= result.delta
            if name == "changed_predictions":
                sure = result.changed_interval is None
            value, verb = float(getattr(result, TEST_LIMITS[name])), "is" if sure else "may be"
            if len(result.distances) or not math.isnan(value):
                found.append(Check(name, value, limit, "at most", result.sensitive_name, verb))
    return found


def judge_releases(results: Sequence[ReleaseResult], limits: Mapping[str, float]) -> Verdict:
    """Check the limits; an approximation can show that one is exceeded, never that it is kept."""
    tests = [result.test for result in results if result.test is not None]
    verdict = judge_tests(tests, limits)
    columns = results[0].unmeasured
    if verdict.exit_code != Exit.NOTHING_EXCEEDED or not limits:
        return with_columns(verdict, columns)
    reason = (
        "nothing exceeded, but the dropped-row test is an approximation: no pass"
        if tests
        else "the dropped-row test was skipped, so no limit could be checked: no pass"
    )
    incomplete = replace(verdict, exit_code=Exit.INCOMPLETE, reasons=(reason,))
    return with_columns(incomplete, columns)


def judge_risk(risk: Risk, limits: Mapping[str, float]) -> Verdict:
    """Check every limit on risk metrics, by the names that ``risk_limits`` returns."""
    checks = tuple(
        Check(name, _measured(risk, name), limit, rule_of(name)) for name, limit in limits.items()
    )
    exceeded = tuple(str(check) for check in checks if check.exceeded)
    kept = "no limit was exceeded" if limits else NO_LIMIT
    code = Exit.EXCEEDED if exceeded else Exit.NOTHING_EXCEEDED
    return Verdict(code, exceeded or (kept,), checks, bool(limits))


def rule_of(name: str) -> Rule:
    """Tell whether a limit on a metric is a largest or, as that of k, a smallest value."""
    return "at least" if name.rpartition(".")[2] in AT_LEAST else "at most"


def _measured(risk: Risk, name: str) -> float:
    plane, _, rest = name.partition(".")
    if plane == "reidentification":
        return float(getattr(risk.reidentification, rest))
    if plane == "inference":
        attribute, _, metric = rest.rpartition(".")
        return float(getattr(risk.inference[attribute], metric))
    return float(getattr(risk.groups, name))
