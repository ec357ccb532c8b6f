"""Checks limits against what was measured; what was not measured never counts as passed."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import IntEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from indiff.audit.metrics import METRICS, guessed, number
from indiff.audit.plan.limits import PLANES, is_at_least, narrowest_name, require_population
from indiff.report.finding import Finding, Limit, Rule, against, encoded, gravest

if TYPE_CHECKING:
    from indiff.differential.beside.result import ReleaseResult
    from indiff.differential.result import DifferentialResult
    from indiff.differential.strongest import StrongestResult
    from indiff.release.unmeasured import Unmeasured
    from indiff.risk.measure import Risk

    Test = DifferentialResult | StrongestResult

# What a limit on a test is checked against: for an estimate, the upper end of its interval.
TEST_LIMITS = {"delta": "delta_upper", "mean": "mean_upper", "changed_predictions": "changed_upper"}
# A number of this exactness can exceed a limit but never prove that it holds.
_NO_PROOF = {
    "lower-bound": "a lower bound: not every record was tested",
    "approximation": "an approximation, which proves nothing if small",
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
        code = int(self.exit_code)
        return {"status": self.status, "exit_code": code, "reasons": list(self.reasons)}

    def beside(self, document: dict[str, Any]) -> dict[str, Any]:
        """Return a result's document with every limit and the verdict beside what was measured."""
        checks = [check.to_dict() for check in self.checks]
        return document | {"limits": checks, "verdict": self.to_dict()}


def whom(models: Collection[str]) -> str:
    """Say against whom a limit is kept, and how these read the columns: others may see more."""
    return f"{against(models)}{encoded(models)}"


def incomplete(verdict: Verdict, reason: str) -> Verdict:
    """Return the verdict where something is missing: it is no pass."""
    code = verdict.exit_code or Exit.INCOMPLETE
    return replace(verdict, exit_code=code, reasons=(*verdict.reasons, reason))


def with_columns(
    verdict: Verdict, columns: Sequence[Unmeasured], repeated: Sequence[str] = ()
) -> Verdict:
    """Return the verdict on a release that has these unmeasured columns, which it names first.

    Columns that name people fail any release, whatever its numbers, and so do ``repeated`` records.
    Others leave it incomplete, with or without a limit: nobody knows what they tell of a person.

    >>> from indiff.release.unmeasured import Unmeasured
    >>> verdict = Verdict(Exit.NOTHING_EXCEEDED, ("every limit is kept",))
    >>> with_columns(verdict, [Unmeasured("born", False, "as it is in the original")]).status
    'incomplete'
    """
    if not columns and not repeated:
        return verdict
    from indiff.release.unmeasured import broken, gaps  # --help needs none of it

    named, unknown = [*broken(columns), *repeated], gaps(columns)
    code = verdict.exit_code or (Exit.INCOMPLETE if unknown else Exit.NOTHING_EXCEEDED)
    code = Exit.EXCEEDED if named else code
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
    interrupted = any(one.interrupted for one in results) or bool(untested and not out_of_time)
    incomplete = bool(untested) or any(not result.complete for result in results)
    some = any(len(result.distances) < result.population for result in results)
    partial = incomplete or interrupted or some
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
    content = results[0].unmeasured, results[0].repeated
    if verdict.exit_code != Exit.NOTHING_EXCEEDED or not limits:
        return with_columns(verdict, *content)
    reason = (
        "nothing exceeded, but the dropped-row test is an approximation: no pass"
        if tests
        else "the dropped-row test was skipped, so no limit could be checked: no pass"
    )
    incomplete = replace(verdict, exit_code=Exit.INCOMPLETE, reasons=(reason,))
    return with_columns(incomplete, *content)


def judge_risk(risk: Risk, limits: Mapping[str, float]) -> Verdict:
    """Check every limit on risk metrics, by the names that ``risk_limits`` returns."""
    require_population(limits, risk.population)
    checks = tuple(
        Check(name, risk.value_of(name), limit, rule_of(name), verb=risk.verb_of(name))
        for name, limit in limits.items()
    )
    exceeded = tuple(str(check) for check in checks if check.exceeded)
    unsure = [check.name for check in checks if check.verb != "is"]
    kept = f"no limit was exceeded{guessed(unsure)}" if limits else NO_LIMIT
    code = Exit.EXCEEDED if exceeded else Exit.NOTHING_EXCEEDED
    return Verdict(code, exceeded or (kept,), checks, bool(limits))


def rule_of(name: str) -> Rule:
    """Tell whether a limit on a metric is a largest or, as that of k, a smallest value."""
    return "at least" if is_at_least(name) else "at most"


def judge(
    findings: Sequence[Finding],
    limits: Mapping[str, float],
    *,
    interrupted: bool = False,
    unfinished: Sequence[str] = (),
    broken: Sequence[str] = (),
) -> tuple[tuple[Finding, ...], Verdict]:
    """Check every limit on every finding that it names; return them with the outcome.

    An estimate is checked at the worse end of its interval, and a lower bound below the limit is
    no pass. A failed finding, or a limit on something that was not measured, leaves the audit
    incomplete, as does a measurement that was ``unfinished``. A release of which something
    ``broken`` is known never passes, such as that it does not keep its own promise.
    """
    checked = tuple(_checked(finding, limits) if limits else finding for finding in findings)
    exceeded = gravest(checked)
    gaps = [*unfinished, *_gaps(checked, limits)]
    reasons = [*broken]
    reasons += [_beyond(finding) for finding in exceeded]
    if interrupted:
        reasons.append("the audit was interrupted; what was measured so far is kept")
    reasons += gaps
    if exceeded or broken:
        code = Exit.EXCEEDED
    elif interrupted or gaps:
        code = Exit.INTERRUPTED if interrupted else Exit.INCOMPLETE
    else:
        code = Exit.NOTHING_EXCEEDED
        tested = [one.parameters.get("model") for one in checked if one.metric == "delta"]
        models = dict.fromkeys(name for name in tested if name is not None)
        unsure = guessed([one.title for one in checked if one.limit and _is_guess(one)])
        reasons.append(f"every limit is kept{whom(models)}{unsure}" if limits else NO_LIMIT)
    return checked, Verdict(code, tuple(reasons), has_limits=bool(limits))


def _checked(finding: Finding, limits: Mapping[str, float]) -> Finding:
    limit = _limit_on(finding.metric, finding.about, limits)
    if limit is None or finding.value is None:
        return replace(finding, limit=limit)
    check = Check(limit.name, _worst(finding, limit), limit.value, limit.rule)
    unproven = finding.exactness in _NO_PROOF or _lacks_interval(finding)
    exceeded = check.exceeded or (None if unproven else False)
    means = f"{finding.means.removesuffix('.')}; {_allowed(finding, limit, check)}."
    return replace(finding, limit=limit, exceeded=exceeded, means=means)


def _allowed(finding: Finding, limit: Limit, check: Check) -> str:
    """Say what the limit is, and what of the finding counts where that is not the number itself."""
    asked = "you asked for at least" if limit.rule == "at least" else "you allowed at most"
    if check.value != finding.value:
        end = f"the worse end of its interval, {number(check.value)}, counts"
        return f"{asked} {number(limit.value)}, and {end}"
    shown = number(check.value)
    if check.exceeded and shown == number(limit.value):
        shown = f"{check.value!r}"  # two numbers that look alike would not explain themselves
    said = re.search(rf"(?<![\d.,]){re.escape(shown)}(?!%|[.,]?\d)", finding.means)
    return f"{'' if said else f'as a number it is {shown}, and '}{asked} {number(limit.value)}"


def _limit_on(metric: str, about: str | None, limits: Mapping[str, float]) -> Limit | None:
    """Return the narrowest limit on a metric of an attribute, with its direction.

    >>> _limit_on("inference.itpr", "ill", {"itpr": 0.9, "inference.ill.itpr": 0.5})
    Limit(name='inference.ill.itpr', rule='at most', value=0.5)
    """
    plane, _, what = metric.partition(".")
    name = narrowest_name(f"{plane}.{about}.{what}" if plane in PLANES else metric, limits)
    return None if name is None else Limit(name, METRICS[metric].rule, limits[name])


def _lacks_interval(finding: Finding) -> bool:
    """Tell whether a number is an estimate of which nobody knows how far off it may be."""
    is_model = finding.metric in METRICS and METRICS[finding.metric].model
    return finding.exactness == "estimate" and finding.interval is None and not is_model


def _is_guess(one: Finding) -> bool:
    return one.exactness == "estimate" and one.metric.startswith(("population.", "special."))


def _worst(finding: Finding, limit: Limit) -> float:
    """Return the number, or the worse end of an estimate."""
    assert finding.value is not None
    if finding.interval is None:
        return finding.value
    return finding.interval[0 if limit.rule == "at least" else 1]


def _beyond(finding: Finding) -> str:
    limit = finding.limit
    assert limit is not None
    side = "below" if limit.rule == "at least" else "above"
    worst = _worst(finding, limit)
    sure = "is estimated at" if _is_guess(finding) else "is"
    verb = sure if finding.interval is None else "may be"
    # Two numbers that look alike would not explain themselves.
    shown = number(worst) if number(worst) != number(limit.value) else f"{worst!r}"
    return f"{finding.title} {verb} {shown}, {side} the limit {number(limit.value)}"


def _gaps(findings: Sequence[Finding], limits: Mapping[str, float]) -> list[str]:
    """Say what keeps the findings from being a pass."""
    failed = [finding for finding in findings if finding.status == "failed"]
    reasons = [f"{titles} could not be measured: {why}" for titles, why in _by_reason(failed)]
    skipped = [finding for finding in findings if finding.status == "skipped" and finding.limit]
    reasons += [
        f"no limit on {titles} could be checked: {why}" for titles, why in _by_reason(skipped)
    ]
    unproven = [one for one in findings if one.limit and one.exactness in _NO_PROOF]
    for titles, why in _by_reason(unproven, lambda one: _NO_PROOF[str(one.exactness)]):
        reasons.append(f"{titles} {'are' if ' more' in titles else 'is'} {why}")
    reached = set()
    for finding in findings:
        if finding.limit is None:
            continue
        reached.add(finding.limit.name)
        if finding.range is not None and finding.range[1] is not None:
            reasons += beyond_reach(finding.title, finding.limit.value, finding.range[1])
        if _lacks_interval(finding):
            reasons.append(f"{finding.title} is an estimate without an interval: no pass")
    reasons += [
        f"the limit on {name} was not checked: nothing of that name was measured"
        for name in limits
        if name not in reached
    ]
    return list(dict.fromkeys(reasons))


def _by_reason(
    findings: Sequence[Finding], reason: Callable[[Finding], str | None] = lambda one: one.reason
) -> list[tuple[str, str | None]]:
    """Put together what one cause took along; name the first, and how many more."""
    found: dict[str | None, list[str]] = {}
    for finding in findings:
        found.setdefault(reason(finding), []).append(finding.title)
    return [
        (f"{titles[0]} and {len(titles) - 1} more" if len(titles) > 1 else titles[0], reason)
        for reason, titles in found.items()
    ]
